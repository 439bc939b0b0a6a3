//! Everything that touches the HDF5 library, which serialises its calls behind a global lock.

use super::RawIds;
use super::looks_like;
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use annbench_core::ElementType;
use hdf5_metno::dataset::Layout;
use hdf5_metno::datatype::ByteOrder;
use hdf5_metno::types::{FloatSize, IntSize, TypeDescriptor};
use hdf5_metno::{Dataset, File, H5Type};
use std::ops::Range;
use std::path::Path;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 8 << 20;

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A two-dimensional dataset of vectors that has passed its checks.
pub(crate) struct Hdf5Vectors<'p> {
    path: &'p Path,
    dataset: Dataset,
    element: ElementType,
    dim: usize,
}

impl<'p> Hdf5Vectors<'p> {
    /// Opens the dataset that `part` names and checks type and shape against the entry.
    pub(crate) fn open(
        path: &'p Path,
        bytes: &[u8],
        part: &VectorsPart,
        element: ElementType,
        dim: usize,
    ) -> Result<Self, DatasetError> {
        let name = part.hdf5_dataset.as_deref().unwrap_or_default();
        let dataset = open_dataset(path, bytes, name)?;
        let (found, next) = match type_of(path, &dataset, name)? {
            TypeDescriptor::Float(FloatSize::U4) => (Some(ElementType::F32), ""),
            TypeDescriptor::Unsigned(IntSize::U1) => (Some(ElementType::U8), ""),
            TypeDescriptor::Float(_) => (
                None,
                "only f32 and u8 vectors are read so far: store them as f32",
            ),
            _ => (None, "only f32 and u8 vectors are read so far"),
        };
        if found != Some(element) {
            let next = match found {
                Some(_) => "correct `element` in the dataset entry",
                None => next,
            };
            let found = dataset
                .dtype()
                .and_then(|dtype| dtype.to_descriptor())
                .map_or_else(|_| "another type".to_owned(), |found| found.to_string());
            return Err(DatasetError::contents(
                path,
                format!("dataset `{name}`"),
                format!("values of type {element}, as the dataset entry says"),
                found,
                next,
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
        let size = self.element.size_bytes();
        let row = self.dim * size;
        let Some(mapped) = usize::try_from(offset)
            .ok()
            .filter(|offset| offset.is_multiple_of(size))
            .and_then(|offset| bytes.get(offset..offset.checked_add(n.checked_mul(row)?)?))
        else {
            return Ok(None);
        };
        // The library has the last word on where the data lies (user blocks, external files).
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
        let step = (CHUNK_BYTES / (self.dim * self.element.size_bytes())).max(1);
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
        read_rows(self.path, &self.dataset, rows)
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
    let descriptor = type_of(path, &dataset, name)?;
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
    let ids = match descriptor {
        TypeDescriptor::Integer(IntSize::U4) => {
            widen(read_rows::<i32>(path, &dataset, 0..queries)?)
        }
        TypeDescriptor::Unsigned(IntSize::U4) => {
            widen(read_rows::<u32>(path, &dataset, 0..queries)?)
        }
        TypeDescriptor::Integer(IntSize::U8) => read_rows::<i64>(path, &dataset, 0..queries)?,
        other => {
            return Err(DatasetError::contents(
                path,
                format!("dataset `{name}`"),
                "neighbours of type int32, uint32 or int64",
                other.to_string(),
                "name the dataset that holds the neighbours' ids",
            ));
        }
    };
    Ok(RawIds { width, ids })
}

fn widen<T: Into<i64>>(ids: Vec<T>) -> Vec<i64> {
    ids.into_iter().map(Into::into).collect()
}

fn read_rows<T: H5Type>(
    path: &Path,
    dataset: &Dataset,
    rows: Range<usize>,
) -> Result<Vec<T>, DatasetError> {
    let place = format!("rows {} to {}", rows.start, rows.end);
    let array = dataset
        .read_slice_2d::<T, _>((rows, ..))
        .map_err(|error| unreadable(path, &place, &error))?;
    Ok(array.into_iter().collect())
}

fn open_dataset(path: &Path, bytes: &[u8], name: &str) -> Result<Dataset, DatasetError> {
    // A user block of 512 bytes or a larger power of two may come first.
    let signed = std::iter::once(0)
        .chain((9..30).map(|power| 1usize << power))
        .any(|at| {
            bytes
                .get(at..)
                .is_some_and(|rest| rest.starts_with(SIGNATURE))
        });
    if !signed {
        let looks = looks_like(bytes).map_or_else(
            || format!("{} bytes without its signature", bytes.len()),
            |looks| format!("what looks like {looks}"),
        );
        return Err(DatasetError::contents(
            path,
            "contents",
            "an HDF5 file",
            looks,
            "correct `format` in the dataset entry, or the file",
        ));
    }
    let file = File::open(path).map_err(|error| unreadable(path, "file", &error))?;
    if !file.link_exists(name) {
        let present = file
            .member_names()
            .map_err(|error| unreadable(path, "root group", &error))?;
        return Err(DatasetError::contents(
            path,
            "root group",
            format!("a dataset `{name}`"),
            if present.is_empty() {
                "none at all".to_owned()
            } else {
                format!("only {}", present.join(", "))
            },
            "name one of these as `dataset` in the dataset entry",
        ));
    }
    file.dataset(name)
        .map_err(|error| unreadable(path, &format!("dataset `{name}`"), &error))
}

fn type_of(path: &Path, dataset: &Dataset, name: &str) -> Result<TypeDescriptor, DatasetError> {
    let place = format!("dataset `{name}`");
    let dtype = dataset
        .dtype()
        .map_err(|error| unreadable(path, &place, &error))?;
    match dtype.byte_order() {
        ByteOrder::LittleEndian | ByteOrder::None => {}
        other => {
            let found = match other {
                ByteOrder::BigEndian => "big-endian ones",
                _ => "another byte order",
            };
            return Err(DatasetError::contents(
                path,
                place,
                "little-endian values",
                found,
                "only little-endian files are read so far: rewrite this one",
            ));
        }
    }
    dtype
        .to_descriptor()
        .map_err(|error| unreadable(path, &place, &error))
}

fn two_dimensions(
    path: &Path,
    dataset: &Dataset,
    name: &str,
) -> Result<(usize, usize), DatasetError> {
    let shape = dataset.shape();
    match shape[..] {
        [rows, width] if rows > 0 && width > 0 => Ok((rows, width)),
        _ => Err(DatasetError::contents(
            path,
            format!("dataset `{name}`"),
            "two dimensions, rows and values",
            format!("shape {shape:?}"),
            "name another `dataset` in the dataset entry",
        )),
    }
}

fn unreadable(path: &Path, place: &str, error: &hdf5_metno::Error) -> DatasetError {
    DatasetError::contents(
        path,
        place,
        "readable HDF5",
        format!("an error of the HDF5 library: {error}"),
        "the file may be truncated or damaged: download it again",
    )
}
