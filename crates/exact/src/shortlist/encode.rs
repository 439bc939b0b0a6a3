//! Rows into units, and the sums over their components that scores and bounds need.

use super::integers::Byte;
use crate::Level;
use crate::panel::Product;

/// Sums over a row of bytes as they are, not as they are shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteSums {
    pub(super) components: i32,
    pub(super) squares: i32,
}

#[inline(always)]
fn bytes_plain<T: Byte>(product: Product, row: &[T], shift: i16, words: &mut [u32]) -> ByteSums {
    if product.components() == 2 {
        let (pairs, last) = row.as_chunks::<2>();
        let word = |v: T| u32::from((v.into() + shift) as u16);
        for (to, pair) in words.iter_mut().zip(pairs) {
            *to = word(pair[0]) | word(pair[1]) << 16;
        }
        if let (Some(to), [v]) = (words.get_mut(pairs.len()), last) {
            *to = word(*v);
        }
    } else {
        // A shift of 128, in either direction, turns the highest bit.
        let turn = if shift == 0 { 0 } else { 0x8080_8080 };
        let (fours, last) = row.as_chunks::<4>();
        for (to, &[a, b, c, d]) in words.iter_mut().zip(fours) {
            *to = u32::from_le_bytes([a.bits(), b.bits(), c.bits(), d.bits()]) ^ turn;
        }
        if !last.is_empty()
            && let Some(to) = words.get_mut(fours.len())
        {
            let mut four = [0; 4];
            for (to, &v) in four.iter_mut().zip(last) {
                *to = v.bits() ^ turn as u8;
            }
            *to = u32::from_le_bytes(four);
        }
    }
    let (mut components, mut squares) = (0i32, 0i32);
    for &v in row {
        let v = i32::from(v.into());
        components += v;
        squares += v * v;
    }
    ByteSums {
        components,
        squares,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn bytes_avx2<T: Byte>(product: Product, row: &[T], shift: i16, words: &mut [u32]) -> ByteSums {
    bytes_plain(product, row, shift, words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
fn bytes_avx512<T: Byte>(product: Product, row: &[T], shift: i16, words: &mut [u32]) -> ByteSums {
    bytes_plain(product, row, shift, words)
}

/// Puts a row into units, each byte with `shift` added; sums are of the bytes without it.
pub(super) fn bytes<T: Byte>(
    level: Level,
    product: Product,
    row: &[T],
    shift: i16,
    words: &mut [u32],
) -> ByteSums {
    match level {
        Level::Portable => bytes_plain(product, row, shift, words),
        // SAFETY: a level is only ever made where `Level::detect` found its features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { bytes_avx2(product, row, shift, words) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { bytes_avx512(product, row, shift, words) },
    }
}

/// Sums over a row of floats less the centre, y, and over what rounding took from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FloatSums {
    /// Of y^2.
    pub(super) squares: f32,
    /// Of (y - y')^2, where y' is what the units hold.
    pub(super) residuals: f32,
}

/// Lanes of the sums.
const LANES: usize = 16;

#[inline(always)]
fn f32_plain(row: &[f32], centre: &[f32], words: &mut [u32]) -> FloatSums {
    let mut lanes = [0f32; LANES];
    let (rows, last) = row.as_chunks::<LANES>();
    let (centres, last_centre) = centre.as_chunks::<LANES>();
    let (to, last_to) = words.split_at_mut(rows.len() * LANES);
    for ((to, x), c) in to
        .as_chunks_mut::<LANES>()
        .0
        .iter_mut()
        .zip(rows)
        .zip(centres)
    {
        for lane in 0..LANES {
            let y = x[lane] - c[lane];
            lanes[lane] += y * y;
            to[lane] = y.to_bits();
        }
    }
    for (((to, lane), &x), &c) in last_to
        .iter_mut()
        .zip(&mut lanes)
        .zip(last)
        .zip(last_centre)
    {
        let y = x - c;
        *lane += y * y;
        *to = y.to_bits();
    }
    FloatSums {
        squares: lanes.iter().sum(),
        residuals: 0.0,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn f32_avx2(row: &[f32], centre: &[f32], words: &mut [u32]) -> FloatSums {
    f32_plain(row, centre, words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")]
fn f32_avx512(row: &[f32], centre: &[f32], words: &mut [u32]) -> FloatSums {
    f32_plain(row, centre, words)
}

/// In whole registers; the components after the last are zero there, and so is what they add.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
fn bf16_avx512(row: &[f32], centre: &[f32], words: &mut [u32]) -> FloatSums {
    use std::arch::x86_64::*;
    assert!(row.len() == centre.len() && row.len() <= words.len() * 2);
    let mut squares = _mm512_setzero_ps();
    let mut residuals = _mm512_setzero_ps();
    let to = words.as_mut_ptr().cast::<u16>();
    for at in (0..row.len()).step_by(LANES) {
        let left = row.len() - at;
        let mask: __mmask16 = if left >= LANES { !0 } else { (1 << left) - 1 };
        // SAFETY: the mask lets only components through that row and centre have.
        let (x, c) = unsafe {
            (
                _mm512_maskz_loadu_ps(mask, row.as_ptr().add(at)),
                _mm512_maskz_loadu_ps(mask, centre.as_ptr().add(at)),
            )
        };
        let y = _mm512_sub_ps(x, c);
        // SAFETY: both are 256 bits of which every pattern is valid.
        let rounded: __m256i =
            unsafe { std::mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(y)) };
        let back = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(rounded)));
        let residual = _mm512_sub_ps(y, back);
        squares = _mm512_fmadd_ps(y, y, squares);
        residuals = _mm512_fmadd_ps(residual, residual, residuals);
        // SAFETY: the mask lets only components through for which the units have room.
        unsafe { _mm256_mask_storeu_epi16(to.add(at).cast(), mask, rounded) };
    }
    FloatSums {
        squares: _mm512_reduce_add_ps(squares),
        residuals: _mm512_reduce_add_ps(residuals),
    }
}

/// Puts a row less the centre into units, rounded to bfloat16 where the product wants that. What
/// rounds to a subnormal bfloat16 becomes zero, since products take it for that.
pub(super) fn floats(
    level: Level,
    product: Product,
    row: &[f32],
    centre: &[f32],
    words: &mut [u32],
) -> FloatSums {
    match (product, level) {
        // SAFETY: a level is only ever made where `Level::detect` found its features.
        #[cfg(target_arch = "x86_64")]
        (Product::Bf16, Level::Bf16 | Level::Amx) => unsafe { bf16_avx512(row, centre, words) },
        (_, Level::Portable) => f32_plain(row, centre, words),
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (_, Level::Avx2) => unsafe { f32_avx2(row, centre, words) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { f32_avx512(row, centre, words) },
    }
}
