//! [`super::over`] in 512-bit registers.

use super::{HALF, LANES, ROW_STEP, Sum};
use std::arch::x86_64::*;

macro_rules! over {
    ($name:ident, $sum:ty, $vector:ty, $set1:ident, $add:ident, $max:ident, $ge:expr) => {
        #[target_feature(enable = "avx512f")]
        pub(super) fn $name(
            sums: &[[$sum; LANES]],
            terms: &[$sum],
            floors: &[$sum; LANES],
            hit: &mut dyn FnMut(usize, usize, $sum),
        ) {
            let halves = |row: &[$sum; LANES]| -> ($vector, $vector) {
                // SAFETY: a row holds two registers.
                unsafe {
                    (
                        row.as_ptr().cast::<$vector>().read_unaligned(),
                        row.as_ptr().add(HALF).cast::<$vector>().read_unaligned(),
                    )
                }
            };
            let at_least = $ge;
            let (floor_low, floor_high) = halves(floors);
            let runs = sums.chunks(ROW_STEP).zip(terms.chunks(ROW_STEP));
            for (run, (sums, terms)) in runs.enumerate() {
                let mut low = $set1(<$sum>::LEAST);
                let mut high = low;
                for (sums, &term) in sums.iter().zip(terms) {
                    let (sums_low, sums_high) = halves(sums);
                    let term = $set1(term);
                    low = $max($add(sums_low, term), low);
                    high = $max($add(sums_high, term), high);
                }
                if at_least(low, floor_low) | at_least(high, floor_high) == 0 {
                    continue;
                }
                for (r, (sums, &term)) in sums.iter().zip(terms).enumerate() {
                    let (sums_low, sums_high) = halves(sums);
                    let term = $set1(term);
                    let low = at_least($add(sums_low, term), floor_low);
                    let high = at_least($add(sums_high, term), floor_high);
                    let mut left = u32::from(low) | u32::from(high) << HALF;
                    while left != 0 {
                        let lane = left.trailing_zeros() as usize;
                        hit(run * ROW_STEP + r, lane, sums[lane]);
                        left &= left - 1;
                    }
                }
            }
        }
    };
}

over!(
    integers,
    i32,
    __m512i,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_max_epi32,
    |value, floor| _mm512_cmpge_epi32_mask(value, floor)
);
over!(
    floats,
    f32,
    __m512,
    _mm512_set1_ps,
    _mm512_add_ps,
    _mm512_max_ps,
    |value, floor| _mm512_cmp_ps_mask::<_CMP_GE_OQ>(value, floor)
);
