use super::bound::{MOST_NORM, QueryNorms, RowNorms, down, up};
use super::intervals::Interval;
use super::{Arithmetic, Block, Bound, Intervals, MOST_COMPONENTS, centre, encode};
use crate::Level;
use crate::panel::Product;
use annbench_core::{Metric, Vector, Vectors, norm};
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;
use std::ops::Range;

/// What an f32 unit vector has lost that was made in f64.
const LOST_BY_NORMALISING: f64 = 1.0 / (1u64 << 23) as f64;

/// Rows of any number type under l2, inner product and cosine, multiplied as bfloat16 or f32. A score
/// is S of [`super::bound`], negated, so that smaller is nearer.
#[derive(Debug)]
pub(crate) struct Floats<'s> {
    base: Vectors<'s>,
    queries: Vectors<'s>,
    metric: Metric,
    /// Norms of the base under cosine.
    norms: &'s [f64],
    k: usize,
    limit: usize,
    /// A distance for each query, or empty: only nearer rows must be kept.
    known: &'s [f64],
    level: Level,
    product: Product,
    /// What base rows are less by, and under l2 queries too: distances there, and orders under the
    /// other metrics, are the same.
    centre: Vec<f32>,
    /// Of the queries: `None` where nothing can be said.
    bounds: Vec<Option<Bound>>,
    /// What scores of a query are less by than its distances, or half of them under l2.
    offsets: Vec<f64>,
}

impl<'s> Floats<'s> {
    /// For the `k` nearest, each query keeping `limit` rows at most. `None` where bounds would be too
    /// wide to help. To be called inside the pool.
    pub(crate) fn new(
        base: Vectors<'s>,
        queries: Vectors<'s>,
        metric: Metric,
        norms: &'s [f64],
        (k, limit): (usize, usize),
        known: &'s [f64],
        level: Level,
    ) -> Option<Self> {
        if base.dim() > MOST_COMPONENTS {
            return None;
        }
        let product = match level {
            #[cfg(target_arch = "x86_64")]
            Level::Bf16 | Level::Amx => Product::Bf16,
            _ => Product::F32,
        };
        let centre = centre::centre(base, |i| factor(metric, norms, i));
        let mut floats = Self {
            base,
            queries,
            metric,
            norms,
            k,
            limit,
            known,
            level,
            product,
            centre,
            bounds: Vec::new(),
            offsets: Vec::new(),
        };
        let centre_norm = euclidean(floats.centre.iter().map(|&v| f64::from(v)));
        let of_queries: Vec<(Option<Bound>, f64)> = (0..queries.n())
            .into_par_iter()
            .with_min_len(64)
            .map(|q| floats.bound(q, centre_norm))
            .collect();
        (floats.bounds, floats.offsets) = of_queries.into_iter().unzip();
        Some(floats)
    }

    fn bound(&self, q: usize, centre_norm: f64) -> (Option<Bound>, f64) {
        let Some(exact) = self.query(q) else {
            return (None, 0.0);
        };
        let rounded: Vec<f64> = exact.iter().map(|&v| f64::from(self.round(v))).collect();
        let norms = QueryNorms {
            own: euclidean(exact.iter().copied()),
            rounded: euclidean(rounded.iter().copied()),
            residual: euclidean(exact.iter().zip(&rounded).map(|(a, b)| a - b)),
            centre: centre_norm,
        };
        let offset = match self.metric {
            Metric::L2 => norms.own * norms.own / 2.0,
            metric => {
                let pairs = exact.iter().zip(&self.centre);
                let along: f64 = pairs.map(|(&q, &c)| q * f64::from(c)).sum();
                f64::from(u8::from(metric == Metric::Cosine)) - along
            }
        };
        let dim = self.base.dim();
        let products = self.product.units(dim) * self.product.components();
        let tame = norms.own.max(norms.rounded) <= f64::from(MOST_NORM);
        let bound = tame.then(|| Bound::new(self.metric, dim, products, norms));
        (bound, offset)
    }

    /// A query as the scores take it, to a rounding of f64. `None` where it has no direction but needs
    /// one.
    fn query(&self, q: usize) -> Option<Vec<f64>> {
        let query = self.queries.row(q);
        let mut values: Vec<f64> = match query {
            Vector::F32(row) => row.iter().map(|&v| f64::from(v)).collect(),
            Vector::F16(row) => row.iter().map(|&v| f64::from(v)).collect(),
            Vector::I8(row) => row.iter().map(|&v| f64::from(v)).collect(),
            Vector::U8(row) => row.iter().map(|&v| f64::from(v)).collect(),
            _ => return None,
        };
        match self.metric {
            Metric::L2 => {
                for (value, &c) in values.iter_mut().zip(&self.centre) {
                    *value -= f64::from(c);
                }
            }
            Metric::Cosine => {
                let norm = norm(query);
                if norm == 0.0 {
                    return None;
                }
                for value in &mut values {
                    *value /= norm;
                }
            }
            _ => {}
        }
        Some(values)
    }

