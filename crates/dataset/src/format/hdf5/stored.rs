//! The types of values that are read, and what is said of every other.

use super::unreadable;
use crate::DatasetError;
use annbench_core::ElementType;
use hdf5_metno::datatype::ByteOrder;
use hdf5_metno::types::{FloatSize, IntSize, TypeDescriptor};
use hdf5_metno::{Dataset, Datatype};
use std::path::Path;

/// The types of neighbours that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredIds {
    I32,
    U32,
    I64,
}

/// The element type of vectors, if it is one that is read.
pub(super) fn stored_element(
    path: &Path,
    dataset: &Dataset,
    name: &str,
) -> Result<ElementType, DatasetError> {
    let stored = Stored::new(path, dataset, name)?;
    let element = match stored.descriptor {
        Ok(TypeDescriptor::Float(FloatSize::U4)) => stored.readable()?.then_some(ElementType::F32),
        Ok(TypeDescriptor::Unsigned(IntSize::U1)) => stored.readable()?.then_some(ElementType::U8),
        _ => None,
    };
    element.ok_or_else(|| {
        stored.refused(
            "vectors of type f32 or u8",
            "this version reads vectors of type f32 and u8 and supports no other: store them as f32 \
             or u8 in a copy of the file, or name another `dataset` in the dataset entry",
        )
    })
}

/// The type of neighbours, if it is one that is read.
pub(super) fn stored_ids(
    path: &Path,
    dataset: &Dataset,
    name: &str,
) -> Result<StoredIds, DatasetError> {
    let stored = Stored::new(path, dataset, name)?;
    let ids = match stored.descriptor {
        Ok(TypeDescriptor::Integer(IntSize::U4)) => stored.readable()?.then_some(StoredIds::I32),
        Ok(TypeDescriptor::Unsigned(IntSize::U4)) => stored.readable()?.then_some(StoredIds::U32),
        Ok(TypeDescriptor::Integer(IntSize::U8)) => stored.readable()?.then_some(StoredIds::I64),
        _ => None,
    };
    ids.ok_or_else(|| {
        stored.refused(
            "neighbours of type int32, uint32 or int64",
            "this version reads ids of these types and supports no other: name the dataset that \
             holds the neighbours' ids, or store them as int32 in a copy of the file",
        )
    })
}

/// The type of the values of a dataset.
struct Stored<'s> {
    path: &'s Path,
    name: &'s str,
    datatype: Datatype,
    // What the library makes of it, or why it makes nothing of it.
    descriptor: Result<TypeDescriptor, String>,
}

impl<'s> Stored<'s> {
    fn new(path: &'s Path, dataset: &Dataset, name: &'s str) -> Result<Self, DatasetError> {
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

    /// Whether the values are stored just as they lie in memory, which their class and size alone do
    /// not tell: a float may have another exponent, an integer unused bits.
    fn readable(&self) -> Result<bool, DatasetError> {
        if let Some(order) = self.foreign_order() {
            return Err(DatasetError::contents(
                self.path,
                self.place(),
                "little-endian values",
                format!("{order} ones"),
                "this version reads little-endian values only: rewrite the file",
            ));
        }
        Ok(self.is_native())
    }

    fn is_native(&self) -> bool {
        self.descriptor
            .as_ref()
            .is_ok_and(|known| Datatype::from_descriptor(known).is_ok_and(|t| t == self.datatype))
    }

    fn foreign_order(&self) -> Option<&'static str> {
        match self.datatype.byte_order() {
            ByteOrder::LittleEndian | ByteOrder::None => None,
            ByteOrder::BigEndian => Some("big-endian"),
            _ => Some("mixed-endian"),
        }
    }

    fn refused(&self, expected: &str, next: &str) -> DatasetError {
        use TypeDescriptor::{Float, Integer, Unsigned};
        let bytes = self.datatype.size();
        let found = match &self.descriptor {
            Ok(known @ (Float(_) | Integer(_) | Unsigned(_))) if !self.is_native() => {
                let order = self.foreign_order().unwrap_or("unusually arranged");
                format!("{order} {known}")
            }
            Ok(known) => known.to_string(),
            // The library names no float of two bytes.
            Err(why) if why.contains("float") => format!("float{}", bytes * 8),
            Err(why) => format!("values of {bytes} bytes that are not known ({why})"),
        };
        DatasetError::contents(self.path, self.place(), expected, found, next)
    }

    fn place(&self) -> String {
        format!("dataset `{}`", self.name)
    }
}
