use super::claimed::{read_ids, refuse_other_shape};
use super::{Space, Truth, TruthOrigin};
use crate::catalogue::{Entry, TruthPart};
use crate::{DatasetError, MappedFile};

/// Reads shipped truth, checks every id, and computes its distances.
pub(crate) fn shipped_truth(
    entry: &Entry,
    part: &TruthPart,
    file: &MappedFile,
    space: &Space<'_>,
    pool: &rayon::ThreadPool,
) -> Result<Truth, DatasetError> {
    let m = space.queries.n();
    let raw = read_ids(entry, part, file)?;
    let rows = raw.ids.len() / raw.width.max(1);
    refuse_other_shape(entry, part, file, m, (rows, raw.width))?;
    let mut checked = CheckedIds {
        file,
        width: part.width,
        queries: m,
        n: space.base.n(),
        ids: Vec::new(),
        sorted: Vec::new(),
    };
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