    /// What a unit holds of a value.
    fn round(&self, value: f64) -> f32 {
        let value = value as f32;
        match self.product {
            #[cfg(target_arch = "x86_64")]
            Product::Bf16 => {
                let value = half::bf16::from_f32(value).to_f32();
                // Products take subnormals for zero.
                if value.is_subnormal() { 0.0 } else { value }
            }
            _ => value,
        }
    }

    /// What the distance of every row is no less than whose least score is above `score`.
    pub(crate) fn least_distance(&self, q: usize, score: f32) -> f64 {
        let distance = f64::from(score) + self.offsets[q];
        let least = distance - self.rounding(q, distance);
        if self.metric == Metric::L2 {
            2.0 * least
        } else {
            least
        }
    }

    /// A score that no row that is nearer than `distance` exceeds in the least that its score can be.
    fn score(&self, q: usize, distance: f64) -> f32 {
        let half = if self.metric == Metric::L2 { 0.5 } else { 1.0 };
        let (distance, offset) = (half * distance, self.offsets[q]);
        up(distance - offset + self.rounding(q, distance))
    }

    /// What f64 loses between a score and `distance`, half of it under l2: the offset is a sum of squares or
    /// products of at most MOST_COMPONENTS, each rounded.
    fn rounding(&self, q: usize, distance: f64) -> f64 {
        1e-11 * (distance.abs() + self.magnitude(q))
    }

    /// What the rounding of an offset is relative to.
    fn magnitude(&self, q: usize) -> f64 {
        match self.metric {
            Metric::L2 => self.offsets[q],
            metric => {
                let along = self
                    .query(q)
                    .map_or(0.0, |values| euclidean(values.into_iter()));
                f64::from(u8::from(metric == Metric::Cosine))
                    + along * euclidean(self.centre.iter().map(|&v| f64::from(v)))
            }
        }
    }

    /// Base row `i` as f32, before the centre is subtracted.
    fn row<'r>(&'r self, i: usize, scratch: &'r mut Vec<f32>) -> &'r [f32] {
        let row = match self.base.row(i) {
            Vector::F32(row) if self.metric != Metric::Cosine => return row,
            row => row,
        };
        scratch.resize(self.base.dim(), 0.0);
        match row {
            Vector::F32(row) => scratch.copy_from_slice(row),
            Vector::F16(row) => row.convert_to_f32_slice(scratch),
            Vector::I8(row) => fill(scratch, row),
            Vector::U8(row) => fill(scratch, row),
            _ => {}
        }
        if self.metric == Metric::Cosine {
            let factor = factor(self.metric, self.norms, i);
            for value in scratch.iter_mut() {
                *value = (f64::from(*value) * factor) as f32;
            }
        }
        scratch
    }
}

/// What a base row is multiplied by: its norm's inverse under cosine, zero for the zero row.
fn factor(metric: Metric, norms: &[f64], i: usize) -> f64 {
    match metric {
        Metric::Cosine if norms[i] == 0.0 => 0.0,
        Metric::Cosine => 1.0 / norms[i],
        _ => 1.0,
    }
}

fn fill<T: Copy + Into<f32>>(to: &mut [f32], row: &[T]) {
    for (to, &value) in to.iter_mut().zip(row) {
        *to = value.into();
    }
}

fn euclidean(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

impl Arithmetic for Floats<'_> {
    type Sum = f32;
    type Extra = RowNorms;
    type Kept = Intervals;

    fn product(&self) -> Product {
        self.product
    }

    fn dim(&self) -> usize {
        self.base.dim()
    }

    fn load(&self, block: &mut Block<f32, RowNorms>) {
        let dim = self.base.dim();
        let units = self.product.units(dim);
        let before = if self.metric == Metric::Cosine {
            LOST_BY_NORMALISING
        } else {
            0.0
        };
        let mut scratch = Vec::new();
        block.most = RowNorms::default();
        let into = block.words.words_mut().chunks_exact_mut(units);
        for (r, words) in into.take(block.rows).enumerate() {
            let row = self.row(block.first + r, &mut scratch);
            let sums = encode::floats(self.level, self.product, row, &self.centre, words);
            let norms = RowNorms::new(sums.squares, sums.residuals, dim, before);
            block.extras[r] = norms;
            if norms.is_tame() {
                block.most = block.most.or(norms);
                block.terms[r] = if self.metric == Metric::L2 {
                    -0.5 * sums.squares
                } else {
                    0.0
                };
            } else {
                // Nothing can be said of the row, so every query has to keep it.
                words.fill(0);
                block.terms[r] = f32::INFINITY;
            }
        }
    }

    fn load_query(&self, q: usize, words: &mut [u32]) {
        let Some(values) = self.query(q) else {
            return;
        };
        if self.bounds[q].is_none() {
            return;
        }
        for (i, &value) in values.iter().enumerate() {
            let bits = self.round(value).to_bits();
            match self.product.components() {
                2 => words[i / 2] |= (bits >> 16) << (16 * (i % 2)),
                _ => words[i] = bits,
            }
        }
    }

    fn nothing_kept(&self, q: usize) -> Intervals {
        let known = self.known.get(q).copied().unwrap_or(f64::INFINITY);
        Intervals::new(self.k, self.limit, self.score(q, known))
    }

    fn floor(&self, q: usize, kept: &Intervals, block: &Block<f32, RowNorms>) -> f32 {
        let Some(bound) = &self.bounds[q] else {
            return f32::INFINITY;
        };
        if kept.is_overflown() {
            return f32::INFINITY;
        }
        let bar = f64::from(kept.bar());
        if bar == f64::INFINITY {
            return f32::NEG_INFINITY;
        }
        let error = bound.at(block.most);
        // A little lower, for the rounding of this.
        down(-bar - error - 1e-6 * (bar.abs() + error))
    }

    #[inline]
    fn offer(
        &self,
        q: usize,
        kept: &mut Intervals,
        block: &Block<f32, RowNorms>,
        row: usize,
        sum: f32,
    ) -> bool {
        let Some(bound) = &self.bounds[q] else {
            kept.overflow();
            return true;
        };
        let id = (block.first + row) as u32;
        let norms = block.extras[row];
        let interval = if norms.is_tame() {
            let score = -f64::from(sum + block.terms[row]);
            let error = bound.at(norms);
            Interval {
                least: down(score - error),
                most: up(score + error),
                id,
            }
        } else {
            Interval {
                least: f32::NEG_INFINITY,
                most: f32::INFINITY,
                id,
            }
        };
        kept.offer(interval)
    }

    fn merge(&self, kept: &mut Intervals, other: Intervals) {
        kept.merge(other);
    }

    fn queries(&self) -> Range<usize> {
        0..self.queries.n()
    }
}

