use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of one vector component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE 754 single precision.
    F32,
    /// Unsigned byte.
    U8,
}

impl ElementType {
    /// Every element type, in a fixed order.
    pub const ALL: [ElementType; 2] = [ElementType::F32, ElementType::U8];

    /// Size of one component in bytes.
    pub const fn size_bytes(self) -> usize {
        match self {
            ElementType::F32 => 4,
            ElementType::U8 => 1,
        }
    }

    /// The word used in YAML, JSON and on plots.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::F32 => "f32",
            ElementType::U8 => "u8",
        }
    }

    /// Whether every value of `self` is exactly a value of `other`.
    pub const fn widens_to(self, other: ElementType) -> bool {
        matches!(
            (self, other),
            (ElementType::U8, ElementType::F32)
                | (ElementType::U8, ElementType::U8)
                | (ElementType::F32, ElementType::F32)
        )
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
