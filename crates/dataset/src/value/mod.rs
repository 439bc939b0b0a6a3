//! From the values that a file holds to the components that its dataset has.
//!
//! A layout says how its values lie ([`ValueType`], a table of so many in a row); [`Fit`] says how
//! they become components, and is the only place that does.

mod bits;
mod fit;
mod narrow;
mod recode;
mod sets;

pub(crate) use fit::{Fit, Misfit, row_values};
pub(crate) use narrow::{Narrow, Narrowed, Number, each_number};
pub(crate) use recode::Recode;
pub(crate) use sets::write_sets;

use annbench_core::ElementType;
use std::fmt;

/// The type of a value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    F16,
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// A byte that is 0 or 1.
    Bool,
}

impl ValueType {
    pub(crate) const fn size(self) -> usize {
        match self {
            ValueType::I8 | ValueType::U8 | ValueType::Bool => 1,
            ValueType::F16 | ValueType::I16 | ValueType::U16 => 2,
            ValueType::F32 | ValueType::I32 | ValueType::U32 => 4,
            ValueType::F64 | ValueType::I64 | ValueType::U64 => 8,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            ValueType::F16 => "f16",
            ValueType::F32 => "f32",
            ValueType::F64 => "f64",
            ValueType::I8 => "i8",
            ValueType::U8 => "u8",
            ValueType::I16 => "i16",
            ValueType::U16 => "u16",
            ValueType::I32 => "i32",
            ValueType::U32 => "u32",
            ValueType::I64 => "i64",
            ValueType::U64 => "u64",
            ValueType::Bool => "bool",
        }
    }

    /// The element type whose components are such values.
    pub(crate) const fn element(self) -> Option<ElementType> {
        match self {
            ValueType::F16 => Some(ElementType::F16),
            ValueType::F32 => Some(ElementType::F32),
            ValueType::I8 => Some(ElementType::I8),
            ValueType::U8 => Some(ElementType::U8),
            _ => None,
        }
    }

    /// Whether values are integers that can be ids.
    pub(crate) const fn is_integer(self) -> bool {
        !matches!(
            self,
            ValueType::F16 | ValueType::F32 | ValueType::F64 | ValueType::Bool
        )
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
