use crate::overlay::Row;
use annbench_core::Params;
use annbench_results::{BuildRecord, CurvePoint, Latency, Outcome, Quality, SearchRecord, Speed};

/// A measured and scored point.
#[derive(Clone, Debug)]
pub struct Point<'r> {
    /// Its record.
    pub record: &'r SearchRecord,
    /// The build of the index it searched, where the records hold it. An index that was loaded after
    /// a crash is shown with the build it was saved from.
    pub build: Option<&'r BuildRecord>,
    /// Whether that index was loaded after a crash; `None` where the records do not tell.
    pub loaded: Option<bool>,
    /// Its scores.
    pub quality: &'r Quality,
    /// Its speed.
    pub speed: &'r Speed,
    /// Whether no point of its series is at least as good in both recall and QPS.
    pub on_front: bool,
    /// Recall and median QPS.
    pub(crate) curve_point: CurvePoint,
    /// Its row in the overlay.
    pub(crate) row: usize,
}

/// A point that cannot be placed on a plot, and why.
#[derive(Clone, Debug)]
pub struct Unplaced<'r> {
    /// Its record.
    pub record: &'r SearchRecord,
    /// The build it would have searched, where the records hold it; as in [`Point`].
    pub build: Option<&'r BuildRecord>,
    /// Whether the index was loaded after a crash; `None` where the records do not tell.
    pub loaded: Option<bool>,
    /// Why, in words.
    pub why: String,
}

impl<'r> Point<'r> {
    /// Takes a record onto the plot.
    ///
    /// # Errors
    /// Why it cannot be placed: it did not end ok, lacks figures, or holds a recall outside
    /// [0, 1] or a QPS that is not positive, finite and in order.
    pub(crate) fn new(index: usize, row: &Row<'r>) -> Result<Self, String> {
        let record = row.record;
        match &record.outcome {
            Outcome::Ok => {}
            Outcome::Rejected { reason } => return Err(format!("rejected: {reason}")),
            Outcome::Skipped { because, .. } => return Err(format!("skipped: {because}")),
            Outcome::Failed(failure) => {
                return Err(format!(
                    "failed at {}: {}: {}",
                    failure.stage,
                    failure.cause.word(),
                    failure.message
                ));
            }
        }
        let Some(quality) = &record.quality else {
            return Err("unusable: the record has no scores".to_owned());
        };
        let Some(speed) = &record.speed else {
            return Err("unusable: the record has no speed".to_owned());
        };
        if quality.scored_queries == 0 {
            return Err("unusable: no query was scored".to_owned());
        }
        for (name, value) in [
            ("recall_mean", quality.recall_mean),
            ("recall_min", quality.recall_min),
            ("recall_p05", quality.recall_p05),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(format!("unusable: {name} is {value}, expected 0 to 1"));
            }
        }
        let (low, median, high) = (speed.qps_min, speed.qps_median, speed.qps_max);
        for (name, value) in [("qps_min", low), ("qps_median", median), ("qps_max", high)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(format!(
                    "unusable: {name} is {value}, expected a positive number"
                ));
            }
        }
        if !(low <= median && median <= high) {
            return Err(format!(
                "unusable: qps_min {low}, qps_median {median}, qps_max {high} are out of order"
            ));
        }
        let Some(curve_point) = CurvePoint::new(quality.recall_mean, median) else {
            return Err("unusable: recall and QPS are not numbers".to_owned());
        };
        Ok(Self {
            record,
            build: row.build,
            loaded: row.loaded,
            quality,
            speed,
            on_front: false,
            curve_point,
            row: index,
        })
    }

    /// Search parameters.
    pub(crate) fn search_params(&self) -> &'r Params {
        &self.record.identity.search_params
    }

    /// The median over repetitions of a latency figure, in ns; `None` in batch mode.
    pub(crate) fn latency_ns(&self, figure: impl Fn(&Latency) -> f64) -> Option<f64> {
        median_latency(self.speed, figure)
    }
}

/// The median over repetitions of a latency figure, the mean of the middle two when even; `None`
/// when there is none or one is not a number.
pub(crate) fn median_latency(speed: &Speed, figure: impl Fn(&Latency) -> f64) -> Option<f64> {
    let mut values: Vec<f64> = speed.service_latency.iter().map(figure).collect();
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    Some(low + (high - low) / 2.0)
}

/// Private growth over the build plus the base bytes that searches still read.
pub(crate) fn index_bytes(build: &BuildRecord) -> Option<i128> {
    let report = build.report.as_ref()?;
    Some(i128::from(report.private_growth_bytes?) + i128::from(report.borrowed_base_bytes))
}

/// Distances computed per query, where the library tells.
pub(crate) fn distances_per_query(record: &SearchRecord) -> Option<f64> {
    let measured = record.measured.as_ref()?;
    let computed = measured.report.counters.distance_computations?;
    (measured.report.counted_queries > 0)
        .then(|| computed as f64 / measured.report.counted_queries as f64)
}

/// Whether ids differed between repetitions or between passes of one.
pub(crate) fn answers_vary(record: &SearchRecord) -> bool {
    let Some(measured) = &record.measured else {
        return false;
    };
    let Some(first) = measured.report.repetitions.first() else {
        return false;
    };
    measured
        .report
        .repetitions
        .iter()
        .any(|r| r.ids_hash != first.ids_hash || r.last_ids_hash != first.ids_hash)
        || !record.other_quality.is_empty()
}
