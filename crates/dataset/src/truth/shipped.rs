use super::{Space, Truth, TruthOrigin};
use crate::catalogue::{Entry, TruthPart};
use crate::format::{Format, RawIds, hdf5, read_flat_ids, read_ivecs};
use crate::{DatasetError, MappedFile};

/// Reads shipped truth, checks every id, and computes its distances.
pub(crate) fn shipped_truth(
    entry: &Entry,
    part: &TruthPart,
    file: &MappedFile,
    space: &Space<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Truth, DatasetError> {
    let (path, bytes) = (file.path(), file.bytes());
    let raw = match part.format {
        Format::Ivecs => read_ivecs(path, bytes, part.width)?,
        Format::Ibin | Format::BigannTruth => read_flat_ids(path, bytes)?,
        Format::Hdf5 => hdf5::read_ids(
            path,
            bytes,
            part.hdf5_dataset.as_deref().unwrap_or_default(),
            entry.queries.rows,
            part.width,
        )?,
        _ => {
            return Err(DatasetError::contents(
                path,
                "format",
                "a layout of neighbours",
                part.format.name(),
                "correct `format` in the dataset entry",
            ));
        }
    };
    let m = space.queries.n();
    let rows = raw.ids.len() / raw.width;
    if raw.width != part.width || (rows != m && rows != entry.queries.rows) {
        return Err(DatasetError::contents(
            path,
            "shape",
            format!(
                "{} queries of {} neighbours, as the dataset entry says",
                entry.queries.rows, part.width
            ),
            format!("{rows} of {}", raw.width),
            "this is another file, or the entry describes another: correct the one or the other",
        ));
    }
    let ids = check_ids(file, &raw, m, space.base.n())?;
    Ok(Truth::new(
        space,
        raw.width,
        ids,
        TruthOrigin::Shipped,
        pool,
    ))
}

/// The ids of the first `m` queries, if each names a row of the base and none comes twice.
fn check_ids(
    file: &MappedFile,
    raw: &RawIds,
    m: usize,
    n: usize,
) -> Result<Vec<u32>, DatasetError> {
    let mut ids = Vec::with_capacity(m * raw.width);
    let mut sorted = Vec::with_capacity(raw.width);
    for (query, row) in raw.ids.chunks_exact(raw.width).take(m).enumerate() {
        for (position, &id) in row.iter().enumerate() {
            match u32::try_from(id) {
                Ok(id) if (id as usize) < n => ids.push(id),
                _ => {
                    return Err(DatasetError::contents(
                        file.path(),
                        format!("query {query}, position {position}"),
                        format!("an id from 0 to {}, for the base has {n} rows", n - 1),
                        id.to_string(),
                        "this truth belongs to another base: every base and every slice of one needs its own",
                    ));
                }
            }
        }
        sorted.clear();
        sorted.extend_from_slice(row);
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(DatasetError::contents(
                file.path(),
                format!("query {query}"),
                format!("{} different ids", raw.width),
                format!("id {} more than once", pair[0]),
                "the truth is damaged: download or compute it again",
            ));
        }
    }
    Ok(ids)
}
