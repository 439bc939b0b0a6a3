use super::table::{ByteRows, Rows, rows_fit};
use super::{Table, Wanted, looks_like, u32_at};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::value::{ValueType, row_values};
use std::path::Path;

/// The width in front of a row.
const PREFIX_BYTES: usize = 4;

/// Finds the values of a whole fvecs or bvecs file `bytes`, after a look at the dimension in front of
/// every row.
pub(super) fn find<'f>(
    path: &Path,
    bytes: &'f [u8],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
) -> Result<Table<'f>, DatasetError> {
    let value = part.format.value().unwrap_or(ValueType::U8);
    // Bits may come packed or one to a byte; the first row tells.
    let width = u32_at(bytes, 0)
        .map(|width| width as usize)
        .filter(|&width| wanted.takes(value, width))
        .unwrap_or_else(|| row_values(value, wanted.element, wanted.dim));
    let rows = check_records(path, bytes, part.format.name(), width, value.size())?;
    if !rows_fit(part, rows) {
        return Err(DatasetError::contents(
            path,
            "size",
            wanted.rows_in_words(part.rows, value),
            format!("{rows} rows in {} bytes", bytes.len()),
            if rows < part.rows {
                "the file is truncated, or the entry describes another: move it away and download it again"
            } else {
                "the file is over-long, or the entry describes another: move it away and download it again"
            },
        ));
    }
    Ok(Table {
        value,
        width,
        place: String::new(),
        rows: Rows::Bytes(ByteRows {
            bytes,
            start: PREFIX_BYTES,
            stride: PREFIX_BYTES + width * value.size(),
            swapped: false,
        }),
    })
}

/// How many records the file `bytes` is of, if it is nothing but records of `width` values of `size`
/// bytes.
pub(crate) fn texmex_rows(bytes: &[u8], width: usize, size: usize) -> Option<usize> {
    let record = width
        .checked_mul(size)
        .filter(|&values| values > 0)?
        .checked_add(PREFIX_BYTES)?;
    let rows = bytes.len() / record;
    let alike = |row: usize| u32_at(bytes, row * record).is_some_and(|w| w as usize == width);
    let is_whole = rows > 0 && bytes.len().is_multiple_of(record);
    (is_whole && (0..rows).all(alike)).then_some(rows)
}

/// Checks records of `width` values of `size` bytes, each preceded by its width; returns how many
/// there are.
pub(super) fn check_records(
    path: &Path,
    bytes: &[u8],
    format: &str,
    width: usize,
    size: usize,
) -> Result<usize, DatasetError> {
    if bytes.is_empty() {
        return Err(DatasetError::contents(
            path,
            "size",
            format!("rows of {width} values in the {format} layout"),
            "an empty file",
            "download or make the file again",
        ));
    }
    let record = PREFIX_BYTES + width * size;
    let rows = bytes.len() / record;
    for row in 0..rows.max(1) {
        let Some(found) = u32_at(bytes, row * record) else {
            break;
        };
        if found as usize == width {
            continue;
        }
        let (place, expected) = match row {
            0 => (
                "row 0".to_owned(),
                format!("{width} values, as the dataset entry says"),
            ),
            _ => (
                format!("row {row}"),
                format!("{width} values, like the rows before it"),
            ),
        };
        let looks = looks_like(bytes).filter(|looks| !looks.contains(format));
        let (found, next) = match looks {
            Some(looks) => (
                format!("{found}; the file looks like {looks}"),
                format!("correct `format: {format}` in the dataset entry, or the file"),
            ),
            None if found == 0 => (
                "0, a row of no values".to_owned(),
                "download or make the file again".to_owned(),
            ),
            None => (
                found.to_string(),
                format!(
                    "all rows of a {format} file are alike: correct the entry, or download or make the file again"
                ),
            ),
        };
        return Err(DatasetError::contents(path, place, expected, found, next));
    }
    if bytes.len() != rows * record || rows == 0 {
        return Err(DatasetError::contents(
            path,
            "size",
            format!("whole rows of {record} bytes"),
            format!(
                "{} bytes, that is {rows} rows and {} bytes more",
                bytes.len(),
                bytes.len() - rows * record
            ),
            "the file is truncated: move it away and download it again",
        ));
    }
    Ok(rows)
}
