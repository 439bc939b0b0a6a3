use super::{Space, Truth, TruthOrigin, no_layout_of_neighbors};
use crate::catalogue::{Entry, TruthPart};
use crate::format::{Format, hdf5, parquet, read_flat_ids, read_ivecs, read_npy_ids};
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
    let m = space.queries.n();
    let mut checked = CheckedIds {
        file,
        width: part.width,
        queries: m,
        n: space.base.n(),
        ids: Vec::new(),
        sorted: Vec::new(),
    };
    let raw = match part.format {
        Format::Ivecs => read_ivecs(path, bytes, part.width)?,
        Format::Ibin | Format::BigannTruth => read_flat_ids(path, bytes, part.width)?,
        Format::Npy => read_npy_ids(path, bytes)?,
        Format::Hdf5 => {
            let name = part.hdf5_dataset.as_deref().unwrap_or_default();
            let queries = entry.queries.rows;
            hdf5::read_ids(path, bytes, name, queries, part.width, &mut |ids| {
                checked.take(ids)
            })?;
            return Ok(checked.truth(space, pool));
        }
        Format::Parquet => {
            checked.take(&parquet::read_ids(file, part, entry.queries.rows)?)?;
            return Ok(checked.truth(space, pool));
        }
        other => return Err(no_layout_of_neighbors(path, other)),
    };
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
    checked.take(&raw.ids)?;
    Ok(checked.truth(space, pool))
}

/// Ids of the first queries, each of which names a row of the base and none of which comes twice.
struct CheckedIds<'c> {
    file: &'c MappedFile,
    width: usize,
    /// Those that are wanted; a file may have more.
    queries: usize,
    n: usize,
    ids: Vec<u32>,
    sorted: Vec<i64>,
}

impl CheckedIds<'_> {
    fn truth(self, space: &Space<'_>, pool: &rayon::ThreadPool) -> Truth {
        Truth::new(space, self.width, self.ids, TruthOrigin::Shipped, pool)
    }

    /// Checks some rows; those before them have been taken.
    fn take(&mut self, rows: &[i64]) -> Result<(), DatasetError> {
        for row in rows.chunks_exact(self.width) {
            let query = self.ids.len() / self.width;
            if query == self.queries {
                break;
            }
            self.take_row(query, row)?;
        }
        Ok(())
    }

    fn take_row(&mut self, query: usize, row: &[i64]) -> Result<(), DatasetError> {
        let (path, n) = (self.file.path(), self.n);
        for (position, &id) in row.iter().enumerate() {
            match u32::try_from(id) {
                Ok(id) if (id as usize) < n => self.ids.push(id),
                _ => {
                    return Err(DatasetError::contents(
                        path,
                        format!("query {query}, position {position}"),
                        format!("an id from 0 to {}, for the base has {n} rows", n - 1),
                        id.to_string(),
                        "this truth belongs to another base: every base and every slice of one needs its own",
                    ));
                }
            }
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(row);
        self.sorted.sort_unstable();
        match self.sorted.array_windows().find(|[a, b]| a == b) {
            None => Ok(()),
            Some([id, _]) => Err(DatasetError::contents(
                path,
                format!("query {query}"),
                format!("{} different ids", self.width),
                format!("id {id} more than once"),
                "the truth is damaged: download or compute it again",
            )),
        }
    }
}
