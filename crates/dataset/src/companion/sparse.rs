use super::refused;
use crate::DatasetError;
use crate::format::u64_at;
use crate::mapped::MappedFile;
use std::path::Path;

const HEADER_BYTES: usize = 24;

/// Sparse rows `[n, dim]` as big-ann's `.spmat` and `.csr` files have them: rows, columns and values
/// (i64), where each row starts (i64, one more than rows), all columns (i32), all values (f32).
#[derive(Clone, Debug, PartialEq)]
pub struct SparseRows {
    dim: usize,
    /// Where each row starts, and where the last one ends.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseRows {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`DatasetError::Io`]; [`DatasetError::Contents`] where sizes, offsets, columns or values are not
    /// those of such a file.
    pub fn read(path: &Path) -> Result<Self, DatasetError> {
        Self::parse(&MappedFile::open(path)?)
    }

    pub(crate) fn parse(file: &MappedFile) -> Result<Self, DatasetError> {
        let path = file.path();
        let bytes = file.bytes();
        let header = [0, 8, 16].map(|at| u64_at(bytes, at).filter(|&size| size <= i64::MAX as u64));
        let [Some(rows), Some(dim), Some(values)] = header else {
            let found = format!("{} bytes that do not begin so", bytes.len());
            return Err(refused(
                path,
                "header",
                "rows, columns and values, i64".to_owned(),
                found,
            ));
        };
        let expected = HEADER_BYTES as u128 + 8 * (u128::from(rows) + 1) + 8 * u128::from(values);
        let columns_fit = dim > 0 && dim <= 1 << 31;
        if expected != bytes.len() as u128 || rows == 0 || !columns_fit {
            return Err(refused(
                path,
                "size",
                format!(
                    "{expected} bytes, as the header says {rows} rows of {dim} with {values} values"
                ),
                format!("{} bytes", bytes.len()),
            ));
        }
        // The file holds so many.
        let (rows, values) = (rows as usize, values as usize);
        let (starts, rest) = bytes[HEADER_BYTES..].split_at(8 * (rows + 1));
        let mut offsets = Vec::with_capacity(rows + 1);
        for (row, &start) in starts.as_chunks::<8>().0.iter().enumerate() {
            let least = offsets.last().copied().unwrap_or(0);
            let found = i64::from_le_bytes(start);
            let most = if row == 0 { 0 } else { values };
            match usize::try_from(found).ok() {
                Some(start) if start >= least && start <= most => offsets.push(start),
                _ => {
                    let expected = format!("a start from {least} to {most}");
                    return Err(refused(
                        path,
                        format!("row {row}"),
                        expected,
                        found.to_string(),
                    ));
                }
            }
        }
        if offsets.last() != Some(&values) {
            let found = format!("{:?}", offsets.last().unwrap_or(&0));
            return Err(refused(
                path,
                "end of the last row",
                values.to_string(),
                found,
            ));
        }
        let (columns, numbers) = rest.split_at(4 * values);
        let read = Self {
            dim: dim as usize,
            offsets,
            columns: columns
                .as_chunks()
                .0
                .iter()
                .map(|&c| u32::from_le_bytes(c))
                .collect(),
            values: numbers
                .as_chunks()
                .0
                .iter()
                .map(|&v| f32::from_le_bytes(v))
                .collect(),
        };
        read.check(path)?;
        Ok(read)
    }

    fn check(&self, path: &Path) -> Result<(), DatasetError> {
        let mut sorted = Vec::new();
        for row in 0..self.n() {
            let (columns, values) = self.row(row);
            let place = |at: usize| format!("row {row}, value {at}");
            if let Some(at) = columns.iter().position(|&c| c as usize >= self.dim) {
                let expected = format!("a column below {}", self.dim);
                return Err(refused(
                    path,
                    place(at),
                    expected,
                    (columns[at] as i32).to_string(),
                ));
            }
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                let found = values[at].to_string();
                return Err(refused(
                    path,
                    place(at),
                    "a finite number".to_owned(),
                    found,
                ));
            }
            sorted.clear();
            sorted.extend_from_slice(columns);
            sorted.sort_unstable();
            if let Some([column, _]) = sorted.array_windows().find(|[a, b]| a == b) {
                let found = format!("column {column} more than once");
                return Err(refused(
                    path,
                    format!("row {row}"),
                    "different columns".to_owned(),
                    found,
                ));
            }
        }
        Ok(())
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Columns and values of row `i`, as the file has them; there may be none.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}
