//! One group of queries against a run of base rows.
//!
//! Floats are summed in the order of the reference distance, 16 lanes of f64 without fused
//! operations, so that its bits come out; bytes are summed in integers, where order does not
//! matter. Each loop is there once for every instruction set below, and chosen at run time.

#[cfg(target_arch = "x86_64")]
mod avx512;

use annbench_core::{Rows, Vector};
use std::array::from_fn;

/// The number of lanes that the reference distance uses.
const LANES: usize = 16;

/// Components that an i32 sum of byte products holds: 255^2 * 2^15 < 2^31.
const I32_BLOCK: usize = 1 << 15;

/// What is summed over the components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    SquaredDifference,
    Product,
}

/// An instruction set that the loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The widest that this CPU has.
    pub(crate) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 =
                std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
            if avx2
                && std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512dq")
            {
                return Level::Avx512;
            }
            if avx2 {
                return Level::Avx2;
            }
        }
        Level::Portable
    }

    /// Its name, for records.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }

    /// Every one that this CPU has, the portable one first.
    #[cfg(test)]
    pub(crate) fn available() -> Vec<Level> {
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        match Level::detect() {
            Level::Portable => {}
            Level::Avx2 => levels.push(Level::Avx2),
            Level::Avx512 => levels.extend([Level::Avx2, Level::Avx512]),
        }
        levels
    }
}

/// The instruction set that searches use on this CPU.
pub fn simd_level() -> &'static str {
    Level::detect().name()
}

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

#[inline(always)]
fn u8_sums<const Q: usize, const L2: bool>(queries: &[i16], rows: Rows<'_, u8>, sums: &mut [f64]) {
    let dim = rows.dim();
    for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
        let mut totals = [0i64; Q];
        for (block, x) in rows.row(r).chunks(I32_BLOCK).enumerate() {
            let q: [&[i16]; Q] = from_fn(|i| &queries[i * dim + block * I32_BLOCK..][..x.len()]);
            let mut block_sums = [0i32; Q];
            for (c, &x) in x.iter().enumerate() {
                for (sum, q) in block_sums.iter_mut().zip(&q) {
                    *sum += if L2 {
                        let d = i32::from(q[c] - i16::from(x));
                        d * d
                    } else {
                        i32::from(q[c]) * i32::from(x)
                    };
                }
            }
            for (total, sum) in totals.iter_mut().zip(block_sums) {
                *total += i64::from(sum);
            }
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            *sum = total as f64;
        }
    }
}

macro_rules! versions {
    ($kernel:ident, $query:ty, $row:ty, $avx2:ident, $dispatch:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $avx2<const Q: usize, const L2: bool>(q: &[$query], x: Rows<'_, $row>, s: &mut [f64]) {
            $kernel::<Q, L2>(q, x, s);
        }

        #[inline]
        fn $dispatch<const Q: usize, const L2: bool>(
            level: Level,
            q: &[$query],
            x: Rows<'_, $row>,
            s: &mut [f64],
        ) {
            match level {
                Level::Portable => $kernel::<Q, L2>(q, x, s),
                // SAFETY: a level is only ever made where `Level::detect` found its features.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { $avx2::<Q, L2>(q, x, s) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512::$kernel::<Q, L2>(q, x, s) },
            }
        }
    };
}

versions!(f32_sums, f64, f32, f32_sums_avx2, f32_dispatch);
versions!(u8_sums, i16, u8, u8_sums_avx2, u8_dispatch);

/// An element type that the engine searches: how queries are widened, and its kernel.
pub(crate) trait Element: Copy + Sync {
    /// What a query component is widened to once, outside the loops.
    type Query: Copy + Send + Sync;

    fn widen(self) -> Self::Query;

    /// A row as a vector of any type.
    fn vector(row: &[Self]) -> Vector<'_>
    where
        Self: Sized;

    /// Sums of `term` for `Q` queries `[Q, dim]` against `rows`, into `sums` `[rows, Q]`.
    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        queries: &[Self::Query],
        rows: Rows<'_, Self>,
        sums: &mut [f64],
    ) where
        Self: Sized;
}

impl Element for f32 {
    type Query = f64;

    fn widen(self) -> f64 {
        f64::from(self)
    }

    fn vector(row: &[f32]) -> Vector<'_> {
        Vector::F32(row)
    }

    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        queries: &[f64],
        rows: Rows<'_, f32>,
        sums: &mut [f64],
    ) {
        match term {
            Term::SquaredDifference => f32_dispatch::<Q, true>(level, queries, rows, sums),
            Term::Product => f32_dispatch::<Q, false>(level, queries, rows, sums),
        }
    }
}

impl Element for u8 {
    type Query = i16;

    fn widen(self) -> i16 {
        i16::from(self)
    }

    fn vector(row: &[u8]) -> Vector<'_> {
        Vector::U8(row)
    }

    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        queries: &[i16],
        rows: Rows<'_, u8>,
        sums: &mut [f64],
    ) {
        match term {
            Term::SquaredDifference => u8_dispatch::<Q, true>(level, queries, rows, sums),
            Term::Product => u8_dispatch::<Q, false>(level, queries, rows, sums),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::{Metric, distance};
    use proptest::prelude::*;

    fn check<T: Element, const Q: usize>(
        dim: usize,
        queries: &[T],
        base: &[T],
    ) -> Result<(), TestCaseError> {
        let rows = Rows::new(base, dim).unwrap();
        let wide: Vec<T::Query> = queries.iter().map(|&v| v.widen()).collect();
        for (term, metric, sign) in [
            (Term::SquaredDifference, Metric::L2, 1.0),
            (Term::Product, Metric::InnerProduct, -1.0),
        ] {
            for level in Level::available() {
                let mut sums = vec![0.0; rows.n() * Q];
                T::sums::<Q>(level, term, &wide, rows, &mut sums);
                for r in 0..rows.n() {
                    for q in 0..Q {
                        let query = T::vector(&queries[q * dim..(q + 1) * dim]);
                        let expected = distance(metric, query, T::vector(rows.row(r)));
                        prop_assert_eq!(
                            (sign * sums[r * Q + q]).to_bits(),
                            expected.to_bits(),
                            "{:?} {:?} row {} query {}",
                            level,
                            term,
                            r,
                            q
                        );
                    }
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_level_gives_the_bits_of_the_reference_on_floats(
            (dim, values) in (1usize..70).prop_flat_map(|d| (
                Just(d),
                prop::collection::vec(-1e6f32..1e6, d * 9),
            ))
        ) {
            let (queries, base) = values.split_at(dim * 4);
            check::<f32, 4>(dim, queries, base)?;
            check::<f32, 1>(dim, &queries[..dim], base)?;
        }

        #[test]
        fn every_level_gives_the_bits_of_the_reference_on_bytes(
            (dim, values) in (1usize..200).prop_flat_map(|d| (
                Just(d),
                prop::collection::vec(any::<u8>(), d * 9),
            ))
        ) {
            let (queries, base) = values.split_at(dim * 4);
            check::<u8, 4>(dim, queries, base)?;
            check::<u8, 1>(dim, &queries[..dim], base)?;
        }
    }

    #[test]
    fn byte_sums_beyond_the_i32_range_stay_exact() {
        let dim = 100_003;
        let (queries, base) = (vec![255i16; dim], vec![0u8; dim]);
        for level in Level::available() {
            let mut sums = [0.0];
            u8_dispatch::<1, true>(level, &queries, Rows::new(&base, dim).unwrap(), &mut sums);
            assert_eq!(sums[0], dim as f64 * 65_025.0);
        }
    }
}
