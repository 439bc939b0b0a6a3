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

/// Pairs points of the same task and configuration, no point twice; of several with the same configuration
/// those of the same executable first. Of a task with one point in each run these two are a pair, whatever
/// their configuration.
///
/// # Errors
/// When there is no pair.
pub(super) fn pairs<'r>(a: &'r RunRecords, b: &'r RunRecords) -> anyhow::Result<Pairs<'r>> {
    let (of_a, of_b) = (by_task(a), by_task(b));
    let mut pairs = Vec::new();
    let (mut left_a, mut left_b) = (Left::default(), Left::default());
    for (task, in_a) in &of_a.points {
        let Some(in_b) = of_b.points.get(task) else {
            left_a.add_task(in_a);
            continue;
        };
        if let ([a], [b]) = (in_a.as_slice(), in_b.as_slice()) {
            pairs.push((*a, *b));
            continue;
        }
        let partners = partners(in_a, in_b);
        for (a, partner) in in_a.iter().zip(&partners) {
            match partner {
                Some(b) => pairs.push((*a, in_b[*b])),
                None => left_a.add_point(a.record, in_b),
            }
        }
        for (number, b) in in_b.iter().enumerate() {
            if !partners.contains(&Some(number)) {
                left_b.add_point(b.record, in_a);
            }
        }
    }
    for (task, in_b) in &of_b.points {
        if !of_a.points.contains_key(task) {
            left_b.add_task(in_b);
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
                    "none of one is of the same adapter, parameters, mode, threads and seed as one of the \
                     other; name two points, as `annbench report DIR --points` has them",
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
    ] {
        if number > 0 {
            left_out.push(format!("{number} {what}"));
        }
    }
    left_out.extend(left_a.lines("A", "B"));
    left_out.extend(left_b.lines("B", "A"));
    Ok(Pairs { pairs, left_out })
}

/// For each point of `in_a` the number of its partner in `in_b`.
fn partners(in_a: &[MeasuredPoint<'_>], in_b: &[MeasuredPoint<'_>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; in_a.len()];
    let mut taken = vec![false; in_b.len()];
    for same_executable in [true, false] {
        for (a, partner) in in_a.iter().zip(&mut partners) {
            if partner.is_some() {
                continue;
            }
            *partner = (0..in_b.len()).find(|&b| {
                let (a, b_record) = (a.record, in_b[b].record);
                !taken[b]
                    && configuration(a) == configuration(b_record)
                    && (!same_executable || executable(a) == executable(b_record))
            });
            if let Some(b) = *partner {
                taken[b] = true;
            }
        }
    }
    partners
}

fn executable(record: &SearchRecord) -> &str {
    &record.identity.build.executable_sha256
}

/// Approximate points of one run that were not compared.
#[derive(Default)]
struct Left<'r> {
    /// By dataset and k, of which the other run has none.
    by_task: BTreeMap<(&'r str, u64), usize>,
    /// With a configuration that the other run does not have.
    alone: usize,
    /// Beyond those of the same configuration in the other run.
    again: usize,
}

impl<'r> Left<'r> {
    fn add_task(&mut self, points: &[MeasuredPoint<'r>]) {
        for point in points {
            let record = point.record;
            let task = (record.dataset.name.as_str(), record.identity.k);
            *self.by_task.entry(task).or_default() += 1;
        }
    }

    fn add_point(&mut self, record: &SearchRecord, others: &[MeasuredPoint<'_>]) {
        let known = others
            .iter()
            .any(|other| configuration(other.record) == configuration(record));
        match known {
            true => self.again += 1,
            false => self.alone += 1,
        }
    }

    /// A line of each kind, of the run called `own` against the one called `other`.
    fn lines(&self, own: &str, other: &str) -> Vec<String> {
        let mut lines: Vec<String> = self
            .by_task
            .iter()
            .map(|((dataset, k), number)| {
                format!(
                    "{number} points of {own} on {dataset}, k = {k}: {other} has no approximate point on the \
                     same base and queries with this metric and k"
                )
            })
            .collect();
        if self.alone > 0 {
            lines.push(format!(
                "{} points of {own} whose adapter, parameters, mode, threads and seed no point of {other} has",
                self.alone
            ));
        }
        if self.again > 0 {
            lines.push(format!(
                "{} points of {own} like another one but for their executable or machine, \
                 and no more such points in {other}",
                self.again
            ));
        }
        lines
    }
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
