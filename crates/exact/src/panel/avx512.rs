//! The loop of the parent module in 512-bit registers, one for half a panel.

use super::{HALF, LANES};
use std::arch::x86_64::*;

/// Rows whose sums are kept in registers together.
const ROWS: usize = 8;

macro_rules! products {
    ($name:ident, $features:literal, $sum:ty, $vector:ty, $zero:expr, $add_product:expr) => {
        /// # Safety
        /// `rows` is `[out.len(), units]`, `panel` `[2, units, 16]`, and `out` holds a multiple of
        /// [`super::ROW_STEP`] rows.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name(
            units: usize,
            rows: &[u32],
            panel: &[u32],
            out: &mut [[$sum; LANES]],
        ) {
            let add_product = $add_product;
            let (first, second) = panel.split_at(units * HALF);
            for (rows, out) in rows
                .chunks_exact(ROWS * units)
                .zip(out.as_chunks_mut::<ROWS>().0)
            {
                let mut low = [$zero; ROWS];
                let mut high = [$zero; ROWS];
                for u in 0..units {
                    // SAFETY: half a panel holds 16 numbers for each of the units.
                    let (q_low, q_high) = unsafe {
                        (
                            _mm512_loadu_si512(first.as_ptr().add(u * HALF).cast()),
                            _mm512_loadu_si512(second.as_ptr().add(u * HALF).cast()),
                        )
                    };
                    for r in 0..ROWS {
                        // SAFETY: the chunk holds ROWS rows of units.
                        let x = unsafe { *rows.get_unchecked(r * units + u) };
                        let x = _mm512_set1_epi32(x as i32);
                        low[r] = add_product(low[r], x, q_low);
                        high[r] = add_product(high[r], x, q_high);
                    }
                }
                for r in 0..ROWS {
                    // SAFETY: an output row holds two halves of 16 sums.
                    unsafe {
                        let to = out[r].as_mut_ptr();
                        to.cast::<$vector>().write_unaligned(low[r]);
                        to.add(HALF).cast::<$vector>().write_unaligned(high[r]);
                    }
                }
            }
        }
    };
}

products!(
    words,
    "avx512f,avx512bw",
    i32,
    __m512i,
    _mm512_setzero_si512(),
    |sum, x, q| _mm512_add_epi32(sum, _mm512_madd_epi16(x, q))
);
// The first factor is unsigned, the second signed; nothing saturates.
products!(
    mixed_bytes,
    "avx512f,avx512vnni",
    i32,
    __m512i,
    _mm512_setzero_si512(),
    |sum, x, q| _mm512_dpbusd_epi32(sum, x, q)
);
products!(
    floats,
    "avx512f",
    f32,
    __m512,
    _mm512_setzero_ps(),
    |sum, x, q| _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(q), sum)
);
products!(
    bf16,
    "avx512f,avx512bf16",
    f32,
    __m512,
    _mm512_setzero_ps(),
    |sum, x: __m512i, q: __m512i| {
        // SAFETY: both are 512 bits of which every pattern is valid.
        let (x, q) = unsafe {
            (
                std::mem::transmute::<__m512i, __m512bh>(x),
                std::mem::transmute::<__m512i, __m512bh>(q),
            )
        };
        _mm512_dpbf16_ps(sum, x, q)
    }
);
