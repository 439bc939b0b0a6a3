use super::{Format, component_bytes, looks_like, u32_at};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use annbench_core::ElementType;
use std::path::Path;

/// u32 n, u32 d.
pub(crate) const HEADER_BYTES: usize = 8;

/// The header of a flat file of `n` rows.
pub(crate) fn header(n: u32, dim: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&n.to_le_bytes());
    bytes[4..].copy_from_slice(&dim.to_le_bytes());
    bytes
}

/// Checks a whole fbin or u8bin file `bytes` against what the entry says of it.
pub(crate) fn check_flat(
    path: &Path,
    bytes: &[u8],
    part: &VectorsPart,
    element: ElementType,
    dim: usize,
) -> Result<(), DatasetError> {
    let format = part.format;
    let (Some(n), Some(d)) = (u32_at(bytes, 0), u32_at(bytes, 4)) else {
        return Err(DatasetError::contents(
            path,
            "header",
            format!("{HEADER_BYTES} bytes, u32 rows and u32 components"),
            format!("a file of {} bytes", bytes.len()),
            "the file is truncated: download it again",
        ));
    };
    let (n, d) = (u64::from(n), u64::from(d));
    let (rows, dim) = (part.rows as u64, dim as u64);
    let said = format!("{n} rows of {d}");
    // 2^32 * 2^32 * 4 does not fit 64 bits.
    let body = u128::from(n) * u128::from(d) * component_bytes(element) as u128;
    let actual = (bytes.len() - HEADER_BYTES) as u128;
    if n == 0 || d == 0 {
        let looks = looks_like(bytes).filter(|looks| !looks.starts_with(format.name()));
        return Err(DatasetError::contents(
            path,
            "header",
            format!("{rows} rows of {dim}, as the dataset entry says"),
            looks.map_or_else(
                || format!("{said}, no vectors at all"),
                |looks| format!("{said}; the file looks like {looks}"),
            ),
            "download or make the file again, or correct `format` in the dataset entry",
        ));
    }
    let shape_fits = d == dim && (n == rows || part.take_first.is_some_and(|t| n >= t as u64));
    if body != actual {
        let other_format = looks_like(bytes).is_some_and(|looks| !looks.starts_with(format.name()));
        if shape_fits && !other_format {
            let whole = actual / (u128::from(d) * component_bytes(element) as u128);
            return Err(DatasetError::contents(
                path,
                "size",
                format!(
                    "{} bytes, as the header says {said}",
                    body + HEADER_BYTES as u128
                ),
                format!("{} bytes, {whole} whole rows", bytes.len()),
                if actual < body {
                    "the file is truncated: download it again"
                } else {
                    "the file is over-long: download it again"
                },
            ));
        }
        return Err(not_this_format(path, bytes, format, &said));
    }
    if shape_fits {
        return Ok(());
    }
    Err(DatasetError::contents(
        path,
        "header",
        format!("{rows} rows of {dim}, as the dataset entry says"),
        said,
        "this is another file, or the entry describes another: correct the one or the other",
    ))
}

fn not_this_format(path: &Path, bytes: &[u8], format: Format, said: &str) -> DatasetError {
    let looks = looks_like(bytes).map_or_else(
        || format!("{} bytes whose header would say {said}", bytes.len()),
        |looks| format!("what looks like {looks}"),
    );
    DatasetError::contents(
        path,
        "contents",
        format!("a file of format {format}"),
        looks,
        "correct `format` in the dataset entry, or the file",
    )
}
