use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of one vector component, or of a set's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 half precision.
    F16,
    /// Signed byte.
    I8,
    /// Unsigned byte.
    U8,
    /// A bit, eight to a byte.
    Bits,
    /// A member of a set: a vector is the set of the components that are one.
    Sets,
}

impl ElementType {
    /// Every element type, in a fixed order.
    pub const ALL: [ElementType; 6] = [
        ElementType::F32,
        ElementType::F16,
        ElementType::I8,
        ElementType::U8,
        ElementType::Bits,
        ElementType::Sets,
    ];

    /// Bytes of a row of `dim` components; `None` for sets, whose rows differ in length.
    pub const fn row_bytes(self, dim: usize) -> Option<usize> {
        match self {
            ElementType::F32 => dim.checked_mul(4),
            ElementType::F16 => dim.checked_mul(2),
            ElementType::I8 | ElementType::U8 => Some(dim),
            ElementType::Bits => Some(dim.div_ceil(8)),
            ElementType::Sets => None,
        }
    }

    /// The word used in YAML, JSON and on plots.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::F32 => "f32",
            ElementType::F16 => "f16",
            ElementType::I8 => "i8",
            ElementType::U8 => "u8",
            ElementType::Bits => "bits",
            ElementType::Sets => "sets",
        }
    }

    /// Whether every value of `self` is exactly a value of `other`. Half precision holds every
    /// integer up to 2048.
    pub const fn widens_to(self, other: ElementType) -> bool {
        use ElementType::{Bits, F16, F32, I8, Sets, U8};
        matches!(
            (self, other),
            (F32, F32)
                | (F16, F16 | F32)
                | (I8, I8 | F16 | F32)
                | (U8, U8 | F16 | F32)
                | (Bits, Bits)
                | (Sets, Sets)
        )
    }

    /// Whether values are integers, so that sums of their products are exact.
    pub const fn is_integer(self) -> bool {
        !matches!(self, ElementType::F32 | ElementType::F16)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
