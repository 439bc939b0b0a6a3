//! One pass over all distances of all queries.

use super::error::QuantiserError;
use super::ratios::{Ratio, RatioRange};
use super::summary::{QuantiserAudit, QueryCertificate};
use crate::score::{Scratch, TrueTopK, score_query};
use annbench_core::{Metric, TieTolerance, Vectors, distance, norm};
use rayon::prelude::*;
use std::collections::BinaryHeap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

/// Queries that share one reading of the base.
const BLOCK: usize = 16;
/// Rows between two looks at the watcher.
const ROWS: usize = 4096;

/// A base and what its compression makes of it.
#[derive(Clone, Copy, Debug)]
pub struct CompressedSet<'a> {
    /// l2 or cosine.
    pub metric: Metric,
    /// Base vectors `[n, dim]`.
    pub base: Vectors<'a>,
    /// Queries `[m, dim]`, of the element type of `base`.
    pub queries: Vectors<'a>,
    /// What the compressed base decodes to `[n, dim]`.
    pub reconstructed: Vectors<'a>,
    /// The same queries, of the element type of `reconstructed`: they are not compressed.
    pub queries_given: Vectors<'a>,
}

/// A row at its distance; the greatest is the farthest, of equal ones that of the larger id.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Far {
    distance: f64,
    id: u32,
}

impl Eq for Far {}

impl Ord for Far {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_distance = self.distance.total_cmp(&other.distance);
        by_distance.then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The nearest rows so far.
struct Nearest {
    room: usize,
    heap: BinaryHeap<Far>,
}

impl Nearest {
    fn new(room: usize) -> Self {
        Self {
            room,
            heap: BinaryHeap::with_capacity(room + 1),
        }
    }

    fn offer(&mut self, row: Far) {
        if self.heap.len() < self.room {
            self.heap.push(row);
        } else if let Some(mut farthest) = self.heap.peek_mut()
            && row < *farthest
        {
            *farthest = row;
        }
    }

