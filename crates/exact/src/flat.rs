use crate::candidates::Nearest;
use crate::kernel::{Kernel, Level, Term, weight};
use crate::meter::{Meter, Progress};
use crate::plan::{BLOCK_ROWS, Plan};
use crate::{ExactError, FlatSearcher, Neighbors};
use annbench_core::{EMPTY_SLOT, Metric, Vectors};
use rayon::prelude::*;
use std::ops::Range;

/// Queries that a kernel call takes together.
const GROUP: usize = 4;

/// Which way batches are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Path {
    /// The faster one.
    #[default]
    Auto,
    /// By shortlist, where the element type has one.
    Shortlist,
    /// The reference distance of every row.
    FullScan,
}

/// An exact index: the caller's own rows, for cosine their norms and for jaccard their sizes.
#[derive(Debug)]
pub struct Flat<'b> {
    base: Vectors<'b>,
    metric: Metric,
    pub(crate) weights: Vec<f64>,
    pub(crate) level: Level,
    pub(crate) path: Path,
}

impl<'b> Flat<'b> {
    /// Prepares `base` (`[n, dim]`, row number = id), all of whose components must be finite.
    ///
    /// # Errors
    /// [`ExactError::TooManyRows`] and [`ExactError::Metric`].
    pub fn new(
        base: Vectors<'b>,
        metric: Metric,
        pool: &rayon::ThreadPool,
    ) -> Result<Self, ExactError> {
        // The largest id stands for an empty slot.
        let max = EMPTY_SLOT as usize;
        if base.n() > max {
            return Err(ExactError::TooManyRows { n: base.n(), max });
        }
        if !metric.is_defined_on(base.element()) {
            return Err(ExactError::Metric {
                metric,
                element: base.element(),
            });
        }
        let weights = if matches!(metric, Metric::Cosine | Metric::Jaccard) {
            pool.install(|| {
                (0..base.n())
                    .into_par_iter()
                    .with_min_len(BLOCK_ROWS)
                    .map(|i| weight(metric, base.row(i)))
                    .collect()
            })
        } else {
            Vec::new()
        };
        Ok(Self {
            base,
            metric,
            weights,
            level: Level::detect(),
            path: Path::Auto,
        })
    }

    /// The same, searching with the instructions of `level`.
    ///
    /// # Errors
    /// [`ExactError::Level`] when this CPU does not have them.
    pub fn at_level(mut self, level: Level) -> Result<Self, ExactError> {
        if !Level::available().contains(&level) {
            return Err(ExactError::Level { level });
        }
        self.level = level;
        Ok(self)
    }

