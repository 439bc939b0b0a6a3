use super::{Kernel, LANES, Level, Term};
use annbench_core::Rows;
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::array::from_fn;

#[inline(always)]
fn f32_sums<const Q: usize, const L2: bool>(
    queries: &[f64],
    rows: Rows<'_, f32>,
    sums: &mut [f64],
) {
    let dim = rows.dim();
    let heads: [_; Q] = from_fn(|i| queries[i * dim..(i + 1) * dim].as_chunks::<LANES>());
    let term = |q: f64, x: f64| {
        if L2 {
            let d = q - x;
            d * d
        } else {
            q * x
        }
    };
    for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
        let (x_head, x_tail) = rows.row(r).as_chunks::<LANES>();
        let mut lanes = [[0.0f64; LANES]; Q];
        for (c, x) in x_head.iter().enumerate() {
            let x: [f64; LANES] = from_fn(|lane| f64::from(x[lane]));
            for (lanes, (q_head, _)) in lanes.iter_mut().zip(&heads) {
                let q = &q_head[c];
                for lane in 0..LANES {
                    lanes[lane] += term(q[lane], x[lane]);
                }
            }
        }
        for ((sum, lanes), (_, q_tail)) in sums.iter_mut().zip(&lanes).zip(&heads) {
            let mut total: f64 = lanes.iter().sum();
            for (&q, &x) in q_tail.iter().zip(x_tail) {
                total += term(q, f64::from(x));
            }
            *sum = total;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn f32_sums_avx2<const Q: usize, const L2: bool>(q: &[f64], x: Rows<'_, f32>, sums: &mut [f64]) {
    f32_sums::<Q, L2>(q, x, sums);
}

#[inline]
fn dispatch<const Q: usize, const L2: bool>(
    level: Level,
    q: &[f64],
    x: Rows<'_, f32>,
    sums: &mut [f64],
) {
    match level {
        Level::Portable => f32_sums::<Q, L2>(q, x, sums),
        // SAFETY: a level is only ever made where `Level::detect` found its features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { f32_sums_avx2::<Q, L2>(q, x, sums) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { super::avx512::f32_sums::<Q, L2>(q, x, sums) },
    }
}

/// Queries widened to f64, and their dimension.
#[derive(Debug, Default)]
pub(crate) struct WideTile {
    dim: usize,
    wide: Vec<f64>,
}

impl WideTile {
    fn sums<const Q: usize>(
        &self,
        level: Level,
        term: Term,
        first: usize,
        block: Rows<'_, f32>,
        sums: &mut [f64],
    ) {
        let queries = &self.wide[first * self.dim..(first + Q) * self.dim];
        match term {
            Term::SquaredDifference => dispatch::<Q, true>(level, queries, block, sums),
            Term::Product => dispatch::<Q, false>(level, queries, block, sums),
            Term::Difference => unreachable!("hamming is defined on bits only"),
        }
    }
}

impl<'a> Kernel<'a> for Rows<'a, f32> {
    type Tile = WideTile;
    type Block<'s> = Rows<'s, f32>;

    super::view!(Rows, F32);

    fn fill(self, tile: &mut WideTile) {
        tile.dim = self.dim();
        tile.wide.clear();
        tile.wide.extend(self.data().iter().map(|&v| f64::from(v)));
    }

    fn block<'s>(self, _scratch: &'s mut Vec<f32>) -> Rows<'s, f32>
    where
        'a: 's,
    {
        self
    }

    #[inline]
    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        tile: &WideTile,
        first: usize,
        block: Rows<'_, f32>,
        sums: &mut [f64],
    ) {
        tile.sums::<Q>(level, term, first, block, sums);
    }
}

/// Half precision is widened to f32, run by run, and summed as such: its values are the same.
impl<'a> Kernel<'a> for Rows<'a, f16> {
    type Tile = WideTile;
    type Block<'s> = Rows<'s, f32>;

    super::view!(Rows, F16);

    fn fill(self, tile: &mut WideTile) {
        tile.dim = self.dim();
        tile.wide.clear();
        tile.wide.extend(self.data().iter().map(|&v| f64::from(v)));
    }

    fn block<'s>(self, scratch: &'s mut Vec<f32>) -> Rows<'s, f32>
    where
        'a: 's,
    {
        scratch.resize(self.data().len(), 0.0);
        self.data().convert_to_f32_slice(scratch);
        match Rows::new(scratch, self.dim()) {
            Some(rows) => rows,
            None => unreachable!("as many values as before"),
        }
    }

    #[inline]
    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        tile: &WideTile,
        first: usize,
        block: Rows<'_, f32>,
        sums: &mut [f64],
    ) {
        tile.sums::<Q>(level, term, first, block, sums);
    }
}
