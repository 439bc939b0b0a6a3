//! Products of a strip of base rows with a panel of queries.
//!
//! Both are cut into *units* of four bytes along the components: four bytes, two i16, two bfloat16 or
//! one f32. A panel holds [`LANES`] queries in two halves, each `[units, 16]`, so that one register
//! holds a unit of 16 queries; a strip is `[rows, units]`. Every instruction set then runs the same
//! loop with another multiplication: a unit of a row, repeated, times a unit of 16 queries.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lines;
mod over;
#[cfg(target_arch = "x86_64")]
mod over_avx512;
mod plain;

pub(crate) use lines::{Aligned, Lines};
pub(crate) use over::over;

use crate::Level;

/// Queries of a panel.
pub(crate) const LANES: usize = 32;

/// Queries of half a panel: what one 512-bit register holds.
pub(crate) const HALF: usize = 16;

/// Units to which rows are padded with zeroes: the bytes of a tile's row.
pub(crate) const UNIT_STEP: usize = 16;

/// Rows of a strip are a multiple of this.
pub(crate) const ROW_STEP: usize = 32;

/// What four bytes hold and how they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    /// Four bytes, both sides unsigned (tiles).
    #[cfg(target_arch = "x86_64")]
    Unsigned,
    /// Four bytes, both sides signed (tiles).
    #[cfg(target_arch = "x86_64")]
    Signed,
    /// Four bytes, those of the base unsigned, those of the queries signed (VNNI).
    #[cfg(target_arch = "x86_64")]
    Mixed,
    /// Two i16.
    Words,
    /// Two bfloat16 with sums in f32.
    #[cfg(target_arch = "x86_64")]
    Bf16,
    /// One f32.
    F32,
}

impl Product {
    /// Components of a unit.
    pub(crate) fn components(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Product::Unsigned | Product::Signed | Product::Mixed => 4,
            #[cfg(target_arch = "x86_64")]
            Product::Bf16 => 2,
            Product::Words => 2,
            Product::F32 => 1,
        }
    }

    /// Units of a row of `dim` components, with padding.
    pub(crate) fn units(self, dim: usize) -> usize {
        dim.div_ceil(self.components()).next_multiple_of(UNIT_STEP)
    }
}

/// A sum that a product gives: i32 for bytes and words, f32 for floats.
pub(crate) trait Sum: Copy + Send + Sync + PartialOrd + std::fmt::Debug + 'static {
    /// Before every other.
    const LEAST: Self;
    /// After every other.
    const MOST: Self;
    /// Zero.
    const ZERO: Self;

    /// The sum of two.
    fn plus(self, other: Self) -> Self;

    /// `[rows, LANES]` products of `rows` (`[out.len(), units]`) and a panel (`[2, units, 16]`).
    fn products(
        level: Level,
        product: Product,
        rows: &[u32],
        panel: &[u32],
        out: &mut [[Self; LANES]],
    );

    /// See [`over`].
    #[cfg(target_arch = "x86_64")]
    fn over_avx512(
        sums: &[[Self; LANES]],
        terms: &[Self],
        floors: &[Self; LANES],
        hit: &mut dyn FnMut(usize, usize, Self),
    );
}

/// Units of a row, when strip, panel and output fit each other.
fn units_of(rows: usize, panel: usize, out: usize) -> usize {
    let units = panel / LANES;
    assert!(
        panel == units * LANES
            && units.is_multiple_of(UNIT_STEP)
            && rows == out * units
            && out.is_multiple_of(ROW_STEP),
        "strip, panel and output do not fit"
    );
    units
}

impl Sum for i32 {
    const LEAST: i32 = i32::MIN;
    const MOST: i32 = i32::MAX;
    const ZERO: i32 = 0;

    #[inline(always)]
    fn plus(self, other: i32) -> i32 {
        self.wrapping_add(other)
    }

    fn products(
        level: Level,
        product: Product,
        rows: &[u32],
        panel: &[u32],
        out: &mut [[i32; LANES]],
    ) {
        let units = units_of(rows.len(), panel.len(), out.len());
        match (product, level) {
            (Product::Words, Level::Portable) => plain::words(units, rows, panel, out),
            // SAFETY: a level is only ever made where `Level::detect` found its features; the sizes
            // were just checked.
            #[cfg(target_arch = "x86_64")]
            (Product::Words, Level::Avx2) => unsafe { avx2::words(units, rows, panel, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Product::Words, _) => unsafe { avx512::words(units, rows, panel, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Product::Mixed, Level::Vnni | Level::Bf16) => unsafe {
                avx512::mixed_bytes(units, rows, panel, out)
            },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            (Product::Unsigned, Level::Amx) => unsafe {
                amx::unsigned_bytes(units, rows, panel, out)
            },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            (Product::Signed, Level::Amx) => unsafe { amx::signed_bytes(units, rows, panel, out) },
            _ => unreachable!("{product:?} is not summed in integers at {level:?}"),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn over_avx512(
        sums: &[[i32; LANES]],
        terms: &[i32],
        floors: &[i32; LANES],
        hit: &mut dyn FnMut(usize, usize, i32),
    ) {
        // SAFETY: called at levels that have the features only.
        unsafe { over_avx512::integers(sums, terms, floors, hit) }
    }
}

impl Sum for f32 {
    const LEAST: f32 = f32::NEG_INFINITY;
    const MOST: f32 = f32::INFINITY;
    const ZERO: f32 = 0.0;

    #[inline(always)]
    fn plus(self, other: f32) -> f32 {
        self + other
    }

    fn products(
        level: Level,
        product: Product,
        rows: &[u32],
        panel: &[u32],
        out: &mut [[f32; LANES]],
    ) {
        let units = units_of(rows.len(), panel.len(), out.len());
        match (product, level) {
            (Product::F32, Level::Portable) => plain::floats(units, rows, panel, out),
            // SAFETY: a level is only ever made where `Level::detect` found its features; the sizes
            // were just checked.
            #[cfg(target_arch = "x86_64")]
            (Product::F32, Level::Avx2) => unsafe { avx2::floats(units, rows, panel, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Product::F32, _) => unsafe { avx512::floats(units, rows, panel, out) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            (Product::Bf16, Level::Amx) => unsafe { amx::bf16(units, rows, panel, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            (Product::Bf16, Level::Bf16) => unsafe { avx512::bf16(units, rows, panel, out) },
            _ => unreachable!("{product:?} is not summed in floats at {level:?}"),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn over_avx512(
        sums: &[[f32; LANES]],
        terms: &[f32],
        floors: &[f32; LANES],
        hit: &mut dyn FnMut(usize, usize, f32),
    ) {
        // SAFETY: called at levels that have the features only.
        unsafe { over_avx512::floats(sums, terms, floors, hit) }
    }
}

/// Whether this CPU has tiles for bytes and bfloat16 and the system lets this process use them. Asks
/// once.
#[cfg(target_arch = "x86_64")]
pub(crate) fn tiles_are_usable() -> bool {
    #[cfg(target_os = "linux")]
    return amx::permitted();
    #[cfg(not(target_os = "linux"))]
    false
}