    fn into_sorted(self) -> Vec<Far> {
        self.heap.into_sorted_vec()
    }
}

/// One query on its way over the base.
struct Audited {
    query: usize,
    ratios: RatioRange,
    exact: Nearest,
    compressed: Nearest,
}

/// Audits every query of `set` for the `k` nearest, in parallel on `pool`. `watch` hears of the distances
/// done, of all, and may cancel; it is called from any thread.
///
/// Distances are those of [`annbench_core::distance`]; their errors are bounded by the tie tolerance.
/// Queries without a direction under cosine are left out and counted.
///
/// # Errors
/// [`QuantiserError`] where the set cannot be audited, or the watcher cancels.
pub fn audit_quantiser(
    pool: &rayon::ThreadPool,
    set: &CompressedSet<'_>,
    k: usize,
    watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
) -> Result<QuantiserAudit, QuantiserError> {
    check(set, k)?;
    let m = set.queries.n();
    let total = m as u64 * set.base.n() as u64;
    let done = AtomicU64::new(0);
    let is_defined =
        |q: &usize| !set.metric.is_undefined_at_zero() || norm(set.queries.row(*q)) > 0.0;
    let defined: Vec<usize> = (0..m).filter(is_defined).collect();
    if defined.is_empty() {
        return Err(QuantiserError::Empty { queries: m });
    }
    let pass = Pass {
        set,
        k,
        exact_error: TieTolerance::new(set.metric, set.base.element(), set.base.dim(), 0.0),
        compressed_error: TieTolerance::new(
            set.metric,
            set.reconstructed.element(),
            set.base.dim(),
            0.0,
        ),
    };
    let blocks: Result<Vec<Vec<QueryCertificate>>, QuantiserError> = pool.install(|| {
        defined
            .par_chunks(BLOCK)
            .map(|queries| {
                pass.block(queries, &|distances| {
                    let done = done.fetch_add(distances, Ordering::Relaxed) + distances;
                    watch(done, total)
                })
            })
            .collect()
    });
    let by_query: Vec<QueryCertificate> = blocks?.into_iter().flatten().collect();
    Ok(QuantiserAudit::of(k, m - defined.len(), by_query))
}

fn check(set: &CompressedSet<'_>, k: usize) -> Result<(), QuantiserError> {
    if !matches!(set.metric, Metric::L2 | Metric::Cosine) {
        return Err(QuantiserError::Metric { metric: set.metric });
    }
    let said = |v: &Vectors<'_>| format!("{} x {} {}", v.n(), v.dim(), v.element());
    let shape = |v: &Vectors<'_>| (v.n(), v.dim());
    let fits = shape(&set.base) == shape(&set.reconstructed)
        && shape(&set.queries) == shape(&set.queries_given)
        && set.queries.dim() == set.base.dim()
        && set.queries.element() == set.base.element()
        && set.queries_given.element() == set.reconstructed.element();
    if !fits {
        return Err(QuantiserError::Shape {
            expected: format!(
                "those of {}, and queries of their element type",
                said(&set.base)
            ),
            found: format!(
                "{}, and queries {}",
                said(&set.reconstructed),
                said(&set.queries_given)
            ),
        });
    }
    let n = set.base.n();
    if k == 0 || k >= n {
        let most = n.saturating_sub(1);
        return Err(QuantiserError::K { k, most, n });
    }
    Ok(())
}

struct Pass<'p, 'a> {
    set: &'p CompressedSet<'a>,
    k: usize,
    exact_error: TieTolerance,
    compressed_error: TieTolerance,
}

impl Pass<'_, '_> {
    fn block(
        &self,
        queries: &[usize],
        watch: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> Result<Vec<QueryCertificate>, QuantiserError> {
        let mut audited: Vec<Audited> = queries
            .iter()
            .map(|&query| Audited {
                query,
                ratios: RatioRange::default(),
                exact: Nearest::new(self.k + 1),
                compressed: Nearest::new(self.k),
            })
            .collect();
        let n = self.set.base.n();
        for from in (0..n).step_by(ROWS) {
            let rows = from..n.min(from + ROWS);
            let distances = rows.len() * queries.len();
            self.rows(rows, &mut audited);
            if watch(distances as u64).is_break() {
                return Err(QuantiserError::Cancelled);
            }
        }
        let mut scratch = Scratch::new();
        audited
            .into_iter()
            .map(|one| self.certificate(one, &mut scratch))
            .collect()
    }

    /// Each row is read once for all queries of a block.
    fn rows(&self, rows: Range<usize>, audited: &mut [Audited]) {
        let set = self.set;
        for row in rows {
            let (x, decoded) = (set.base.row(row), set.reconstructed.row(row));
            for one in &mut *audited {
                // 1 - cos of equal directions may come out below 0 by a rounding error.
                let exact = distance(set.metric, set.queries.row(one.query), x).max(0.0);
                let query = set.queries_given.row(one.query);
                let compressed = distance(set.metric, query, decoded).max(0.0);
                one.ratios.add(Ratio {
                    exact,
                    exact_error: self.exact_error.at(exact, 0.0),
                    compressed,
                    compressed_error: self.compressed_error.at(compressed, 0.0),
                });
                let id = row as u32;
                one.exact.offer(Far {
                    distance: exact,
                    id,
                });
                one.compressed.offer(Far {
                    distance: compressed,
                    id,
                });
            }
        }
    }

    fn certificate(
        &self,
        audited: Audited,
        scratch: &mut Scratch,
    ) -> Result<QueryCertificate, QuantiserError> {
        let k = self.k;
        let query = audited.query;
        let (ids, distances): (Vec<u32>, Vec<f64>) = audited
            .exact
            .into_sorted()
            .into_iter()
            .map(|row| (row.id, row.distance))
            .unzip();
        let found = audited.compressed.into_sorted();
        let found: Vec<u32> = found.iter().map(|row| row.id).collect();
        let with_error = |d: f64| (d, self.exact_error.at(d, 0.0));
        let (kth, next) = (distances[k - 1], distances[k]);
        let preserved = audited.ratios.preserves(with_error(kth), with_error(next));
        let set = self.set;
        // Sorted just now, and finite.
        let hits = TrueTopK::new(&ids, &distances, k).map_or(0, |truth| {
            score_query(
                scratch,
                &found,
                k as u32,
                truth,
                set.base.n(),
                with_error(kth).1,
                |id| {
                    distance(
                        set.metric,
                        set.queries.row(query),
                        set.base.row(id as usize),
                    )
                },
            )
            .hits
        });
        if preserved && (hits as usize) < k {
            return Err(QuantiserError::Contradiction { query, hits, k });
        }
        // Both metrics are squares of Euclidean distances, up to a factor.
        let kappa = audited.ratios.kappa().unwrap_or(1.0);
        Ok(QueryCertificate {
            query: query as u64,
            kappa: kappa.is_finite().then(|| kappa.sqrt()),
            gap: (kth > 0.0).then(|| (next / kth).sqrt()),
            preserved,
            kept: hits as usize == k,
            hits,
        })
    }
}