    /// The same, searching batches on `path`.
    pub fn on_path(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    /// The rows that are searched.
    pub fn base(&self) -> Vectors<'b> {
        self.base
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Bytes that the index keeps beside the caller's rows.
    pub fn own_bytes(&self) -> u64 {
        (self.weights.capacity() * size_of::<f64>()) as u64
    }

    /// The `k` nearest rows of every query (`[queries, dim]`), in canonical order.
    ///
    /// `progress` hears how many distances of how many are done; breaking cancels the search.
    ///
    /// # Errors
    /// Any [`ExactError`] but too many rows.
    pub fn search(
        &self,
        queries: Vectors<'_>,
        k: usize,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> Result<Neighbors, ExactError> {
        self.check(queries, k)?;
        if !self.is_for_shortlists(queries.n(), k) {
            let meter = Meter::new(self.base.n() as u64 * queries.n() as u64, progress);
            return pool.install(|| self.scan_all(queries, k, &meter));
        }
        let mut ids = Vec::with_capacity(queries.n() * k);
        let mut distances = Vec::with_capacity(queries.n() * k);
        self.pass_all(queries, k, &[], pool, progress, &mut |_, found| {
            for found in found {
                ids.extend(found.candidates.iter().map(|c| c.id));
                distances.extend(found.candidates.iter().map(|c| c.distance));
            }
        })?;
        Ok(Neighbors::new(k, ids, distances))
    }

    /// The reference distance of every row, whatever the path. To be called inside the pool.
    pub(crate) fn scan_all(
        &self,
        queries: Vectors<'_>,
        k: usize,
        meter: &Meter<'_>,
    ) -> Result<Neighbors, ExactError> {
        match (self.base, queries) {
            (Vectors::F32(base), Vectors::F32(queries)) => {
                self.search_rows(base, queries, k, meter)
            }
            (Vectors::F16(base), Vectors::F16(queries)) => {
                self.search_rows(base, queries, k, meter)
            }
            (Vectors::I8(base), Vectors::I8(queries)) => self.search_rows(base, queries, k, meter),
            (Vectors::U8(base), Vectors::U8(queries)) => self.search_rows(base, queries, k, meter),
            (Vectors::Bits(base), Vectors::Bits(queries)) => {
                self.search_rows(base, queries, k, meter)
            }
            (Vectors::Sets(base), Vectors::Sets(queries)) => {
                self.search_rows(base, queries, k, meter)
            }
            _ => Err(self.other_element(queries)),
        }
    }

    /// A searcher for one query at a time on the calling thread.
    ///
    /// # Errors
    /// [`ExactError::NoNeighbors`] and [`ExactError::TooManyNeighbors`].
    pub fn searcher(&self, k: usize) -> Result<FlatSearcher<'_>, ExactError> {
        self.check_k(k)?;
        Ok(FlatSearcher::new(self, k))
    }

    fn check_k(&self, k: usize) -> Result<(), ExactError> {
        match k {
            0 => Err(ExactError::NoNeighbors),
            k if k > self.base.n() => Err(ExactError::TooManyNeighbors {
                k,
                n: self.base.n(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether queries and k go with the base.
    pub(crate) fn check(&self, queries: Vectors<'_>, k: usize) -> Result<(), ExactError> {
        self.check_k(k)?;
        if queries.element() != self.base.element() {
            return Err(self.other_element(queries));
        }
        self.check_dim(queries.dim())
    }

    fn other_element(&self, queries: Vectors<'_>) -> ExactError {
        ExactError::Element {
            base: self.base.element(),
            queries: queries.element(),
        }
    }

    pub(crate) fn check_dim(&self, dim: usize) -> Result<(), ExactError> {
        if dim == self.base.dim() {
            Ok(())
        } else {
            Err(ExactError::Dimension {
                base: self.base.dim(),
                queries: dim,
            })
        }
    }

    fn search_rows<'a, K: Kernel<'a>>(
        &self,
        base: K,
        queries: K,
        k: usize,
        meter: &Meter<'_>,
    ) -> Result<Neighbors, ExactError> {
        let dim = queries.vectors().dim();
        let threads = rayon::current_num_threads();
        let plan = Plan::new(base.n(), queries.n(), k, threads, K::most_queries(dim));
        let mut ids = vec![EMPTY_SLOT; queries.n() * k];
        let mut distances = vec![f64::INFINITY; queries.n() * k];
        ids.par_chunks_mut(plan.tile_queries * k)
            .zip(distances.par_chunks_mut(plan.tile_queries * k))
            .enumerate()
            .try_for_each(|(tile, (ids, distances))| {
                let first = tile * plan.tile_queries;
                let tile = Tile::new(self.metric, queries.slice(first..first + ids.len() / k));
                let parts = plan
                    .ranges
                    .par_iter()
                    .map(|range| self.scan(base, range.clone(), &tile, k, meter))
                    .collect::<Result<Vec<_>, ExactError>>()?;
                let mut parts = parts.into_iter();
                let Some(mut nearest) = parts.next() else {
                    return Ok(());
                };
                for part in parts {
                    for (all, some) in nearest.iter_mut().zip(&part) {
                        all.merge(some);
                    }
                }
                let mut sorted = Vec::with_capacity(k);
                let rows = ids.chunks_exact_mut(k).zip(distances.chunks_exact_mut(k));
                for (nearest, (ids, distances)) in nearest.iter_mut().zip(rows) {
                    // The ranges hold n rows, and k is at most n.
                    assert_eq!(nearest.len(), k, "the exact search has lost candidates");
                    nearest.drain_sorted(&mut sorted);
                    for (slot, candidate) in sorted.iter().enumerate() {
                        ids[slot] = candidate.id;
                        distances[slot] = candidate.distance;
                    }
                }
                Ok(())
            })?;
        Ok(Neighbors::new(k, ids, distances))
    }

    /// The nearest among the rows of `range`, at most `k`, for every query of the tile.
    fn scan<'a, K: Kernel<'a>>(
        &self,
        base: K,
        range: Range<usize>,
        tile: &Tile<K::Tile>,
        k: usize,
        meter: &Meter<'_>,
    ) -> Result<Vec<Nearest>, ExactError> {
        // For k however few the rows of this range are: other ranges' are merged into these.
        let mut nearest: Vec<Nearest> = (0..tile.weights.len())
            .map(|_| Nearest::new(k, range.len()))
            .collect();
        let mut sums = [0.0; BLOCK_ROWS * GROUP];
        let mut scratch = Vec::new();
        let mut unreported = 0;
        for start in range.clone().step_by(BLOCK_ROWS) {
            let block = start..range.end.min(start + BLOCK_ROWS);
            let rows = base.slice(block.clone()).block(&mut scratch);
            let mut first = 0;
            while first < nearest.len() {
                let left = &mut nearest[first..];
                if left.len() >= GROUP {
                    self.scan_group::<K, GROUP>(tile, first, rows, block.clone(), &mut sums, left);
                    first += GROUP;
                } else {
                    self.scan_group::<K, 1>(tile, first, rows, block.clone(), &mut sums, left);
                    first += 1;
                }
            }
            unreported += (block.len() * nearest.len()) as u64;
            if unreported >= REPORT_DISTANCES || block.end == range.end {
                meter.add(std::mem::take(&mut unreported))?;
            }
        }
        Ok(nearest)
    }

    #[inline]
    fn scan_group<'a, K: Kernel<'a>, const Q: usize>(
        &self,
        tile: &Tile<K::Tile>,
        first: usize,
        rows: K::Block<'_>,
        ids: Range<usize>,
        sums: &mut [f64],
        nearest: &mut [Nearest],
    ) {
        let sums = &mut sums[..ids.len() * Q];
        K::sums::<Q>(self.level, self.term(), &tile.prepared, first, rows, sums);
        self.finish::<Q>(&tile.weights[first..first + Q], ids.start, sums);
        for (r, sums) in sums.chunks_exact(Q).enumerate() {
            for (nearest, &distance) in nearest.iter_mut().zip(sums) {
                nearest.offer(distance, (ids.start + r) as u32);
            }
        }
    }

    pub(crate) fn term(&self) -> Term {
        match self.metric {
            Metric::L2 => Term::SquaredDifference,
            Metric::Hamming => Term::Difference,
            _ => Term::Product,
        }
    }

    /// Turns sums `[rows, Q]` into distances as the reference does.
    #[inline(always)]
    pub(crate) fn finish<const Q: usize>(
        &self,
        query_weights: &[f64],
        first_id: usize,
        sums: &mut [f64],
    ) {
        match self.metric {
            Metric::InnerProduct => {
                for sum in sums {
                    *sum = -*sum;
                }
            }
            Metric::Cosine => self.combine::<Q>(query_weights, first_id, sums, |dot, q, x| {
                let norms = q * x;
                if norms == 0.0 { 1.0 } else { 1.0 - dot / norms }
            }),
            Metric::Jaccard => self.combine::<Q>(query_weights, first_id, sums, |common, q, x| {
                let all = q + x - common;
                if all == 0.0 {
                    1.0
                } else {
                    (all - common) / all
                }
            }),
            _ => {}
        }
    }

    /// Replaces each sum by a function of it and of the weights of query and row.
    #[inline(always)]
    fn combine<const Q: usize>(
        &self,
        query_weights: &[f64],
        first_id: usize,
        sums: &mut [f64],
        distance: impl Fn(f64, f64, f64) -> f64,
    ) {
        for (sums, &row) in sums.chunks_exact_mut(Q).zip(&self.weights[first_id..]) {
            for (sum, &query) in sums.iter_mut().zip(query_weights) {
                *sum = distance(*sum, query, row);
            }
        }
    }
}

/// Distances after which progress is told: some milliseconds of work.
const REPORT_DISTANCES: u64 = 1 << 18;

/// Queries that walk the base together, prepared once.
struct Tile<T> {
    prepared: T,
    weights: Vec<f64>,
}

impl<T: Default> Tile<T> {
    fn new<'a, K: Kernel<'a, Tile = T>>(metric: Metric, queries: K) -> Self {
        let mut prepared = T::default();
        queries.fill(&mut prepared);
        let rows = queries.vectors();
        Self {
            prepared,
            weights: (0..rows.n()).map(|i| weight(metric, rows.row(i))).collect(),
        }
    }
}

/// The `k` nearest rows of `base` for every query, in canonical order: [`Flat::search`] for once.
///
/// # Errors
/// Any [`ExactError`].
pub fn search(
    base: Vectors<'_>,
    queries: Vectors<'_>,
    metric: Metric,
    k: usize,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Neighbors, ExactError> {
    Flat::new(base, metric, pool)?.search(queries, k, pool, progress)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Candidate;
    use annbench_core::{ElementType, Rows, distance};
    use std::ops::ControlFlow;

    fn go_on(_: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn every_level_fills_k_beyond_a_range() {
        let (n, dim, queries, threads) = (3_000usize, 5, 5, 2);
        let data: Vec<u8> = (0..n * dim).map(|i| (i * i % 251) as u8).collect();
        let base = Vectors::from_bytes(&data, ElementType::U8, n, dim).unwrap();
        let wide: Vec<f32> = data.iter().map(|&v| f32::from(v) / 7.0).collect();
        let wide = Vectors::F32(Rows::new(&wide, dim).unwrap());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        for base in [base, wide] {
            let asked = base.slice(100..100 + queries);
            for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
                for k in [1_700, n] {
                    let ranges = Plan::new(n, queries, k, threads, usize::MAX).ranges;
                    assert!(ranges.len() > 1 && ranges[0].len() < k);
                    let mut expected = Vec::new();
                    for q in 0..queries {
                        let mut row: Vec<Candidate> = (0..n)
                            .map(|i| Candidate {
                                distance: distance(metric, asked.row(q), base.row(i)),
                                id: i as u32,
                            })
                            .collect();
                        row.sort_unstable();
                        expected.extend_from_slice(&row[..k]);
                    }
                    for level in Level::available() {
                        let mut flat = Flat::new(base, metric, &pool).unwrap();
                        flat.level = level;
                        let batch = flat.search(asked, k, &pool, &go_on).unwrap();
                        let mut searcher = flat.searcher(k).unwrap();
                        for q in 0..queries {
                            let expected = &expected[q * k..(q + 1) * k];
                            let (ids, distances) = batch.row(q);
                            assert!(expected.iter().map(|c| c.id).eq(ids.iter().copied()));
                            assert!(
                                (expected.iter().map(|c| c.distance.to_bits()))
                                    .eq(distances.iter().map(|d| d.to_bits())),
                                "{level:?} {metric} {k}"
                            );
                            assert!(searcher.search(asked.row(q)).unwrap() == expected);
                        }
                    }
                }
            }
        }
    }
}
