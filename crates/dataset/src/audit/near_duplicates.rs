use super::probe::Probe;
use super::subject::Subject;
use super::words::{number, percent};
use super::{Finding, Rule};
use annbench_core::Metric;

/// The largest share of queries that may nearly be rows of the base.
const FEW: f64 = 0.01;

/// Queries whose nearest row is at most this part of the median distance away.
const NEAR: f64 = 0.01;

/// The cosine above which two directions are nearly one.
const NEARLY_PARALLEL: f64 = 0.9999;

/// That few queries are nearly rows of the base.
pub(super) fn near_duplicates(subject: &Subject<'_>, probe: &Probe) -> Finding {
    let rule = Rule::NearDuplicates;
    let nearest = probe.nearest(subject);
    if subject.metric == Metric::InnerProduct {
        return Finding::cannot_tell(rule, "a small inner product does not mean nearness");
    }
    let Some(median) = median(&nearest) else {
        return Finding::cannot_tell(rule, "no query has a nearest row");
    };
    let (bound, words) = match subject.metric {
        Metric::Cosine => (
            1.0 - NEARLY_PARALLEL,
            format!("at a cosine of {NEARLY_PARALLEL} or more from a row"),
        ),
        // L2 is squared, so this is a hundredth of the distance itself.
        Metric::L2 => (
            NEAR * NEAR * median,
            "no farther from a row than a hundredth of the median distance".to_owned(),
        ),
        _ => (
            NEAR * median,
            "no farther from a row than a hundredth of the median distance".to_owned(),
        ),
    };
    let near = nearest.iter().filter(|&&d| d <= bound).count();
    let evidence = format!(
        "{near} of {} queries ({}) are {words}; median D_1 = {}",
        nearest.len(),
        percent(near as f64, nearest.len() as f64),
        number(median)
    );
    let finding = if near as f64 > FEW * nearest.len() as f64 {
        let next =
            "queries that the base nearly holds are easy: draw others, or report without them";
        Finding::violated(rule, evidence, next)
    } else {
        Finding::holds(rule, evidence)
    };
    finding
        .with("queries", near)
        .with("of", nearest.len())
        .with("bound", bound)
}

pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}