impl Floats<'_> {
    /// Whether the arithmetic can say anything of query `q`.
    pub(crate) fn is_tame(&self, q: usize) -> bool {
        self.bounds[q].is_some()
    }

    /// Whether sums were taken of bfloat16.
    pub(crate) fn product(&self) -> Product {
        self.product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::{LANES, Lines, ROW_STEP, Sum};
    use annbench_core::{Rows, distance};
    use proptest::prelude::*;

    /// Scores of all rows for all queries of one panel, with their bounds.
    fn check(
        base: Vectors<'_>,
        queries: Vectors<'_>,
        metric: Metric,
        level: Level,
    ) -> Result<(), TestCaseError> {
        let norms: Vec<f64> = (0..base.n()).map(|i| norm(base.row(i))).collect();
        let floats = Floats::new(base, queries, metric, &norms, (1, 100), &[], level).unwrap();
        let units = floats.product.units(base.dim());
        let padded = base.n().next_multiple_of(ROW_STEP);
        let mut block = Block {
            first: 0,
            rows: base.n(),
            words: Lines::zeroed(padded * units),
            terms: vec![0.0; padded],
            extras: vec![RowNorms::default(); padded],
            most: RowNorms::default(),
        };
        floats.load(&mut block);
        let mut panel = Lines::zeroed(LANES * units);
        for q in 0..queries.n() {
            let mut words = vec![0; units];
            floats.load_query(q, &mut words);
            for (u, &word) in words.iter().enumerate() {
                panel.words_mut()[q / 16 * units * 16 + u * 16 + q % 16] = word;
            }
        }
        let mut sums = vec![[0f32; LANES]; padded];
        let product = floats.product;
        f32::products(
            level,
            product,
            block.words.words(),
            panel.words(),
            &mut sums,
        );
        for (q, bound) in floats.bounds.iter().enumerate() {
            let Some(bound) = bound else {
                continue;
            };
            for (i, sums) in sums.iter().take(base.n()).enumerate() {
                prop_assert!(block.extras[i].is_tame());
                let score = -f64::from(sums[q] + block.terms[i]);
                let reference = distance(metric, queries.row(q), base.row(i));
                let half = if metric == Metric::L2 { 0.5 } else { 1.0 };
                let off = (half * reference - floats.offsets[q] - score).abs();
                let error = bound.at(block.extras[i]);
                // The offset itself, and the difference, are rounded.
                let rounding = 1e-12 * (reference.abs() + floats.offsets[q].abs());
                prop_assert!(
                    off <= error + rounding,
                    "{level:?} {metric} off by {off}, not {error}"
                );
                // And the bound says something: some hundredths of |q| |x|.
                let norm = f64::from(block.extras[i].norm);
                let scale = (norm
                    + bound.at(RowNorms {
                        residual: 1.0,
                        norm: 0.0,
                    }))
                    * norm;
                prop_assert!(error <= 0.02 * scale + 1e-6, "{error} of {scale}");
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn scores_are_within_their_bounds(
            (dim, values) in (1usize..150).prop_flat_map(|d| (
                Just(d),
                prop::collection::vec(prop_oneof![-1f32..1.0, -1e3f32..1e3, Just(0.0), 1e-20f32..1e-10], d * 70),
            )),
            offset in prop_oneof![Just(0f32), Just(1e4)]
        ) {
            let values: Vec<f32> = values.iter().map(|v| v + offset).collect();
            let all = Vectors::F32(Rows::new(&values, dim).unwrap());
            let (queries, base) = (all.slice(0..20), all.slice(20..70));
            for level in Level::available() {
                for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
                    check(base, queries, metric, level)?;
                }
            }
        }
    }
}
