//! Ground truth: shipped and checked, or computed.

mod audited;
mod check;
mod claimed;
mod computed;
mod piece;
mod shipped;

use crate::DatasetError;
use annbench_core::{ElementType, Metric, Vectors, distance};
use annbench_exact::{Candidate, Status, status};
pub use audited::{AtK, TruthAudit, WrongNeighbor};
pub(crate) use check::{check_all, check_sample};
pub(crate) use claimed::{Claimed, Distances, claimed_truth};
pub use piece::{Piece, PieceFacts, PlacedPiece, Stretch};
use rayon::prelude::*;
pub(crate) use shipped::shipped_truth;
use std::path::Path;

/// Where truth came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthOrigin {
    /// Shipped with the dataset: its ids, with distances of our own.
    Shipped,
    /// Computed by the exact engine over the whole base.
    Computed,
}

/// True neighbours of every query: ids and distances `[queries, width]`, each row ordered by
/// (distance, id). Every distance was computed by [`annbench_core::distance`].
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    width: usize,
    ids: Vec<u32>,
    distances: Vec<f64>,
    origin: TruthOrigin,
    fingerprint: String,
    pub(crate) sampled_queries: usize,
    pub(crate) refuted: Option<Refutation>,
    pub(crate) not_kept: Option<String>,
    /// Of computed truth, the row after the last neighbour of each query.
    next: Option<Vec<Option<Candidate>>>,
}

/// A base row that is nearer to a query than its truth says any row can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refutation {
    /// The query.
    pub query: usize,
    /// The smallest k for which the truth is wrong.
    pub k: usize,
    /// A row that is none of the truth's k neighbours.
    pub id: u32,
    /// Its distance.
    pub distance: f64,
    /// The distance of the truth at this rank.
    pub truth_distance: f64,
}

impl Truth {
    /// Computes the distances of `ids` `[queries, width]`, all of which are rows of `base`, and puts
    /// every row in canonical order.
    pub(crate) fn new(
        space: &Space<'_>,
        width: usize,
        mut ids: Vec<u32>,
        origin: TruthOrigin,
        pool: &rayon::ThreadPool,
    ) -> Self {
        let mut distances = vec![0f64; ids.len()];
        pool.install(|| {
            ids.par_chunks_mut(width)
                .zip(distances.par_chunks_mut(width))
                .enumerate()
                .for_each(|(q, (ids, distances))| {
                    let query = space.queries.row(q);
                    let mut row: Vec<(f64, u32)> = ids
                        .iter()
                        .map(|&id| {
                            let x = space.base.row(id as usize);
                            (distance(space.metric, query, x), id)
                        })
                        .collect();
                    // All components are finite, so no distance is NaN; zeroes of either sign tie.
                    row.sort_unstable_by(|a, b| {
                        a.0.partial_cmp(&b.0)
                            .unwrap_or_else(|| a.0.total_cmp(&b.0))
                            .then(a.1.cmp(&b.1))
                    });
                    for (slot, (distance, id)) in row.into_iter().enumerate() {
                        ids[slot] = id;
                        distances[slot] = distance;
                    }
                });
        });
        let fingerprint = fingerprint(width, &ids, &distances);
        Self {
            width,
            ids,
            distances,
            origin,
            fingerprint,
            sampled_queries: 0,
            refuted: None,
            not_kept: None,
            next: None,
        }
    }

    /// Neighbours per query.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.ids.len() / self.width
    }

    /// All ids, query after query.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// All distances, query after query.
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }

    /// Ids and distances of query `q`, nearest first.
    pub fn row(&self, q: usize) -> (&[u32], &[f64]) {
        let range = q * self.width..(q + 1) * self.width;
        (&self.ids[range.clone()], &self.distances[range])
    }

    /// Where it came from.
    pub fn origin(&self) -> TruthOrigin {
        self.origin
    }

    /// BLAKE3 of shape, ids and distances.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How many queries of shipped truth were searched exactly to see whether it stands: a search
    /// that refutes it is the last.
    pub fn sampled_queries(&self) -> usize {
        self.sampled_queries
    }

    /// Evidence that it is wrong, if the sample found any.
    pub fn refuted(&self) -> Option<Refutation> {
        self.refuted
    }

    /// Why computed truth could not be kept for the next time, if it could not.
    pub fn not_kept(&self) -> Option<&str> {
        self.not_kept.as_deref()
    }
}

/// The status of a query whose neighbours are known to be complete, at rank `k`: that of the row after them
/// is `next`, where there is one.
fn status_at(
    space: &Space<'_>,
    q: usize,
    (ids, distances): (&[u32], &[f64]),
    k: usize,
    next: Option<Candidate>,
) -> Status {
    let at = |rank: usize| Candidate {
        distance: distances[rank],
        id: ids[rank],
    };
    let next = if k < ids.len() { Some(at(k)) } else { next };
    status(space.metric, space.base, space.queries, q, at(k - 1), next)
}

/// Raised when the exact engine's answers change: what an older one has found, perhaps wrongly, is
/// then not used again.
const ENGINE: &str = "exact engine 3";

/// What truth is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space<'s> {
    pub(crate) base: Vectors<'s>,
    pub(crate) queries: Vectors<'s>,
    pub(crate) metric: Metric,
    pub(crate) base_fingerprint: &'s str,
    pub(crate) queries_fingerprint: &'s str,
    pub(crate) max_base_norm: f64,
}

impl Space<'_> {
    fn element(&self) -> ElementType {
        self.base.element()
    }

    /// A cache key of everything that truth depends on, and of `what`.
    pub(crate) fn key(&self, what: &str) -> String {
        let text = format!(
            "{ENGINE}\n{}\n{}\n{}\n{what}\n",
            self.base_fingerprint, self.queries_fingerprint, self.metric
        );
        blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
    }
}

/// What is said of truth in a layout that holds no neighbours.
fn no_layout_of_neighbors(path: &Path, format: crate::Format) -> DatasetError {
    DatasetError::contents(
        path,
        "format",
        "a layout of neighbours",
        format.name(),
        "correct `format` in the dataset entry",
    )
}

fn fingerprint(width: usize, ids: &[u32], distances: &[f64]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("annbench truth 1\n{} {width}\n", ids.len() / width).as_bytes());
    hasher.update(bytemuck::cast_slice(ids));
    hasher.update(bytemuck::cast_slice(distances));
    hasher.finalize().to_hex().to_string()
}

pub(crate) fn exact_neighbors(
    space: &Space<'_>,
    queries: Vectors<'_>,
    k: usize,
    pool: &rayon::ThreadPool,
    base_path: &Path,
    progress: &(dyn Fn(u64, u64) -> std::ops::ControlFlow<()> + Sync),
) -> Result<annbench_exact::Neighbors, DatasetError> {
    annbench_exact::search(space.base, queries, space.metric, k, pool, progress)
        .map_err(|cause| DatasetError::exact(base_path, cause))
}
