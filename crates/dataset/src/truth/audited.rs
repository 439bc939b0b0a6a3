use super::claimed::refuse_other_shape;
use super::{Claimed, Piece, status_at};
use crate::content::NotFinite;
use crate::opening::Opening;
use crate::truth::claimed_truth;
use crate::{Dataset, DatasetError, Entry, OpenOptions};
use annbench_core::{TieTolerance, distance, norm};
use annbench_exact::Status;
use rayon::prelude::*;
use serde::Serialize;

/// What proved truth says of the neighbours that somebody claims, query by query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TruthAudit {
    /// Neighbours that are claimed of each query.
    pub width: usize,
    /// Queries.
    pub queries: usize,
    /// Claimed ids that name no row of the base, or one a second time.
    pub unusable_ids: u64,
    /// At 1, 10, 100 and the claimed width.
    pub at: Vec<AtK>,
    /// The first query whose neighbours are wrong at any k.
    pub first_wrong: Option<WrongNeighbor>,
}

/// How many queries are what, at one k.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AtK {
    /// Neighbours.
    pub k: usize,
    /// The very ids.
    pub same: u64,
    /// Other ids at the same distances: as right, for they are ties.
    pub other_ties: u64,
    /// A nearer row is missed.
    pub wrong: u64,
    /// Of all: the k-th neighbour is the last that is so near.
    pub unique: u64,
    /// Of all: the next row is exactly as far as the k-th.
    pub tied: u64,
    /// Of all: the next row is too near for f64, but farther.
    pub resolved: u64,
    /// Of all: nothing is proved.
    pub uncertified: u64,
}

/// A claimed neighbour that a nearer row refutes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WrongNeighbor {
    /// The query.
    pub query: usize,
    /// Rank of the claimed neighbour, from 1.
    pub rank: usize,
    /// Its distance; `None` where the claim has not as many.
    pub claimed_distance: Option<f64>,
    /// The row that is nearer.
    pub id: u32,
    /// Its distance.
    pub distance: f64,
}

impl TruthAudit {
    /// Whether every claimed neighbour is right.
    pub fn is_right(&self) -> bool {
        self.unusable_ids == 0 && self.at.iter().all(|at| at.wrong == 0)
    }
}

/// What is found of one query.
struct Judged {
    unusable: u64,
    /// Index of the first wrong rank.
    wrong: Option<WrongNeighbor>,
    /// For each k: the same ids, and the status.
    at: Vec<(bool, Status)>,
}

impl Dataset {
    /// Compares the neighbours that `entry` ships with those that are found and proved, of this dataset,
    /// which has the vectors of the same entry. `None` where it ships none.
    ///
    /// # Errors
    /// What reading the file refuses, and as [`Dataset::proved_truth`].
    pub fn audit_truth(
        &self,
        entry: &Entry,
        options: &OpenOptions<'_>,
    ) -> Result<Option<TruthAudit>, DatasetError> {
        let Some(part) = &entry.truth else {
            return Ok(None);
        };
        // Files, sizes and checksums as for use.
        let file = Opening::new(entry, options, NotFinite::Refused)?.file(&part.file)?;
        let queries = self.space().queries.n();
        let claimed = claimed_truth(entry, part, &file, queries)?;
        refuse_other_shape(entry, part, &file, queries, (claimed.rows, claimed.width))?;
        let (truth, _) = self.proved_truth(claimed.width, options)?;
        let mut ks = vec![1, 10, 100, claimed.width];
        ks.retain(|&k| k <= claimed.width);
        ks.sort_unstable();
        ks.dedup();
        let judged: Vec<Judged> = options.pool.install(|| {
            (0..claimed.queries())
                .into_par_iter()
                .map(|q| self.judge(&claimed, &truth, q, &ks))
                .collect()
        });
        let at = ks.iter().enumerate().map(|(i, &k)| {
            let mut at = AtK {
                k,
                ..AtK::default()
            };
            for judged in &judged {
                let (same, status) = judged.at[i];
                match judged.wrong {
                    Some(wrong) if wrong.rank <= k => at.wrong += 1,
                    _ if same => at.same += 1,
                    _ => at.other_ties += 1,
                }
                match status {
                    Status::Unique => at.unique += 1,
                    Status::Tied => at.tied += 1,
                    Status::Resolved => at.resolved += 1,
                    Status::Uncertified => at.uncertified += 1,
                }
            }
            at
        });
        Ok(Some(TruthAudit {
            width: claimed.width,
            queries: judged.len(),
            unusable_ids: judged.iter().map(|judged| judged.unusable).sum(),
            at: at.collect(),
            first_wrong: judged.iter().find_map(|judged| judged.wrong),
        }))
    }

    fn judge(&self, claimed: &Claimed, truth: &Piece, q: usize, ks: &[usize]) -> Judged {
        let space = self.space();
        let query = space.queries.row(q);
        let row = claimed.row(q);
        let usable = |&id: &i64| {
            u32::try_from(id)
                .ok()
                .filter(|&id| (id as usize) < space.base.n())
        };
        let mut ids: Vec<u32> = row.iter().filter_map(usable).collect();
        ids.sort_unstable();
        ids.dedup();
        let unusable = (row.len() - ids.len()) as u64;
        let mut near: Vec<(f64, u32)> = ids
            .iter()
            .map(|&id| {
                (
                    distance(space.metric, query, space.base.row(id as usize)),
                    id,
                )
            })
            .collect();
        // Zeroes of either sign tie; no distance is NaN.
        near.sort_unstable_by(|a, b| {
            a.0.partial_cmp(&b.0)
                .unwrap_or_else(|| a.0.total_cmp(&b.0))
                .then(a.1.cmp(&b.1))
        });
        let tolerance = TieTolerance::new(
            space.metric,
            space.base.element(),
            space.base.dim(),
            space.max_base_norm,
        );
        let found = truth.found();
        let (true_ids, true_distances) = found.neighbors().row(q);
        let wrong = (0..claimed.width).find_map(|rank| {
            let d = true_distances[rank];
            let said = near.get(rank).map(|&(d, _)| d);
            if said.is_some_and(|said| said <= d + tolerance.at(d, norm(query))) {
                return None;
            }
            let missed = true_ids[..=rank]
                .iter()
                .position(|id| ids.binary_search(id).is_err());
            let missed = missed.unwrap_or(rank);
            Some(WrongNeighbor {
                query: q,
                rank: rank + 1,
                claimed_distance: said,
                id: true_ids[missed],
                distance: true_distances[missed],
            })
        });
        let at = ks.iter().map(|&k| {
            let first = near.iter().map(|&(_, id)| id).take(k);
            let same = first.eq(true_ids[..k].iter().copied());
            let row = (true_ids, true_distances);
            (same, status_at(&space, q, row, k, found.next(q)))
        });
        Judged {
            unusable,
            wrong,
            at: at.collect(),
        }
    }
}
