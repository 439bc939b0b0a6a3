use super::hdf5::Hdf5Rows;
use super::parquet::ParquetRows;
use crate::DatasetError;
use crate::catalogue::{Entry, VectorsPart};
use crate::value::{Fit, ValueType, row_values};
use annbench_core::{ElementType, Metric};
use std::path::Path;

/// Bytes that are handed on at once.
pub(super) const STEP_BYTES: usize = 8 << 20;

/// What an entry says of all its vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    pub(crate) dataset: &'w str,
    pub(crate) metric: Metric,
    pub(crate) element: ElementType,
    pub(crate) dim: usize,
    /// Whether numbers that the element type does not have are rounded.
    pub(crate) narrow: bool,
}

impl<'w> Wanted<'w> {
    pub(crate) fn of(entry: &'w Entry, narrow: bool) -> Self {
        Self {
            dataset: &entry.name,
            metric: entry.metric,
            element: entry.element,
            dim: entry.dim,
            narrow,
        }
    }

    /// Whether rows of `width` values become such vectors.
    pub(super) fn takes(&self, value: ValueType, width: usize) -> bool {
        Fit::of(value, width, self.element, self.dim).is_ok()
    }

    /// `rows` rows of values, in words.
    pub(super) fn rows_in_words(&self, rows: usize, value: ValueType) -> String {
        let width = row_values(value, self.element, self.dim);
        if width == self.dim {
            format!("{rows} rows of {width}, as the dataset entry says")
        } else {
            format!(
                "{rows} rows of {width} bytes, which hold {} bits, as the dataset entry says",
                self.dim
            )
        }
    }
}

/// Whether a file of `rows` is that of `part`, or one that was cut after the rows that it takes.
pub(super) fn rows_fit(part: &VectorsPart, rows: usize) -> bool {
    rows == part.rows || part.take_first.is_some_and(|first| rows >= first)
}

/// Rows of values that a file holds.
pub(crate) struct Table<'f> {
    pub(crate) value: ValueType,
    /// Values in a row.
    pub(crate) width: usize,
    /// Where in the file they lie, in words; "" where it holds nothing else.
    pub(crate) place: String,
    pub(super) rows: Rows<'f>,
}

pub(super) enum Rows<'f> {
    Bytes(ByteRows<'f>),
    Hdf5(Hdf5Rows<'f>),
    Parquet(ParquetRows<'f>),
}

/// Rows at equal distances. Whoever makes them has checked that all of them lie within `bytes`.
pub(super) struct ByteRows<'f> {
    /// The whole file.
    pub(super) bytes: &'f [u8],
    /// Where the first value lies.
    pub(super) start: usize,
    /// From one row to the next.
    pub(super) stride: usize,
    /// Whether values are big-endian.
    pub(super) swapped: bool,
}

/// Takes whole rows: the number of the first, and their values, little-endian.
pub(crate) type TakeRows<'t> = &'t mut dyn FnMut(usize, &[u8]) -> Result<(), DatasetError>;

impl Table<'_> {
    pub(super) fn row_bytes(&self) -> usize {
        self.width * self.value.size()
    }

    /// Where the first `n` rows start in the file, if they lie there as they would in memory: one
    /// after another, little-endian, aligned.
    pub(crate) fn offset_in_place(&self, n: usize) -> Result<Option<u64>, DatasetError> {
        match &self.rows {
            Rows::Bytes(rows) => {
                let in_place = !rows.swapped
                    && rows.stride == self.row_bytes()
                    && rows.start.is_multiple_of(self.value.size());
                Ok(in_place.then_some(rows.start as u64))
            }
            Rows::Hdf5(rows) => rows.offset_in_place(n),
            Rows::Parquet(_) => Ok(None),
        }
    }

    /// Hands the first `n` rows to `take`, some at a time; `scratch` is a folder for what memory does not
    /// take.
    pub(crate) fn read(
        &self,
        n: usize,
        scratch: &Path,
        take: TakeRows<'_>,
    ) -> Result<(), DatasetError> {
        match &self.rows {
            Rows::Bytes(rows) => rows.read(n, self.row_bytes(), self.value.size(), take),
            Rows::Hdf5(rows) => rows.read(0..n, take),
            Rows::Parquet(rows) => rows.read(n, scratch, take),
        }
    }
}

impl ByteRows<'_> {
    fn read(
        &self,
        n: usize,
        row_bytes: usize,
        size: usize,
        take: TakeRows<'_>,
    ) -> Result<(), DatasetError> {
        let step = (STEP_BYTES / row_bytes).max(1);
        let mut together = Vec::new();
        for first in (0..n).step_by(step) {
            together.clear();
            for row in first..n.min(first + step) {
                let start = self.start + row * self.stride;
                together.extend_from_slice(&self.bytes[start..start + row_bytes]);
            }
            if self.swapped {
                together.chunks_exact_mut(size).for_each(<[u8]>::reverse);
            }
            take(first, &together)?;
        }
        Ok(())
    }
}
