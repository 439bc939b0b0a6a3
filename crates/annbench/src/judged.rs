//! Builds and points of a campaign as programs read them, and refusals that people read.

use annbench_core::{ElementType, Metric, Mode, Params};
use annbench_runner::{PlannedJob, PlannedPoint};
use serde::Serialize;

/// A build with its points.
#[derive(Debug, Serialize)]
pub struct JudgedBuild {
    adapter: String,
    library: String,
    group: String,
    metric: Metric,
    element_given: ElementType,
    build_params: Params,
    build_threads: u64,
    seed: u64,
    /// Absent where the dataset's files were not read, for their content belongs to it.
    build_key: Option<String>,
    points: Vec<JudgedPoint>,
}

/// A point, and what is to become of it.
#[derive(Debug, Serialize)]
struct JudgedPoint {
    point_id: Option<String>,
    group: String,
    search_params: Params,
    k: u64,
    mode: Mode,
    threads: u64,
    /// A word as those of outcomes, `accepted` by its adapter, or `to_search`.
    status: String,
    reason: Option<String>,
}

impl JudgedBuild {
    /// `points` of `job`, each with its status and why it is refused. `identified` tells whether the
    /// dataset's content, and thus the identities, are known.
    pub fn new<'w>(
        job: &'w PlannedJob,
        points: impl IntoIterator<Item = (&'w PlannedPoint, &'w str, Option<&'w str>)>,
        identified: bool,
    ) -> Self {
        let identity = &job.identity;
        Self {
            adapter: identity.adapter.clone(),
            library: job.library.clone(),
            group: job.group.clone(),
            metric: identity.metric,
            element_given: identity.element_given,
            build_params: identity.build_params.clone(),
            build_threads: identity.build_threads,
            seed: identity.seed,
            build_key: identified.then(|| job.build_key.clone()),
            points: points
                .into_iter()
                .map(|(point, status, reason)| JudgedPoint {
                    point_id: identified.then(|| point.point_id.clone()),
                    group: point.group.clone(),
                    search_params: point.identity.search_params.clone(),
                    k: point.identity.k,
                    mode: point.identity.mode,
                    threads: point.identity.threads,
                    status: status.to_owned(),
                    reason: reason.map(str::to_owned),
                })
                .collect(),
        }
    }
}

/// An adapter that cannot be asked.
#[derive(Debug, Serialize)]
pub struct Unusable<'w> {
    adapter: &'w str,
    reason: String,
}

impl<'w> Unusable<'w> {
    /// Each with its reason.
    pub fn all(unusable: &'w [(String, anyhow::Error)]) -> Vec<Self> {
        unusable
            .iter()
            .map(|(adapter, why)| Self {
                adapter,
                reason: format!("{why:#}"),
            })
            .collect()
    }
}

/// Each reason once, in the order they first appear, and how many points have it.
pub fn grouped<'r>(reasons: impl IntoIterator<Item = &'r str>) -> Vec<(&'r str, usize)> {
    let mut grouped: Vec<(&str, usize)> = Vec::new();
    for reason in reasons {
        match grouped.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, times)) => *times += 1,
            None => grouped.push((reason, 1)),
        }
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_reason_is_told_once() {
        assert_eq!(grouped(["b", "a", "b"]), [("b", 2), ("a", 1)]);
        assert_eq!(grouped([]), []);
    }
}
