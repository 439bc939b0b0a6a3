//! The strata of a dataset for one k.

use crate::ScoringSet;
use crate::strata::difficulty::Difficulty;
use crate::strata::hubs::AntiHubs;
use std::sync::Arc;

/// For each base row, of how many rows it is one of the k nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrences {
    /// Neighbours of each row that were counted.
    pub k: usize,
    /// Rows whose neighbours were counted: all of the base, or a declared sample of it.
    pub asked: u64,
    /// The counts `[n]`, exact over the rows that were asked.
    pub counts: Arc<Vec<u32>>,
}

/// The strata of a dataset for one k, the same for every answer.
#[derive(Clone, Debug)]
pub struct Strata {
    pub(super) k: usize,
    pub(super) hubs: Result<HubStrata, String>,
    pub(super) difficulty: Result<Difficulty, String>,
}

/// What the counts over the base give.
#[derive(Clone, Debug)]
pub(super) struct HubStrata {
    pub(super) occurrences: Occurrences,
    pub(super) anti_hubs: AntiHubs,
    pub(super) skewness: Option<f64>,
    pub(super) robin_hood: Option<f64>,
}

impl Strata {
    /// The strata for recall@`k` against the truth of `set`. `occurrences` are the base's own, or why
    /// there are none.
    pub fn new(set: &ScoringSet<'_>, k: usize, occurrences: Result<Occurrences, String>) -> Self {
        let hubs = occurrences.and_then(|occurrences| {
            if occurrences.counts.len() != set.base.n() {
                return Err(format!(
                    "expected counts of {} base rows, found {}",
                    set.base.n(),
                    occurrences.counts.len()
                ));
            }
            let anti_hubs = AntiHubs::of(&occurrences.counts).ok_or("the base has no rows")?;
            Ok(HubStrata {
                anti_hubs,
                skewness: annbench_stats::skewness(&occurrences.counts),
                robin_hood: annbench_stats::robin_hood(&occurrences.counts),
                occurrences,
            })
        });
        Self {
            k,
            hubs,
            difficulty: Difficulty::of(set.metric, set.truth_distances, set.truth_width, k, |q| {
                q < set.queries.n() && set.is_defined(q)
            }),
        }
    }

    /// Anti-hubs, skewness and Robin Hood index of the counts.
    ///
    /// # Errors
    /// Why there are no counts.
    pub fn counts(&self) -> Result<(AntiHubs, Option<f64>, Option<f64>), String> {
        let hubs = self.hubs.as_ref().map_err(Clone::clone)?;
        Ok((hubs.anti_hubs.clone(), hubs.skewness, hubs.robin_hood))
    }

    /// Neighbours asked for.
    pub fn k(&self) -> usize {
        self.k
    }
}
