use crate::value::ValueType;
use annbench_core::ElementType;
use std::fmt;

/// The layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Per vector: i32 d, then d f32.
    Fvecs,
    /// Per vector: i32 d, then d bytes.
    Bvecs,
    /// Per query: i32 k, then k i32 ids.
    Ivecs,
    /// n, d (both u32, or both u64), then n * d f32.
    Fbin,
    /// n, d, then n * d f16.
    F16bin,
    /// n, d, then n * d signed bytes.
    I8bin,
    /// n, d, then n * d bytes.
    U8bin,
    /// Queries, k (both u32, or both u64), then ids; with distances after them if the size says so.
    Ibin,
    /// The same as [`Format::Ibin`], as big-ann-benchmarks ships it.
    BigannTruth,
    /// An array as NumPy saves it, in C order.
    Npy,
    /// A dataset inside an HDF5 file, as ann-benchmarks ships it.
    Hdf5,
    /// A column of a parquet file: lists of numbers, one to a row.
    Parquet,
}

impl Format {
    /// Every layout, in a fixed order.
    pub const ALL: [Format; 12] = [
        Format::Fvecs,
        Format::Bvecs,
        Format::Ivecs,
        Format::Fbin,
        Format::F16bin,
        Format::I8bin,
        Format::U8bin,
        Format::Ibin,
        Format::BigannTruth,
        Format::Npy,
        Format::Hdf5,
        Format::Parquet,
    ];

    /// The word used in YAML.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Fvecs => "fvecs",
            Format::Bvecs => "bvecs",
            Format::Ivecs => "ivecs",
            Format::Fbin => "fbin",
            Format::F16bin => "f16bin",
            Format::I8bin => "i8bin",
            Format::U8bin => "u8bin",
            Format::Ibin => "ibin",
            Format::BigannTruth => "bigann_truth",
            Format::Npy => "npy",
            Format::Hdf5 => "hdf5",
            Format::Parquet => "parquet",
        }
    }

    /// The type of its values, where the layout fixes it.
    pub(crate) const fn value(self) -> Option<ValueType> {
        match self {
            Format::Fvecs | Format::Fbin => Some(ValueType::F32),
            Format::F16bin => Some(ValueType::F16),
            Format::I8bin => Some(ValueType::I8),
            Format::Bvecs | Format::U8bin => Some(ValueType::U8),
            Format::Ivecs
            | Format::Ibin
            | Format::BigannTruth
            | Format::Npy
            | Format::Hdf5
            | Format::Parquet => None,
        }
    }

    /// Whether vectors of `element` come in it. Bits come packed in bytes.
    pub const fn holds(self, element: ElementType) -> bool {
        match self {
            Format::Fvecs | Format::Fbin => matches!(element, ElementType::F32),
            Format::F16bin => matches!(element, ElementType::F16),
            Format::I8bin => matches!(element, ElementType::I8),
            Format::Bvecs | Format::U8bin => {
                matches!(element, ElementType::U8 | ElementType::Bits)
            }
            Format::Npy => !matches!(element, ElementType::Sets),
            Format::Hdf5 => true,
            Format::Parquet => !matches!(element, ElementType::Bits | ElementType::Sets),
            Format::Ivecs | Format::Ibin | Format::BigannTruth => false,
        }
    }

    /// Whether vectors come in it.
    pub const fn holds_vectors(self) -> bool {
        !matches!(self, Format::Ivecs | Format::Ibin | Format::BigannTruth)
    }

    /// Whether sets are written in it.
    pub const fn is_written(self) -> bool {
        self.holds_vectors() && !matches!(self, Format::Parquet)
    }

    /// Whether a file of it holds several tables, each with a name.
    pub(crate) const fn has_names(self) -> bool {
        matches!(self, Format::Hdf5 | Format::Parquet)
    }

    /// Whether neighbours come in it.
    pub const fn holds_truth(self) -> bool {
        self.value().is_none()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
