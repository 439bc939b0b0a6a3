use annbench_core::{ElementType, Metric, Rows, Vector, Vectors, distance};

/// Components per made vector: no multiple of a SIMD width but of four.
pub(crate) const DIM: usize = 20;
const CLUSTERS: usize = 12;
/// What becomes 0 as f32 and as u8 (see [`Data::clustered`]'s offset).
const ZERO: [f64; 2] = [0.0, -16.0];

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

/// Owned rows in one element type.
pub(crate) enum Matrix {
    F32(Vec<f32>),
    U8(Vec<u8>),
}

impl Matrix {
    pub(crate) fn view(&self) -> Vectors<'_> {
        let rows = match self {
            Matrix::F32(data) => Rows::new(data, DIM).map(Vectors::F32),
            Matrix::U8(data) => Rows::new(data, DIM).map(Vectors::U8),
        };
        rows.expect("made data are whole rows")
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
    /// Under cosine the last row of each is zero: without direction, at distance 1 from all.
    pub(crate) fn clustered(
        metric: Metric,
        element: ElementType,
        n: usize,
        queries: usize,
    ) -> Self {
        let mut random = SplitMix64(7);
        let centres: Vec<f64> = (0..CLUSTERS * DIM).map(|_| 3.0 * random.bell()).collect();
        let spread = match metric {
            Metric::L2 => 0.0,
            Metric::InnerProduct => 0.5,
            _ => 3.0,
        };
        let mut rows = |count: usize| {
            let mut values = Vec::with_capacity(count * DIM);
            for i in 0..count {
                let centre = &centres[(i % CLUSTERS) * DIM..][..DIM];
                let scale = (spread * (random.unit() - 0.5)).exp();
                values.extend(centre.iter().map(|c| scale * (c + random.bell())));
            }
            if metric == Metric::Cosine && count > 0 {
                values[(count - 1) * DIM..].fill(ZERO[usize::from(element == ElementType::U8)]);
            }
            match element {
                ElementType::U8 => Matrix::U8(
                    values
                        .iter()
                        .map(|v| (128.0 + 8.0 * v).clamp(0.0, 255.0) as u8)
                        .collect(),
                ),
                _ => Matrix::F32(values.iter().map(|&v| v as f32).collect()),
            }
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

/// The first `len` components of a query, or a query of the other element type.
pub(crate) fn shortened(query: Vector<'_>, len: usize) -> Vector<'_> {
    match query {
        Vector::F32(v) => Vector::F32(&v[..len]),
        Vector::U8(v) => Vector::U8(&v[..len]),
        _ => panic!("conformance does not know this element type"),
    }
}
