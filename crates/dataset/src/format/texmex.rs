use super::{component_bytes, looks_like, u32_at};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use annbench_core::ElementType;
use std::path::Path;

/// Bytes of one record: its width, then as many values of `size` bytes.
pub(crate) fn record_bytes(width: usize, size: usize) -> usize {
    4 + width * size
}

/// Checks a whole fvecs or bvecs file `bytes` against what the entry says of it, the dimension in
/// front of every row included.
pub(crate) fn check_texmex(
    path: &Path,
    bytes: &[u8],
    part: &VectorsPart,
    element: ElementType,
    dim: usize,
) -> Result<(), DatasetError> {
    let rows = check_records(
        path,
        bytes,
        part.format.name(),
        dim,
        component_bytes(element),
    )?;
    if rows == part.rows || part.take_first.is_some_and(|first| rows >= first) {
        return Ok(());
    }
    Err(DatasetError::contents(
        path,
        "size",
        format!("{} rows of {dim}, as the dataset entry says", part.rows),
        format!("{rows} rows in {} bytes", bytes.len()),
        if rows < part.rows {
            "the file is truncated, or the entry describes another: download it again"
        } else {
            "the file is over-long, or the entry describes another: download it again"
        },
    ))
}

/// Checks records of `width` values of `size` bytes, each preceded by its width; returns how many
/// there are.
pub(crate) fn check_records(
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
    let record = 4 + width * size;
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
            "the file is truncated: download it again",
        ));
    }
    Ok(rows)
}
