//! The loops of the parent module written for 512-bit registers, where the compiler does not keep
//! the accumulators of several queries in registers by itself.

use super::{I32_BLOCK, LANES};
use annbench_core::Rows;
use std::arch::x86_64::*;
use std::array::from_fn;

/// Bytes that one register holds as i16.
const WIDE: usize = 32;

/// See [`super::floats`]: the same operations in the same order, 16 lanes in two registers.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn f32_sums<const Q: usize, const L2: bool>(
    queries: &[f64],
    rows: Rows<'_, f32>,
    sums: &mut [f64],
) {
    let dim = rows.dim();
    let heads: [_; Q] = from_fn(|i| queries[i * dim..(i + 1) * dim].as_chunks::<LANES>());
    for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
        let (x_head, x_tail) = rows.row(r).as_chunks::<LANES>();
        let mut low = [_mm512_setzero_pd(); Q];
        let mut high = [_mm512_setzero_pd(); Q];
        for (c, x) in x_head.iter().enumerate() {
            let (x_low, x_high) = widened(x);
            for i in 0..Q {
                let (q_low, q_high) = doubles(&heads[i].0[c]);
                low[i] = _mm512_add_pd(low[i], term::<L2>(q_low, x_low));
                high[i] = _mm512_add_pd(high[i], term::<L2>(q_high, x_high));
            }
        }
        for i in 0..Q {
            let mut total: f64 = lanes(low[i], high[i]).iter().sum();
            for (&q, &x) in heads[i].1.iter().zip(x_tail) {
                let x = f64::from(x);
                total += if L2 { (q - x) * (q - x) } else { q * x };
            }
            sums[i] = total;
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn term<const L2: bool>(q: __m512d, x: __m512d) -> __m512d {
    if L2 {
        let d = _mm512_sub_pd(q, x);
        _mm512_mul_pd(d, d)
    } else {
        _mm512_mul_pd(q, x)
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn widened(x: &[f32; LANES]) -> (__m512d, __m512d) {
    // SAFETY: the array holds the two times 8 floats that are read; no alignment is asked for.
    let (low, high) = unsafe {
        (
            _mm256_loadu_ps(x.as_ptr()),
            _mm256_loadu_ps(x.as_ptr().add(8)),
        )
    };
    (_mm512_cvtps_pd(low), _mm512_cvtps_pd(high))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn doubles(q: &[f64; LANES]) -> (__m512d, __m512d) {
    // SAFETY: the array holds the two times 8 doubles that are read; no alignment is asked for.
    unsafe {
        (
            _mm512_loadu_pd(q.as_ptr()),
            _mm512_loadu_pd(q.as_ptr().add(8)),
        )
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(low: __m512d, high: __m512d) -> [f64; LANES] {
    let mut lanes = [0.0; LANES];
    // SAFETY: the array holds the two times 8 doubles that are written.
    unsafe {
        _mm512_storeu_pd(lanes.as_mut_ptr(), low);
        _mm512_storeu_pd(lanes.as_mut_ptr().add(8), high);
    }
    lanes
}

/// See [`super::bytes`].
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
fn byte_sums<T: Copy + Into<i16>, const Q: usize, const L2: bool>(
    queries: &[i16],
    rows: Rows<'_, T>,
    widen: impl Fn(&[T; WIDE]) -> __m512i,
    sums: &mut [f64],
) {
    let dim = rows.dim();
    for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
        let mut totals = [0i64; Q];
        for (block, x) in rows.row(r).chunks(I32_BLOCK).enumerate() {
            let q: [&[i16]; Q] = from_fn(|i| &queries[i * dim + block * I32_BLOCK..][..x.len()]);
            let heads: [_; Q] = from_fn(|i| q[i].as_chunks::<WIDE>());
            let (x_head, x_tail) = x.as_chunks::<WIDE>();
            let mut wide = [_mm512_setzero_si512(); Q];
            for (c, x) in x_head.iter().enumerate() {
                let x = widen(x);
                for i in 0..Q {
                    let q = words(&heads[i].0[c]);
                    let products = if L2 {
                        // At most 255 in size, so that no product and no sum of two overflows.
                        let d = _mm512_sub_epi16(q, x);
                        _mm512_madd_epi16(d, d)
                    } else {
                        _mm512_madd_epi16(q, x)
                    };
                    wide[i] = _mm512_add_epi32(wide[i], products);
                }
            }
            for i in 0..Q {
                let mut total = _mm512_reduce_add_epi32(wide[i]);
                for (&q, &x) in heads[i].1.iter().zip(x_tail) {
                    let x: i16 = x.into();
                    total += if L2 {
                        let d = i32::from(q - x);
                        d * d
                    } else {
                        i32::from(q) * i32::from(x)
                    };
                }
                totals[i] += i64::from(total);
            }
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            *sum = total as f64;
        }
    }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn u8_sums<const Q: usize, const L2: bool>(
    queries: &[i16],
    rows: Rows<'_, u8>,
    sums: &mut [f64],
) {
    byte_sums::<u8, Q, L2>(queries, rows, |x| words_of_u8(x), sums);
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn i8_sums<const Q: usize, const L2: bool>(
    queries: &[i16],
    rows: Rows<'_, i8>,
    sums: &mut [f64],
) {
    byte_sums::<i8, Q, L2>(queries, rows, |x| words_of_i8(x), sums);
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn words_of_u8(x: &[u8; WIDE]) -> __m512i {
    // SAFETY: the array holds the 32 bytes that are read; no alignment is asked for.
    _mm512_cvtepu8_epi16(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn words_of_i8(x: &[i8; WIDE]) -> __m512i {
    // SAFETY: as above.
    _mm512_cvtepi8_epi16(unsafe { _mm256_loadu_si256(x.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn words(q: &[i16; WIDE]) -> __m512i {
    // SAFETY: the array holds the 32 words that are read; no alignment is asked for.
    unsafe { _mm512_loadu_epi16(q.as_ptr()) }
}
