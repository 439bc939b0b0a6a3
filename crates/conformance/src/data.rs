use crate::matrix::Matrix;
use annbench_core::{ElementType, Metric, Vectors, distance};

const CLUSTERS: usize = 12;

/// Components per made vector of numbers: no multiple of a SIMD width but of four. A bit tells little,
/// so that there are more of them: whole bytes, but no multiple of a word.
pub(crate) const fn dim_of(element: ElementType) -> usize {
    match element {
        ElementType::Bits | ElementType::Sets => 200,
        _ => 20,
    }
}

/// What becomes 0 in `element`.
const fn zero_of(element: ElementType) -> f64 {
    match element {
        ElementType::U8 => -16.0,
        _ => 0.0,
    }
}

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mean 0, variance 1: the sum of twelve uniforms less six.
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// A base and queries drawn from the same clusters.
pub(crate) struct Data {
    pub(crate) metric: Metric,
    base: Matrix,
    queries: Matrix,
}

impl Data {
    /// `n` base rows and `queries` queries. Under cosine and inner product the rows' norms vary,
    /// so that an adapter which forgets to normalise, or normalises where it must not, is caught.
    /// Under cosine and jaccard the last row of each is zero: at distance 1 from all.
    pub(crate) fn clustered(
        metric: Metric,
        element: ElementType,
        n: usize,
        queries: usize,
    ) -> Self {
        let dim = dim_of(element);
        let mut random = SplitMix64(7);
        let centres: Vec<f64> = (0..CLUSTERS * dim).map(|_| 3.0 * random.bell()).collect();
        let spread = match metric {
            Metric::L2 => 0.0,
            Metric::InnerProduct => 0.5,
            _ => 3.0,
        };
        let mut rows = |count: usize| {
            let mut values = Vec::with_capacity(count * dim);
            for i in 0..count {
                let centre = &centres[(i % CLUSTERS) * dim..][..dim];
                let scale = (spread * (random.unit() - 0.5)).exp();
                values.extend(centre.iter().map(|c| scale * (c + random.bell())));
            }
            if metric.is_undefined_at_zero() && count > 0 {
                values[(count - 1) * dim..].fill(zero_of(element));
            }
            Matrix::new(&values, dim, element)
        };
        let base = rows(n);
        let queries = rows(queries);
        Self {
            metric,
            base,
            queries,
        }
    }

    pub(crate) fn base(&self) -> Vectors<'_> {
        self.base.view()
    }

    pub(crate) fn queries(&self) -> Vectors<'_> {
        self.queries.view()
    }

    /// D(query, base row `id`).
    pub(crate) fn distance(&self, query: usize, id: u32) -> f64 {
        distance(
            self.metric,
            self.queries().row(query),
            self.base().row(id as usize),
        )
    }

    /// The k-th smallest distance of `query`, k from 1.
    pub(crate) fn kth_distance(&self, query: usize, k: usize) -> f64 {
        let mut all: Vec<f64> = (0..self.base().n() as u32)
            .map(|id| self.distance(query, id))
            .collect();
        all.sort_by(f64::total_cmp);
        all[k - 1]
    }
}
