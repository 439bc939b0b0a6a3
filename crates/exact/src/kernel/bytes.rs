use super::{I32_BLOCK, Kernel, Level, Term};
use annbench_core::Rows;
use std::array::from_fn;

#[inline(always)]
fn byte_sums<T: Copy + Into<i16>, const Q: usize, const L2: bool>(
    queries: &[i16],
    rows: Rows<'_, T>,
    sums: &mut [f64],
) {
    let dim = rows.dim();
    for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
        let mut totals = [0i64; Q];
        for (block, x) in rows.row(r).chunks(I32_BLOCK).enumerate() {
            let q: [&[i16]; Q] = from_fn(|i| &queries[i * dim + block * I32_BLOCK..][..x.len()]);
            let mut block_sums = [0i32; Q];
            for (c, &x) in x.iter().enumerate() {
                let x: i16 = x.into();
                for (sum, q) in block_sums.iter_mut().zip(&q) {
                    *sum += if L2 {
                        let d = i32::from(q[c] - x);
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

/// Queries as i16, and their dimension.
#[derive(Debug, Default)]
pub(crate) struct ByteTile {
    dim: usize,
    wide: Vec<i16>,
}

macro_rules! byte_kernel {
    ($type:ty, $variant:ident, $avx2:ident, $dispatch:ident, $avx512:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $avx2<const Q: usize, const L2: bool>(q: &[i16], x: Rows<'_, $type>, sums: &mut [f64]) {
            byte_sums::<$type, Q, L2>(q, x, sums);
        }

        #[inline]
        fn $dispatch<const Q: usize, const L2: bool>(
            level: Level,
            q: &[i16],
            x: Rows<'_, $type>,
            sums: &mut [f64],
        ) {
            match level {
                Level::Portable => byte_sums::<$type, Q, L2>(q, x, sums),
                // SAFETY: a level is only ever made where `Level::detect` found its features.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { $avx2::<Q, L2>(q, x, sums) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                _ => unsafe { super::avx512::$avx512::<Q, L2>(q, x, sums) },
            }
        }

        impl<'a> Kernel<'a> for Rows<'a, $type> {
            type Tile = ByteTile;
            type Block<'s> = Rows<'s, $type>;

            super::view!(Rows, $variant);

            fn fill(self, tile: &mut ByteTile) {
                tile.dim = self.dim();
                tile.wide.clear();
                tile.wide.extend(self.data().iter().map(|&v| i16::from(v)));
            }

            fn block<'s>(self, _scratch: &'s mut Vec<f32>) -> Rows<'s, $type>
            where
                'a: 's,
            {
                self
            }

            #[inline]
            fn sums<const Q: usize>(
                level: Level,
                term: Term,
                tile: &ByteTile,
                first: usize,
                block: Rows<'_, $type>,
                sums: &mut [f64],
            ) {
                let queries = &tile.wide[first * tile.dim..(first + Q) * tile.dim];
                match term {
                    Term::SquaredDifference => $dispatch::<Q, true>(level, queries, block, sums),
                    Term::Product => $dispatch::<Q, false>(level, queries, block, sums),
                    Term::Difference => unreachable!("hamming is defined on bits only"),
                }
            }
        }
    };
}

byte_kernel!(u8, U8, u8_sums_avx2, u8_dispatch, u8_sums);
byte_kernel!(i8, I8, i8_sums_avx2, i8_dispatch, i8_sums);
