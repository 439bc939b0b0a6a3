use super::points;
use annbench_core::{Mode, Params};
use annbench_results::{MeasuredPoint, RunRecords, SearchRecord};
use anyhow::bail;
use std::collections::BTreeMap;

/// Points of two runs that searched for the same.
pub(super) struct Pairs<'r> {
    pub(super) pairs: Vec<(MeasuredPoint<'r>, MeasuredPoint<'r>)>,
    /// What was not compared, a line each.
    pub(super) left_out: Vec<String>,
}

/// Base, queries, metric and k.
type Task<'r> = (&'r str, &'r str, String, u64);
/// What makes a point the same one in another run, whatever version or machine measured it.
type Configuration<'r> = (&'r str, &'r Params, &'r Params, Mode, u64, u64);

fn task(record: &SearchRecord) -> Task<'_> {
    let identity = &record.identity;
    (
        &identity.build.base_fingerprint,
        &identity.queries_fingerprint,
        identity.build.metric.to_string(),
        identity.k,
    )
}

fn configuration(record: &SearchRecord) -> Configuration<'_> {
    let identity = &record.identity;
    (
        &identity.build.adapter,
        &identity.build.build_params,
        &identity.search_params,
        identity.mode,
        identity.threads,
        identity.build.seed,
    )
}

/// Pairs points of the same task and configuration. Of a task with one point in each run these two are a
/// pair, whatever their configuration.
///
/// # Errors
/// When there is no pair.
pub(super) fn pairs<'r>(a: &'r RunRecords, b: &'r RunRecords) -> anyhow::Result<Pairs<'r>> {
    let (of_a, of_b) = (by_task(a), by_task(b));
    let mut pairs = Vec::new();
    let mut alone = 0;
    for (task, in_a) in &of_a.points {
        let Some(in_b) = of_b.points.get(task) else {
            continue;
        };
        if let ([a], [b]) = (in_a.as_slice(), in_b.as_slice()) {
            pairs.push((*a, *b));
            continue;
        }
        for &a in in_a {
            let same = in_b
                .iter()
                .find(|b| configuration(b.record) == configuration(a.record));
            match same {
                Some(&b) => pairs.push((a, b)),
                None => alone += 1,
            }
        }
    }
    if pairs.is_empty() {
        let common = of_a
            .points
            .keys()
            .any(|task| of_b.points.contains_key(task));
        let exact = match of_a.exact + of_b.exact {
            0 => "",
            _ => "; exact searches are left out, for agreement with them is recall",
        };
        bail!(
            "{} and {} have no two points to compare: {}{exact}",
            a.dir.display(),
            b.dir.display(),
            match common {
                true =>
                    "no adapter with the same parameters is in both; name two points, as \
                     `annbench report DIR --points` has them",
                false =>
                    "no dataset, with the same base, queries, metric and k, was measured approximately in both; \
                     measure the same dataset",
            }
        );
    }
    let mut left_out = Vec::new();
    for (number, what) in [
        (
            of_a.exact + of_b.exact,
            "exact searches: agreement with them is recall, which `explain` shows",
        ),
        (
            of_a.unmeasured + of_b.unmeasured,
            "points that were not measured",
        ),
        (alone, "points of A whose parameters B does not have"),
    ] {
        if number > 0 {
            left_out.push(format!("{number} {what}"));
        }
    }
    Ok(Pairs { pairs, left_out })
}

/// The approximate points of a run.
struct ByTask<'r> {
    points: BTreeMap<Task<'r>, Vec<MeasuredPoint<'r>>>,
    exact: usize,
    unmeasured: usize,
}

fn by_task(run: &RunRecords) -> ByTask<'_> {
    let mut by_task = ByTask {
        points: BTreeMap::new(),
        exact: 0,
        unmeasured: 0,
    };
    for point in points(run) {
        if annbench_results::is_exact(point.record) {
            by_task.exact += 1;
        } else if point.record.measured.is_none() {
            by_task.unmeasured += 1;
        } else {
            let of_task = by_task.points.entry(task(point.record));
            of_task.or_default().push(point);
        }
    }
    by_task
}
