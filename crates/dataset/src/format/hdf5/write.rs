//! HDF5 files as ann-benchmarks lays them out.

use crate::DatasetError;
use annbench_core::{ElementType, Metric};
use half::f16;
use hdf5_metno::types::VarLenUnicode;
use hdf5_metno::{Dataset, File, H5Type};
use ndarray::ArrayView2;
use std::io;
use std::path::Path;

/// A file that is being written.
pub(crate) struct Hdf5Out<'p> {
    path: &'p Path,
    file: File,
}

impl<'p> Hdf5Out<'p> {
    /// Makes the file, which must not exist, with the attributes of a set.
    pub(crate) fn create(
        path: &'p Path,
        metric: Metric,
        element: ElementType,
        dim: usize,
    ) -> Result<Self, DatasetError> {
        let file = File::create_excl(path).map_err(|error| failed(path, &error))?;
        let out = Self { path, file };
        out.text("distance", distance_word(metric))?;
        let sparse = element == ElementType::Sets;
        out.text("type", if sparse { "sparse" } else { "dense" })?;
        let point = match element {
            ElementType::Bits | ElementType::Sets => "bit",
            ElementType::U8 => "uint8",
            ElementType::I8 => "int8",
            _ => "float",
        };
        out.text("point_type", point)?;
        out.file
            .new_attr::<i64>()
            .create("dimension")
            .and_then(|attribute| attribute.write_scalar(&(dim as i64)))
            .map_err(|error| failed(path, &error))?;
        Ok(out)
    }

    fn text(&self, name: &str, value: &str) -> Result<(), DatasetError> {
        // A word of letters.
        let value: VarLenUnicode = value.parse().unwrap_or_default();
        self.file
            .new_attr::<VarLenUnicode>()
            .create(name)
            .and_then(|attribute| attribute.write_scalar(&value))
            .map_err(|error| failed(self.path, &error))
    }

    /// A table of `n` rows of `dim` components, which [`Hdf5Table::push`] fills.
    pub(crate) fn table(
        &self,
        name: &str,
        element: ElementType,
        n: usize,
        dim: usize,
    ) -> Result<Hdf5Table<'p>, DatasetError> {
        let shape = (n, dim);
        let dataset = match element {
            ElementType::F32 => self.file.new_dataset::<f32>().shape(shape).create(name),
            ElementType::F16 => self.file.new_dataset::<f16>().shape(shape).create(name),
            ElementType::I8 => self.file.new_dataset::<i8>().shape(shape).create(name),
            ElementType::U8 => self.file.new_dataset::<u8>().shape(shape).create(name),
            _ => self.file.new_dataset::<bool>().shape(shape).create(name),
        };
        Ok(Hdf5Table {
            path: self.path,
            dataset: dataset.map_err(|error| failed(self.path, &error))?,
            element,
            dim,
            row: 0,
        })
    }

    /// A table of `values` in rows of `width`.
    pub(crate) fn values<T: H5Type>(
        &self,
        name: &str,
        width: usize,
        values: &[T],
    ) -> Result<(), DatasetError> {
        let shape = (values.len() / width, width);
        self.file
            .new_dataset::<T>()
            .shape(shape)
            .create(name)
            .and_then(|dataset| dataset.write_raw(values))
            .map_err(|error| failed(self.path, &error))
    }

    /// A list of `values`.
    pub(crate) fn list(&self, name: &str, values: &[u32]) -> Result<(), DatasetError> {
        self.file
            .new_dataset::<u32>()
            .shape(values.len())
            .create(name)
            .and_then(|dataset| dataset.write_raw(values))
            .map_err(|error| failed(self.path, &error))
    }

    /// Brings everything to the disk.
    pub(crate) fn finish(self) -> Result<(), DatasetError> {
        let path = self.path;
        self.file.close().map_err(|error| failed(path, &error))?;
        std::fs::File::open(path)
            .and_then(|file| file.sync_all())
            .map_err(|cause| DatasetError::io("write", path, cause))
    }
}

/// A table that is filled row after row.
pub(crate) struct Hdf5Table<'p> {
    path: &'p Path,
    dataset: Dataset,
    element: ElementType,
    dim: usize,
    /// The first row that is not written.
    row: usize,
}

impl Hdf5Table<'_> {
    /// Writes the next rows, whose components' bytes are `bytes`; bits come packed.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), DatasetError> {
        match self.element {
            ElementType::F32 => self.write::<f32>(&bytemuck::pod_collect_to_vec(bytes)),
            ElementType::F16 => self.write::<f16>(&bytemuck::pod_collect_to_vec(bytes)),
            ElementType::I8 => self.write::<i8>(bytemuck::cast_slice(bytes)),
            ElementType::U8 => self.write::<u8>(bytes),
            _ => self.write::<bool>(&unpacked(bytes, self.dim)),
        }
    }

    fn write<T: H5Type>(&mut self, values: &[T]) -> Result<(), DatasetError> {
        let rows = values.len() / self.dim;
        let Ok(view) = ArrayView2::from_shape((rows, self.dim), values) else {
            unreachable!("whole rows of {}", self.dim);
        };
        self.dataset
            .write_slice(view, (self.row..self.row + rows, ..))
            .map_err(|error| failed(self.path, &error))?;
        self.row += rows;
        Ok(())
    }
}

/// A boolean for each of the `dim` bits of every row, the most significant of a byte first.
fn unpacked(bytes: &[u8], dim: usize) -> Vec<bool> {
    let rows = bytes.chunks_exact(dim.div_ceil(8));
    rows.flat_map(|row| (0..dim).map(|bit| row[bit / 8] >> (7 - bit % 8) & 1 == 1))
        .collect()
}

/// How ann-benchmarks calls the metric.
fn distance_word(metric: Metric) -> &'static str {
    match metric {
        Metric::L2 => "euclidean",
        Metric::InnerProduct => "ip",
        Metric::Cosine => "angular",
        metric => metric.name(),
    }
}

/// The library's words for what the system refused.
fn failed(path: &Path, error: &hdf5_metno::Error) -> DatasetError {
    DatasetError::io("write", path, io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_unpacked_row_by_row() {
        let bits = unpacked(&[0b1010_0000, 0b1000_0000, 0, 0], 9);
        let ones: Vec<usize> = (0..bits.len()).filter(|&i| bits[i]).collect();
        assert_eq!((bits.len(), ones), (18, vec![0, 2, 8]));
    }
}
