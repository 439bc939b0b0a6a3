use super::{LANES, ROW_STEP, Sum};
use crate::Level;

/// Calls `hit` with row, lane and sum for every sum that is, with its row's term added, not below its
/// lane's floor. Most runs of [`ROW_STEP`] rows are dismissed by their greatest values alone.
///
/// `sums` has a multiple of [`ROW_STEP`] rows, and as many terms.
pub(crate) fn over<T: Sum>(
    level: Level,
    sums: &[[T; LANES]],
    terms: &[T],
    floors: &[T; LANES],
    hit: &mut dyn FnMut(usize, usize, T),
) {
    match level {
        Level::Portable => plain(sums, terms, floors, hit),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level is only ever made where `Level::detect` found its features.
        Level::Avx2 => unsafe { plain_avx2(sums, terms, floors, hit) },
        #[cfg(target_arch = "x86_64")]
        _ => T::over_avx512(sums, terms, floors, hit),
    }
}

#[inline(always)]
fn plain<T: Sum>(
    sums: &[[T; LANES]],
    terms: &[T],
    floors: &[T; LANES],
    hit: &mut dyn FnMut(usize, usize, T),
) {
    let runs = sums.chunks(ROW_STEP).zip(terms.chunks(ROW_STEP));
    for (run, (sums, terms)) in runs.enumerate() {
        let mut greatest = [T::LEAST; LANES];
        for (sums, &term) in sums.iter().zip(terms) {
            for (greatest, &sum) in greatest.iter_mut().zip(sums) {
                let value = sum.plus(term);
                *greatest = if value > *greatest { value } else { *greatest };
            }
        }
        if !greatest.iter().zip(floors).any(|(g, floor)| g >= floor) {
            continue;
        }
        for (r, (sums, &term)) in sums.iter().zip(terms).enumerate() {
            for (lane, (&sum, floor)) in sums.iter().zip(floors).enumerate() {
                if sum.plus(term) >= *floor {
                    hit(run * ROW_STEP + r, lane, sum);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn plain_avx2<T: Sum>(
    sums: &[[T; LANES]],
    terms: &[T],
    floors: &[T; LANES],
    hit: &mut dyn FnMut(usize, usize, T),
) {
    plain(sums, terms, floors, hit);
}
