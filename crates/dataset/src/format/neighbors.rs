use super::texmex::check_records;
use super::{HEADER_BYTES, looks_like, u32_at};
use crate::DatasetError;
use std::path::Path;

/// Neighbours as a file has them: ids `[queries, width]`, not yet checked against a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawIds {
    pub(crate) width: usize,
    pub(crate) ids: Vec<i64>,
}

/// Reads a whole ivecs file, whose rows must all be of `width`.
pub(crate) fn read_ivecs(path: &Path, bytes: &[u8], width: usize) -> Result<RawIds, DatasetError> {
    check_records(path, bytes, "ivecs", width, 4)?;
    let ids = bytes
        .chunks_exact(4 + 4 * width)
        .flat_map(|record| record[4..].as_chunks::<4>().0)
        .map(|&id| i64::from(i32::from_le_bytes(id)))
        .collect();
    Ok(RawIds { width, ids })
}

/// Reads a whole file of ids, or of ids and distances: its size decides which. The distances are
/// left alone.
pub(crate) fn read_flat_ids(path: &Path, bytes: &[u8]) -> Result<RawIds, DatasetError> {
    let (Some(queries), Some(width)) = (u32_at(bytes, 0), u32_at(bytes, 4)) else {
        return Err(DatasetError::contents(
            path,
            "header",
            format!("{HEADER_BYTES} bytes, u32 queries and u32 neighbours"),
            format!("a file of {} bytes", bytes.len()),
            "the file is truncated: download it again",
        ));
    };
    if queries == 0 || width == 0 {
        let looks = looks_like(bytes).map_or_else(String::new, |looks| {
            format!("; the file looks like {looks}")
        });
        return Err(DatasetError::contents(
            path,
            "header",
            "queries and neighbours",
            format!("{queries} queries of {width} neighbours, no ids at all{looks}"),
            "download or make the file again, or correct `format` in the dataset entry",
        ));
    }
    let cells = u128::from(queries) * u128::from(width);
    let body = (bytes.len() - HEADER_BYTES) as u128;
    if body != cells * 4 && body != cells * 8 {
        let looks = looks_like(bytes)
            .map_or_else(String::new, |looks| format!(", which looks like {looks}"));
        return Err(DatasetError::contents(
            path,
            "size",
            format!(
                "{} bytes of ids, or {} of ids and distances, as the header says {queries} queries of {width} neighbours",
                cells * 4 + HEADER_BYTES as u128,
                cells * 8 + HEADER_BYTES as u128,
            ),
            format!("{} bytes{looks}", bytes.len()),
            "the file is truncated, over-long or of another format: download it again, or correct the entry",
        ));
    }
    // The file holds four bytes for each of them.
    let cells = cells as usize;
    let ids = bytes[HEADER_BYTES..HEADER_BYTES + 4 * cells]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&id| i64::from(u32::from_le_bytes(id)))
        .collect();
    Ok(RawIds {
        width: width as usize,
        ids,
    })
}
