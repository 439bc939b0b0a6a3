//! The loop of the parent module in 256-bit registers: two of them hold half a panel.

use super::{HALF, LANES};
use std::arch::x86_64::*;

/// Rows whose sums are kept in registers together.
const ROWS: usize = 4;

macro_rules! products {
    ($name:ident, $sum:ty, $vector:ty, $zero:expr, $add_product:expr) => {
        /// # Safety
        /// `rows` is `[out.len(), units]`, `panel` `[2, units, 16]`, and `out` holds a multiple of
        /// [`super::ROW_STEP`] rows.
        #[target_feature(enable = "avx2,fma")]
        pub(super) unsafe fn $name(
            units: usize,
            rows: &[u32],
            panel: &[u32],
            out: &mut [[$sum; LANES]],
        ) {
            let add_product = $add_product;
            for (rows, out) in rows
                .chunks_exact(ROWS * units)
                .zip(out.as_chunks_mut::<ROWS>().0)
            {
                for (half, queries) in panel.chunks_exact(units * HALF).enumerate() {
                    let mut low = [$zero; ROWS];
                    let mut high = [$zero; ROWS];
                    for u in 0..units {
                        // SAFETY: half a panel holds 16 numbers for each of the units.
                        let (q_low, q_high) = unsafe {
                            let q = queries.as_ptr().add(u * HALF);
                            (
                                _mm256_loadu_si256(q.cast()),
                                _mm256_loadu_si256(q.add(8).cast()),
                            )
                        };
                        for r in 0..ROWS {
                            // SAFETY: the chunk holds ROWS rows of units.
                            let x = unsafe { *rows.get_unchecked(r * units + u) };
                            let x = _mm256_set1_epi32(x as i32);
                            low[r] = add_product(low[r], x, q_low);
                            high[r] = add_product(high[r], x, q_high);
                        }
                    }
                    for r in 0..ROWS {
                        // SAFETY: an output row holds two halves of 16 sums.
                        unsafe {
                            let to = out[r].as_mut_ptr().add(half * HALF);
                            to.cast::<$vector>().write_unaligned(low[r]);
                            to.add(8).cast::<$vector>().write_unaligned(high[r]);
                        }
                    }
                }
            }
        }
    };
}

products!(words, i32, __m256i, _mm256_setzero_si256(), |sum, x, q| {
    _mm256_add_epi32(sum, _mm256_madd_epi16(x, q))
});
products!(floats, f32, __m256, _mm256_setzero_ps(), |sum, x, q| {
    _mm256_fmadd_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(q), sum)
});
