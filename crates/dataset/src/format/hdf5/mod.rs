//! Everything that touches the HDF5 library, which serialises its calls behind a global lock.

mod locate;
mod stored;

use super::{RawIds, component_bytes};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use annbench_core::ElementType;
use hdf5_metno::dataset::Layout;
use hdf5_metno::{Dataset, H5Type};
use locate::open_dataset;
use std::ops::Range;
use std::path::Path;
use stored::{StoredIds, stored_element, stored_ids};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 8 << 20;

/// A two-dimensional dataset of vectors that has passed its checks.
pub(crate) struct Hdf5Vectors<'p> {
    path: &'p Path,
    name: &'p str,
    dataset: Dataset,
    element: ElementType,
    dim: usize,
}

impl<'p> Hdf5Vectors<'p> {
    /// Opens the dataset that `part` names and checks type and shape against the entry.
    pub(crate) fn open(
        path: &'p Path,
        bytes: &[u8],
        part: &'p VectorsPart,
        element: ElementType,
        dim: usize,
    ) -> Result<Self, DatasetError> {
        let name = part.hdf5_dataset.as_deref().unwrap_or_default();
        let dataset = open_dataset(path, bytes, name)?;
        let found = stored_element(path, &dataset, name)?;
        if found != element {
            return Err(DatasetError::contents(
                path,
                format!("dataset `{name}`"),
                format!("values of type {element}, as the dataset entry says"),
                format!("values of type {found}"),
                "correct `element` in the dataset entry",
            ));
        }
        let (rows, width) = two_dimensions(path, &dataset, name)?;
        let rows_fit = rows == part.rows || part.take_first.is_some_and(|first| rows >= first);
        if width != dim || !rows_fit {
            return Err(DatasetError::contents(
                path,
                format!("dataset `{name}`"),
                format!("{} rows of {dim}, as the dataset entry says", part.rows),
                format!("{rows} rows of {width}"),
                "correct the dataset entry, or the file",
            ));
        }
        Ok(Self {
            path,
            name,
            dataset,
            element,
            dim,
        })
    }

    /// Where the first `n` rows lie in the file `bytes`, if they lie there as they are: contiguous,
    /// unfiltered, aligned.
    pub(crate) fn offset_in_place(
        &self,
        bytes: &[u8],
        n: usize,
    ) -> Result<Option<u64>, DatasetError> {
        if self.dataset.layout() != Layout::Contiguous || !self.dataset.filters().is_empty() {
            return Ok(None);
        }
        let Some(offset) = self.dataset.offset() else {
            return Ok(None);
        };
        let size = component_bytes(self.element);
        let row = self.dim * size;
        let Some(mapped) = usize::try_from(offset)
            .ok()
            .filter(|offset| offset.is_multiple_of(size))
            .and_then(|offset| bytes.get(offset..offset.checked_add(n.checked_mul(row)?)?))
        else {
            return Ok(None);
        };
        // The library has the last word on where the data lies (a user block shifts it).
        for i in [0, n - 1] {
            let mut same = false;
            self.read(i..i + 1, &mut |read| {
                same = read == &mapped[i * row..(i + 1) * row];
                Ok(())
            })?;
            if !same {
                return Ok(None);
            }
        }
        Ok(Some(offset))
    }

    /// Gives the bytes of rows `range` to `sink`, some rows at a time.
    pub(crate) fn read(
        &self,
        range: Range<usize>,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let step = (CHUNK_BYTES / (self.dim * component_bytes(self.element))).max(1);
        for start in range.clone().step_by(step) {
            let rows = start..range.end.min(start + step);
            match self.element {
                ElementType::F32 => sink(bytemuck::cast_slice(&self.values::<f32>(rows)?))?,
                _ => sink(&self.values::<u8>(rows)?)?,
            }
        }
        Ok(())
    }

    fn values<T: H5Type>(&self, rows: Range<usize>) -> Result<Vec<T>, DatasetError> {
        read_rows(self.path, &self.dataset, self.name, rows)
    }
}

/// Reads neighbours, i32 or i64, of exactly `queries` rows of `width`.
pub(crate) fn read_ids(
    path: &Path,
    bytes: &[u8],
    name: &str,
    queries: usize,
    width: usize,
) -> Result<RawIds, DatasetError> {
    let dataset = open_dataset(path, bytes, name)?;
    let stored = stored_ids(path, &dataset, name)?;
    let shape = two_dimensions(path, &dataset, name)?;
    if shape != (queries, width) {
        return Err(DatasetError::contents(
            path,
            format!("dataset `{name}`"),
            format!("{queries} queries of {width} neighbours, as the dataset entry says"),
            format!("{} of {}", shape.0, shape.1),
            "correct the dataset entry, or the file",
        ));
    }
    let rows = 0..queries;
    let ids = match stored {
        StoredIds::I32 => widen(read_rows::<i32>(path, &dataset, name, rows)?),
        StoredIds::U32 => widen(read_rows::<u32>(path, &dataset, name, rows)?),
        StoredIds::I64 => read_rows::<i64>(path, &dataset, name, rows)?,
    };
    Ok(RawIds { width, ids })
}

fn widen<T: Into<i64>>(ids: Vec<T>) -> Vec<i64> {
    ids.into_iter().map(Into::into).collect()
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
    Ok(array.into_iter().collect())
}

fn two_dimensions(
    path: &Path,
    dataset: &Dataset,
    name: &str,
) -> Result<(usize, usize), DatasetError> {
    let shape = dataset.shape();
    let (found, next) = match shape[..] {
        [rows, width] if rows > 0 && width > 0 => return Ok((rows, width)),
        [0, _] => ("it has no rows", "download the file again"),
        [_, _] => ("its rows have no values", "download the file again"),
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
        "the file may be truncated or damaged: download it again"
    };
    DatasetError::contents(
        path,
        place,
        "readable HDF5",
        format!("an error of the HDF5 library: {error}"),
        next,
    )
}
