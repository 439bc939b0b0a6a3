//! Everything that touches the HDF5 library, which serialises its calls behind a global lock.

mod attributes;
mod distances;
mod heap;
mod ids;
mod links;
mod list;
mod locate;
mod sets;
mod stored;
mod tables;
mod write;

use super::table::{Rows, TakeRows, rows_fit};
use super::{Table, Wanted};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::value::{Fit, Misfit, ValueType};
use attributes::{Inside, check_attributes};
pub(crate) use distances::read_distances;
use half::f16;
use hdf5_metno::dataset::Layout;
use hdf5_metno::{Dataset, H5Type};
pub(crate) use ids::read_ids;
pub(crate) use locate::is_hdf5;
use locate::{check_written, open_dataset};
pub(crate) use sets::Hdf5Sets;
use std::ops::Range;
use std::path::Path;
use stored::{Stored, VECTOR_TYPES};
pub(crate) use tables::list_tables;
pub(crate) use write::Hdf5Out;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 8 << 20;

/// The rows of a two-dimensional dataset.
pub(crate) struct Hdf5Rows<'f> {
    path: &'f Path,
    bytes: &'f [u8],
    name: String,
    dataset: Dataset,
    value: ValueType,
    /// Whether values lie in the file as they would in memory.
    native: bool,
    width: usize,
}

/// Finds the values of the dataset that `part` names.
pub(super) fn find<'f>(
    path: &'f Path,
    bytes: &'f [u8],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
    notes: &mut Vec<String>,
) -> Result<Table<'f>, DatasetError> {
    let name = part.hdf5_dataset.as_deref().unwrap_or_default();
    let place = format!("dataset `{name}`");
    let dataset = open_dataset(path, bytes, name)?;
    let stored = Stored::of(path, &dataset, name)?;
    let (value, native) = stored.number(VECTOR_TYPES)?;
    let (rows, width) = two_dimensions(path, &dataset, name)?;
    let fit = Fit::of(value, width, wanted.element, wanted.dim);
    if fit == Err(Misfit::Type) {
        return Err(DatasetError::contents(
            path,
            place,
            format!(
                "values for vectors of {}, as the dataset entry says",
                wanted.element
            ),
            format!("values of type {value}"),
            match value {
                ValueType::Bool => "write `element: bits` in the dataset entry".to_owned(),
                _ => "correct `element` in the dataset entry".to_owned(),
            },
        ));
    }
    if fit.is_err() || !rows_fit(part, rows) {
        return Err(DatasetError::contents(
            path,
            place,
            wanted.rows_in_words(part.rows, value),
            format!("{rows} rows of {width}"),
            "correct the dataset entry, or the file",
        ));
    }
    check_written(path, bytes, name, &dataset)?;
    check_attributes(
        (path, bytes),
        &dataset,
        wanted,
        Inside::Table { value, width },
        notes,
    )?;
    Ok(Table {
        value,
        width,
        place,
        rows: Rows::Hdf5(Hdf5Rows {
            path,
            bytes,
            name: name.to_owned(),
            dataset,
            value,
            native,
            width,
        }),
    })
}

