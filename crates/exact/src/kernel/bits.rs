use super::{Kernel, Level, Term};
use annbench_core::BitRows;
use std::array::from_fn;

/// Counts the ones of q XOR x, or of q AND x.
#[inline(always)]
fn bit_sums<const Q: usize, const XOR: bool>(queries: &[u8], rows: BitRows<'_>, sums: &mut [f64]) {
    let bytes = rows.bytes();
    let width = bytes.dim();
    let heads: [_; Q] = from_fn(|i| queries[i * width..(i + 1) * width].as_chunks::<8>());
    let ones = |q: u64, x: u64| u64::from(if XOR { q ^ x } else { q & x }.count_ones());
    for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
        let (x_head, x_tail) = bytes.row(r).as_chunks::<8>();
        let mut counts = [0u64; Q];
        for (c, &x) in x_head.iter().enumerate() {
            let x = u64::from_le_bytes(x);
            for (count, (q_head, _)) in counts.iter_mut().zip(&heads) {
                *count += ones(u64::from_le_bytes(q_head[c]), x);
            }
        }
        for ((sum, count), (_, q_tail)) in sums.iter_mut().zip(counts).zip(&heads) {
            let tail = q_tail.iter().zip(x_tail);
            let rest: u64 = tail.map(|(&q, &x)| ones(u64::from(q), u64::from(x))).sum();
            *sum = (count + rest) as f64;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt")]
fn bit_sums_popcnt<const Q: usize, const XOR: bool>(q: &[u8], x: BitRows<'_>, sums: &mut [f64]) {
    bit_sums::<Q, XOR>(q, x, sums);
}

#[inline]
fn dispatch<const Q: usize, const XOR: bool>(
    level: Level,
    q: &[u8],
    x: BitRows<'_>,
    sums: &mut [f64],
) {
    match level {
        Level::Portable => bit_sums::<Q, XOR>(q, x, sums),
        // SAFETY: a level is only ever made where `Level::detect` found its features.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { bit_sums_popcnt::<Q, XOR>(q, x, sums) },
    }
}

/// Queries as they are, and their width in bytes.
#[derive(Debug, Default)]
pub(crate) struct BitTile {
    width: usize,
    packed: Vec<u8>,
}

impl<'a> Kernel<'a> for BitRows<'a> {
    type Tile = BitTile;
    type Block<'s> = BitRows<'s>;

    super::view!(BitRows, Bits);

    fn fill(self, tile: &mut BitTile) {
        tile.width = self.bytes().dim();
        tile.packed.clear();
        tile.packed.extend_from_slice(self.bytes().data());
    }

    fn block<'s>(self, _scratch: &'s mut Vec<f32>) -> BitRows<'s>
    where
        'a: 's,
    {
        self
    }

    #[inline]
    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        tile: &BitTile,
        first: usize,
        block: BitRows<'_>,
        sums: &mut [f64],
    ) {
        let queries = &tile.packed[first * tile.width..(first + Q) * tile.width];
        match term {
            Term::Difference => dispatch::<Q, true>(level, queries, block, sums),
            Term::Product => dispatch::<Q, false>(level, queries, block, sums),
            Term::SquaredDifference => unreachable!("l2 is not defined on bits"),
        }
    }
}
