use annbench_dataset::{Dataset, OpenOptions};
use annbench_results::{ScoringSet, contrasts, expansions, length, lids, nearest_percentiles};
use serde::Serialize;

/// Base rows that a mean distance is taken over.
const CONTRAST_ROWS: usize = 3000;

/// Base rows whose nearest others are looked for.
const NEAREST_ROWS: usize = 1000;

/// How hard the queries are, by measures that are told from vectors and truth, never from an answer.
#[derive(Debug, Serialize)]
pub struct Hardness {
    /// Queries that are looked at: those that have neighbours at all.
    pub queries: usize,
    /// Local intrinsic dimension from 100 neighbours.
    pub lid: Result<Spread, String>,
    /// d_2k / d_k.
    pub expansion: Result<Spread, String>,
    /// Mean distance to so many base rows, over d_k.
    pub relative_contrast: Result<Spread, String>,
    pub relative_contrast_rows: usize,
    /// Percentile of d_1 among the d_1 of so many base rows to the others.
    pub d1_percentile: Result<Spread, String>,
    pub d1_percentile_rows: usize,
}

/// Order statistics of a measure over the queries: attained values, nothing interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub lowest: f64,
    pub quarter: f64,
    pub median: f64,
    pub three_quarters: f64,
    pub highest: f64,
}

impl Spread {
    /// `None` of no values.
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let m = sorted.len();
        // The ⌈p m⌉-th lowest.
        let at = |quarters: usize| sorted.get((quarters * m).div_ceil(4).max(1) - 1).copied();
        Some(Self {
            lowest: at(0)?,
            quarter: at(1)?,
            median: at(2)?,
            three_quarters: at(3)?,
            highest: at(4)?,
        })
    }
}

impl Hardness {
    pub(super) fn of(
        dataset: &Dataset,
        set: &ScoringSet<'_>,
        k: usize,
        options: &OpenOptions<'_>,
    ) -> anyhow::Result<Self> {
        let (metric, width) = (set.metric, set.truth_width);
        let undefined = dataset.undefined_queries();
        let defined = |q: usize| undefined.binary_search(&(q as u32)).is_err();
        let spread = |values: Result<Vec<f64>, String>| {
            let values = values?;
            let all = values.iter().enumerate();
            let some: Vec<f64> = all.filter(|&(q, _)| defined(q)).map(|(_, &v)| v).collect();
            Spread::of(&some).ok_or_else(|| "no query has a neighbour".to_owned())
        };
        let truth = set.truth_distances;
        let contrast = length(metric).and_then(|length| {
            let means = dataset.mean_lengths(length, CONTRAST_ROWS, options.pool);
            contrasts(metric, &means, truth, width, k)
        });
        let n = set.base.n();
        let percentiles = match length(metric) {
            Ok(_) if n > 1 => {
                let of_rows = dataset.nearest_others(NEAREST_ROWS, options)?;
                nearest_percentiles(metric, &of_rows, truth, width)
            }
            Ok(_) => Err("the base has one row".to_owned()),
            Err(why) => Err(why),
        };
        Ok(Self {
            queries: set.queries.n() - undefined.len(),
            lid: spread(lids(metric, truth, width)),
            expansion: spread(expansions(metric, truth, width, k)),
            relative_contrast: spread(contrast),
            relative_contrast_rows: CONTRAST_ROWS.min(n),
            d1_percentile: spread(percentiles),
            d1_percentile_rows: NEAREST_ROWS.min(n),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_attained_values() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0, 9.0]).unwrap();
        let found = [
            spread.lowest,
            spread.quarter,
            spread.median,
            spread.three_quarters,
            spread.highest,
        ];
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 9.0]);
        assert_eq!(Spread::of(&[7.0]).unwrap().quarter, 7.0);
        assert_eq!(Spread::of(&[]), None);
    }
}
