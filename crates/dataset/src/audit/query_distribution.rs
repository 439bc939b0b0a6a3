use super::near_duplicates::median;
use super::probe::Probe;
use super::subject::Subject;
use super::words::number;
use super::{Finding, Rule};
use crate::DatasetError;
use crate::occurrences::nearest_others;
use crate::progress::{Activity, Meter};
use crate::sample::sample;
use annbench_core::{Metric, norm};
use annbench_stats::kolmogorov_smirnov;

/// Base rows whose nearest other row is looked for.
const ROWS: usize = 1000;

/// Queries and rows below which a distribution is not told.
const LEAST: usize = 20;

/// How far apart the two distribution functions must be: chance alone gives less, and so do two
/// samples of one collection that were not drawn quite alike.
const FAR: f64 = 0.25;

/// The largest p-value at which chance is ruled out.
const CHANCE: f64 = 0.001;

const SEED: u64 = 0x6261_7365;

/// That queries are as far from the base as its rows are from each other.
pub(super) fn query_distribution(
    subject: &Subject<'_>,
    probe: &Probe,
) -> Result<Finding, DatasetError> {
    let rule = Rule::QueryDistribution;
    if subject.metric == Metric::InnerProduct {
        let why = "a row is not its own nearest by inner product, so nearness says nothing";
        return Ok(Finding::cannot_tell(rule, why));
    }
    let queries = probe.nearest(subject);
    let n = subject.base.n();
    if queries.len() < LEAST || n < LEAST {
        let why = format!("{} queries and {n} rows are too few", queries.len());
        return Ok(Finding::cannot_tell(rule, why));
    }
    // No more rows than queries were asked for: the work is then as much again at most.
    let asked = sample(n, ROWS.min(probe.asked.len().max(100)), SEED);
    let total = n as u64 * asked.len() as u64;
    let meter = Meter::new(subject.watch, Activity::Truth, subject.base_path, total);
    let nearest = nearest_others(subject.base, subject.metric, &asked, subject.pool, &meter)
        .map_err(|cause| DatasetError::exact(subject.base_path, cause))?;
    let undefined = subject.metric.is_undefined_at_zero();
    let rows: Vec<f64> = asked
        .iter()
        .zip(nearest)
        .filter(|&(&id, _)| !(undefined && norm(subject.base.row(id as usize)) == 0.0))
        .map(|(_, distance)| distance)
        .collect();
    let (Some(test), Some(of_queries), Some(of_rows)) = (
        kolmogorov_smirnov(&queries, &rows),
        median(&queries),
        median(&rows),
    ) else {
        return Ok(Finding::cannot_tell(
            rule,
            "no base row has a nearest other",
        ));
    };
    let evidence = format!(
        "nearest row to {} queries at a median of {}, nearest other row to {} rows of the base at {}; \
         Kolmogorov and Smirnov's D = {:.3}, {}",
        queries.len(),
        number(of_queries),
        rows.len(),
        number(of_rows),
        test.statistic(),
        match test.p_value {
            0.0 => "p < 1e-300".to_owned(),
            p => format!("p = {p:.1e}"),
        }
    );
    let apart = test.statistic() >= FAR && test.p_value <= CHANCE;
    let finding = if apart && test.below > test.above {
        Finding::violated(
            rule,
            format!("queries are much closer to the base than its own rows: {evidence}"),
            "queries were probably part of what the base was made or trained from: they are easier \
             than a user's; hold them out",
        )
        .with("direction", "closer")
    } else if apart {
        Finding::violated(
            rule,
            format!("queries are much farther from the base than its own rows: {evidence}"),
            "queries are out of the base's distribution: say so beside every result, for indexes that \
             learn from the base lose on them",
        )
        .with("direction", "farther")
    } else {
        Finding::holds(rule, evidence)
    };
    Ok(finding
        .with("statistic", test.statistic())
        .with("p_value", test.p_value)
        .with("median_of_queries", of_queries)
        .with("median_of_rows", of_rows))
}
