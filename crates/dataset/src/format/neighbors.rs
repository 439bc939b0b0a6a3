use super::flat_header::FlatHeader;
use super::texmex::check_records;
use super::{HEADER_BYTES, looks_like};
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

/// The distances `[queries, width]` of a file of ids and distances; `None` where its size leaves no
/// room for them.
pub(crate) fn flat_distances(bytes: &[u8], expected: usize) -> Option<Vec<f64>> {
    let header = FlatHeader::of(bytes, &[4, 8], |_, width| width == expected as u64)?;
    let ids = usize::try_from(header.body(4)?).ok()?;
    let distances = bytes.get(header.bytes.checked_add(ids)?..)?;
    // So many bytes of the file are distances.
    (ids > 0 && distances.len() == ids).then(|| {
        let words = distances.as_chunks::<4>().0.iter();
        words.map(|&d| f64::from(f32::from_le_bytes(d))).collect()
    })
}

/// Reads a whole file of ids, or of ids and distances: its size decides which. The distances are
/// left alone.
pub(crate) fn read_flat_ids(
    path: &Path,
    bytes: &[u8],
    expected: usize,
) -> Result<RawIds, DatasetError> {
    let Some(header) = FlatHeader::of(bytes, &[4, 8], |_, width| width == expected as u64) else {
        return Err(DatasetError::contents(
            path,
            "header",
            format!("{HEADER_BYTES} bytes, u32 queries and u32 neighbours"),
            format!("a file of {} bytes", bytes.len()),
            "the file is truncated: move it away and download it again",
        ));
    };
    let (queries, width) = (header.rows, header.width);
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
    // A header that the size does not bear out is a short one: products of 32 bits fit.
    let ids_alone = header.body(4).unwrap_or(u128::MAX);
    let with_distances = header.body(8).unwrap_or(u128::MAX);
    let body = (bytes.len() - header.bytes) as u128;
    if body != ids_alone && body != with_distances {
        let looks = looks_like(bytes)
            .map_or_else(String::new, |looks| format!(", which looks like {looks}"));
        return Err(DatasetError::contents(
            path,
            "size",
            format!(
                "{} bytes of ids, or {} of ids and distances, as the header says {queries} queries of {width} neighbours",
                ids_alone.saturating_add(header.bytes as u128),
                with_distances.saturating_add(header.bytes as u128),
            ),
            format!("{} bytes{looks}", bytes.len()),
            "the file is truncated, over-long or of another format: move it away and download it again, or correct the entry",
        ));
    }
    // The file holds so many bytes.
    let ids = bytes[header.bytes..header.bytes + ids_alone as usize]
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
