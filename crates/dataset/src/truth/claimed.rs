use super::no_layout_of_neighbors;
use crate::catalogue::{Entry, TruthPart};
use crate::format::{
    Format, RawIds, flat_distances, hdf5, parquet, read_flat_ids, read_ivecs, read_npy_ids,
};
use crate::{DatasetError, MappedFile};

/// Shipped truth just as its file has it, nothing of it checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claimed {
    /// Neighbours per query.
    pub(crate) width: usize,
    /// Queries that the file has neighbours of.
    pub(crate) rows: usize,
    /// Queries that its own file of queries has, of which only the first may be used.
    pub(crate) whole: usize,
    /// Of the queries that are used, `[queries, width]`.
    pub(crate) ids: Vec<i64>,
    /// Of the same, where they are shipped.
    pub(crate) distances: Distances,
}

/// Shipped distances.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distances {
    /// There are none beside the ids.
    NotShipped,
    /// They cannot be read: the words say why.
    Unreadable(String),
    /// `[queries, width]`.
    Shipped(Vec<f64>),
}

impl Claimed {
    /// Ids of query `q`.
    pub(crate) fn row(&self, q: usize) -> &[i64] {
        &self.ids[q * self.width..(q + 1) * self.width]
    }

    /// Queries that are used.
    pub(crate) fn queries(&self) -> usize {
        self.ids.len() / self.width
    }
}

const OTHER_SHAPE: &str =
    "this is another file, or the entry describes another: correct the one or the other";

/// Reads all ids that the file of `part` has.
pub(super) fn read_ids(
    entry: &Entry,
    part: &TruthPart,
    file: &MappedFile,
) -> Result<RawIds, DatasetError> {
    let (path, bytes, width) = (file.path(), file.bytes(), part.width);
    match part.format {
        Format::Ivecs => read_ivecs(path, bytes, width),
        Format::Ibin | Format::BigannTruth => read_flat_ids(path, bytes, width),
        Format::Npy => read_npy_ids(path, bytes),
        Format::Hdf5 => {
            let name = part.hdf5_dataset.as_deref().unwrap_or_default();
            let mut ids = Vec::new();
            hdf5::read_ids(path, bytes, name, entry.queries.rows, width, &mut |some| {
                ids.extend_from_slice(some);
                Ok(())
            })?;
            Ok(RawIds { width, ids })
        }
        Format::Parquet => {
            let ids = parquet::read_ids(file, part, entry.queries.rows)?;
            Ok(RawIds { width, ids })
        }
        other => Err(no_layout_of_neighbors(path, other)),
    }
}

fn read_distances(entry: &Entry, part: &TruthPart, file: &MappedFile) -> Distances {
    match part.format {
        Format::Ibin | Format::BigannTruth => flat_distances(file.bytes(), part.width)
            .map_or(Distances::NotShipped, Distances::Shipped),
        Format::Hdf5 => {
            let name = part.hdf5_dataset.as_deref().unwrap_or_default();
            beside(file, name, entry.queries.rows, part.width)
        }
        _ => Distances::NotShipped,
    }
}

/// Refuses truth of other queries than those of the entry, the `queries` that are used or all of their file,
/// and of another width: nobody can tell whose its rows are.
pub(super) fn refuse_other_shape(
    entry: &Entry,
    part: &TruthPart,
    file: &MappedFile,
    queries: usize,
    (rows, width): (usize, usize),
) -> Result<(), DatasetError> {
    if width == part.width && (rows == queries || rows == entry.queries.rows) {
        return Ok(());
    }
    Err(DatasetError::contents(
        file.path(),
        "shape",
        format!(
            "{} queries of {} neighbours, as the dataset entry says",
            entry.queries.rows, part.width
        ),
        format!("{rows} of {width}"),
        OTHER_SHAPE,
    ))
}

/// Reads the file of `part` for the first `queries`; it may have more rows than anybody would use.
pub(crate) fn claimed_truth(
    entry: &Entry,
    part: &TruthPart,
    file: &MappedFile,
    queries: usize,
) -> Result<Claimed, DatasetError> {
    let raw = read_ids(entry, part, file)?;
    let rows = raw.ids.len() / raw.width.max(1);
    if rows < queries || raw.width != part.width {
        return Err(DatasetError::contents(
            file.path(),
            "shape",
            format!("{queries} queries of {} neighbours", part.width),
            format!("{rows} of {}", raw.width),
            OTHER_SHAPE,
        ));
    }
    let mut distances = read_distances(entry, part, file);
    let mut ids = raw.ids;
    ids.truncate(queries * raw.width);
    if let Distances::Shipped(all) = &mut distances {
        all.truncate(queries * raw.width);
    }
    Ok(Claimed {
        width: raw.width,
        rows,
        whole: entry.queries.rows,
        ids,
        distances,
    })
}

/// The distances that ann-benchmarks and VIBE keep beside the dataset `name`, which holds ids.
fn beside(file: &MappedFile, name: &str, queries: usize, width: usize) -> Distances {
    let Some(group) = name.strip_suffix("neighbors") else {
        return Distances::NotShipped;
    };
    let sibling = format!("{group}distances");
    match hdf5::read_distances(file.path(), file.bytes(), &sibling, queries, width) {
        Ok(Some(distances)) => Distances::Shipped(distances),
        Ok(None) => Distances::NotShipped,
        Err(why) => Distances::Unreadable(why.to_string()),
    }
}
