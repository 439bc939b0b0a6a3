//! The types of values that are read, and what is said of every other.

use super::unreadable;
use crate::DatasetError;
use crate::value::ValueType;
use hdf5_metno::datatype::ByteOrder;
use hdf5_metno::types::{FloatSize, IntSize, TypeDescriptor};
use hdf5_metno::{Dataset, Datatype};
use std::path::Path;

/// What a dataset is to hold, in words, and what to do where it does not.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    types: &'static str,
    next: &'static str,
}

/// For vectors.
pub(super) const VECTOR_TYPES: Expected = Expected {
    types: "vectors of f16, f32, f64, integers or booleans",
    next: "this version reads vectors of these types and supports no other: store them as f32 or u8 \
           in a copy of the file, or name another `dataset` in the dataset entry",
};

/// For neighbours, members of sets and their numbers.
const ID_TYPES: Expected = Expected {
    types: "integers of 8, 16, 32 or 64 bits",
    next: "this version reads ids of these types and supports no other: name the dataset that holds \
           the ids, or store them as int32 in a copy of the file",
};

/// Refuses ids, or how many there are, that are no integers.
pub(super) fn stored_ids(path: &Path, dataset: &Dataset, name: &str) -> Result<(), DatasetError> {
    let stored = Stored::of(path, dataset, name)?;
    match stored.number(ID_TYPES)? {
        (value, _) if value.is_integer() => Ok(()),
        _ => Err(stored.refused(ID_TYPES)),
    }
}

/// The type of the values of a dataset.
pub(super) struct Stored<'s> {
    path: &'s Path,
    name: &'s str,
    datatype: Datatype,
    // What the library makes of it, or why it makes nothing of it.
    descriptor: Result<TypeDescriptor, String>,
}

impl<'s> Stored<'s> {
    pub(super) fn of(
        path: &'s Path,
        dataset: &Dataset,
        name: &'s str,
    ) -> Result<Self, DatasetError> {
        let datatype = dataset
            .dtype()
            .map_err(|error| unreadable(path, &format!("dataset `{name}`"), &error))?;
        let descriptor = datatype.to_descriptor().map_err(|error| error.to_string());
        Ok(Self {
            path,
            name,
            datatype,
            descriptor,
        })
    }

    /// The type, and whether the values are stored just as they lie in memory, which their class and
    /// size alone do not tell: a float may have another exponent, an integer unused bits.
    pub(super) fn number(&self, expected: Expected) -> Result<(ValueType, bool), DatasetError> {
        use TypeDescriptor::{Boolean, Float, Integer, Unsigned};
        let value = match self.descriptor {
            Ok(Float(FloatSize::U2)) => ValueType::F16,
            Ok(Float(FloatSize::U4)) => ValueType::F32,
            Ok(Float(FloatSize::U8)) => ValueType::F64,
            Ok(Integer(IntSize::U1)) => ValueType::I8,
            Ok(Integer(IntSize::U2)) => ValueType::I16,
            Ok(Integer(IntSize::U4)) => ValueType::I32,
            Ok(Integer(IntSize::U8)) => ValueType::I64,
            Ok(Unsigned(IntSize::U1)) => ValueType::U8,
            Ok(Unsigned(IntSize::U2)) => ValueType::U16,
            Ok(Unsigned(IntSize::U4)) => ValueType::U32,
            Ok(Unsigned(IntSize::U8)) => ValueType::U64,
            Ok(Boolean) => ValueType::Bool,
            _ => return Err(self.refused(expected)),
        };
        match (self.is_native(), self.datatype.byte_order()) {
            (true, _) => Ok((value, true)),
            // The library turns them around.
            (false, ByteOrder::BigEndian) => Ok((value, false)),
            (false, _) => Err(self.refused(expected)),
        }
    }

    fn is_native(&self) -> bool {
        self.descriptor
            .as_ref()
            .is_ok_and(|known| Datatype::from_descriptor(known).is_ok_and(|t| t == self.datatype))
    }

    fn refused(&self, expected: Expected) -> DatasetError {
        use TypeDescriptor::{Float, Integer, Unsigned};
        let bytes = self.datatype.size();
        let found = match &self.descriptor {
            Ok(known @ (Float(_) | Integer(_) | Unsigned(_))) if !self.is_native() => {
                let order = match self.datatype.byte_order() {
                    ByteOrder::LittleEndian | ByteOrder::None => "unusually arranged",
                    ByteOrder::BigEndian => "big-endian",
                    _ => "mixed-endian",
                };
                format!("{order} {known}")
            }
            Ok(known) => known.to_string(),
            Err(why) if why.contains("float") => format!("float{}", bytes * 8),
            Err(why) => format!("values of {bytes} bytes that are not known ({why})"),
        };
        DatasetError::contents(
            self.path,
            format!("dataset `{}`", self.name),
            expected.types,
            found,
            expected.next,
        )
    }
}