impl Hdf5Rows<'_> {
    fn row_bytes(&self) -> usize {
        self.width * self.value.size()
    }

    /// Where the first `n` rows lie in the file, if they lie there as they are: contiguous,
    /// unfiltered, little-endian, aligned.
    pub(super) fn offset_in_place(&self, n: usize) -> Result<Option<u64>, DatasetError> {
        if !self.native
            || self.dataset.layout() != Layout::Contiguous
            || !self.dataset.filters().is_empty()
        {
            return Ok(None);
        }
        let Some(offset) = self.dataset.offset() else {
            return Ok(None);
        };
        let row = self.row_bytes();
        let Some(mapped) = usize::try_from(offset)
            .ok()
            .filter(|offset| offset.is_multiple_of(self.value.size()))
            .and_then(|offset| {
                self.bytes
                    .get(offset..offset.checked_add(n.checked_mul(row)?)?)
            })
        else {
            return Ok(None);
        };
        // The library has the last word on where the data lies (a user block shifts it).
        for i in [0, n - 1] {
            let mut same = false;
            self.read(i..i + 1, &mut |_, read| {
                same = read == &mapped[i * row..(i + 1) * row];
                Ok(())
            })?;
            if !same {
                return Ok(None);
            }
        }
        Ok(Some(offset))
    }

    /// Gives rows `range` to `take`, some at a time; the library turns big-endian values around.
    pub(super) fn read(&self, range: Range<usize>, take: TakeRows<'_>) -> Result<(), DatasetError> {
        let step = (CHUNK_BYTES / self.row_bytes()).max(1);
        for start in range.clone().step_by(step) {
            let rows = start..range.end.min(start + step);
            let mut give = |bytes: &[u8]| take(start, bytes);
            match self.value {
                ValueType::F16 => give(bytemuck::cast_slice(&self.values::<f16>(rows)?)),
                ValueType::F32 => give(bytemuck::cast_slice(&self.values::<f32>(rows)?)),
                ValueType::F64 => give(bytemuck::cast_slice(&self.values::<f64>(rows)?)),
                ValueType::I16 => give(bytemuck::cast_slice(&self.values::<i16>(rows)?)),
                ValueType::U16 => give(bytemuck::cast_slice(&self.values::<u16>(rows)?)),
                ValueType::I32 => give(bytemuck::cast_slice(&self.values::<i32>(rows)?)),
                ValueType::U32 => give(bytemuck::cast_slice(&self.values::<u32>(rows)?)),
                ValueType::I64 => give(bytemuck::cast_slice(&self.values::<i64>(rows)?)),
                ValueType::U64 => give(bytemuck::cast_slice(&self.values::<u64>(rows)?)),
                // As numbers, for a `bool` may be nothing else than 0 or 1, and a file may.
                ValueType::Bool | ValueType::I8 => {
                    give(bytemuck::cast_slice(&self.values::<i8>(rows)?))
                }
                ValueType::U8 => give(&self.values::<u8>(rows)?),
            }?;
        }
        Ok(())
    }

    fn values<T: H5Type>(&self, rows: Range<usize>) -> Result<Vec<T>, DatasetError> {
        read_rows(self.path, &self.dataset, &self.name, rows)
    }
}

fn read_rows<T: H5Type>(
    path: &Path,
    dataset: &Dataset,
    name: &str,
    rows: Range<usize>,
) -> Result<Vec<T>, DatasetError> {
    let place = format!("dataset `{name}`, rows {} to {}", rows.start, rows.end);
    let array = dataset
        .read_slice_2d::<T, _>((rows, ..))
        .map_err(|error| unreadable(path, &place, &error))?;
    // As it lies in memory, which is in the order of the rows; value by value takes several times as long.
    Ok(match (array.is_standard_layout(), array.len()) {
        (true, len) => match array.into_raw_vec_and_offset() {
            (values, Some(0)) if values.len() == len => values,
            (values, offset) => {
                let values = values.into_iter().skip(offset.unwrap_or(0));
                values.take(len).collect()
            }
        },
        (false, _) => array.into_iter().collect(),
    })
}

fn two_dimensions(
    path: &Path,
    dataset: &Dataset,
    name: &str,
) -> Result<(usize, usize), DatasetError> {
    let shape = dataset.shape();
    let (found, next) = match shape[..] {
        [rows, width] if rows > 0 && width > 0 => return Ok((rows, width)),
        [0, _] => ("it has no rows", "move it away and download it again"),
        [_, _] => (
            "its rows have no values",
            "move it away and download it again",
        ),
        [_] => (
            "it is one list",
            "name another `dataset` in the dataset entry; lists of sets' members are read with `element: sets`",
        ),
        _ => (
            "it is no table of rows",
            "name another `dataset` in the dataset entry",
        ),
    };
    Err(DatasetError::contents(
        path,
        format!("dataset `{name}`"),
        "two dimensions, rows and values",
        format!("shape {shape:?}: {found}"),
        next,
    ))
}

fn unreadable(path: &Path, place: &str, error: &hdf5_metno::Error) -> DatasetError {
    let error = error.to_string();
    let next = if error.contains("unable to lock file") {
        "another program has it open for writing, or its file system cannot lock: end that program, \
         or set HDF5_USE_FILE_LOCKING=FALSE"
    } else {
        "the file may be truncated or damaged: move it away and download it again"
    };
    DatasetError::contents(
        path,
        place,
        "readable HDF5",
        format!("an error of the HDF5 library: {error}"),
        next,
    )
}
