//! File layouts, all little-endian.

mod flat;
mod guess;
pub(crate) mod hdf5;
mod neighbors;
mod texmex;

use annbench_core::ElementType;
pub(crate) use flat::{HEADER_BYTES, check_flat, header};
pub(crate) use guess::looks_like;
pub(crate) use neighbors::{RawIds, read_flat_ids, read_ivecs};
use std::fmt;
pub(crate) use texmex::{check_texmex, record_bytes};

/// The layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Per vector: i32 d, then d f32.
    Fvecs,
    /// Per vector: i32 d, then d bytes.
    Bvecs,
    /// Per query: i32 k, then k i32 ids.
    Ivecs,
    /// u32 n, u32 d, then n * d f32.
    Fbin,
    /// u32 n, u32 d, then n * d bytes.
    U8bin,
    /// u32 queries, u32 k, then ids; with distances after them if the size says so.
    Ibin,
    /// The same as [`Format::Ibin`], as big-ann-benchmarks ships it.
    BigannTruth,
    /// A dataset inside an HDF5 file, as ann-benchmarks ships it.
    Hdf5,
}

impl Format {
    /// Every layout, in a fixed order.
    pub const ALL: [Format; 8] = [
        Format::Fvecs,
        Format::Bvecs,
        Format::Ivecs,
        Format::Fbin,
        Format::U8bin,
        Format::Ibin,
        Format::BigannTruth,
        Format::Hdf5,
    ];

    /// The word used in YAML.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Fvecs => "fvecs",
            Format::Bvecs => "bvecs",
            Format::Ivecs => "ivecs",
            Format::Fbin => "fbin",
            Format::U8bin => "u8bin",
            Format::Ibin => "ibin",
            Format::BigannTruth => "bigann_truth",
            Format::Hdf5 => "hdf5",
        }
    }

    /// The element type that the layout fixes.
    pub const fn element(self) -> Option<ElementType> {
        match self {
            Format::Fvecs | Format::Fbin => Some(ElementType::F32),
            Format::Bvecs | Format::U8bin => Some(ElementType::U8),
            Format::Ivecs | Format::Ibin | Format::BigannTruth | Format::Hdf5 => None,
        }
    }

    /// Whether vectors come in it.
    pub const fn holds_vectors(self) -> bool {
        matches!(self, Format::Hdf5) || self.element().is_some()
    }

    /// Whether neighbours come in it.
    pub const fn holds_truth(self) -> bool {
        self.element().is_none()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Bytes of a component of the element types that are read.
pub(crate) fn component_bytes(element: ElementType) -> usize {
    match element {
        ElementType::F32 => 4,
        _ => 1,
    }
}

/// The little-endian u32 at `offset`.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let word = bytes.get(offset..offset.checked_add(4)?)?;
    word.try_into().ok().map(u32::from_le_bytes)
}
