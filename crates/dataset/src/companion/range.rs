use super::refused;
use crate::DatasetError;
use crate::mapped::MappedFile;
use std::path::Path;

/// For every query, all base rows within a radius, as SSNPP's `.rangeres` files have them: queries and
/// results (i32), how many each query has (i32), all ids (i32), all distances (f32).
#[derive(Clone, Debug, PartialEq)]
pub struct RangeTruth {
    /// Where the results of each query start, and where the last ones end.
    offsets: Vec<usize>,
    ids: Vec<u32>,
    distances: Vec<f32>,
}

impl RangeTruth {
    /// Reads the file at `path`, of neighbours among `n` base rows.
    ///
    /// # Errors
    /// [`DatasetError::Io`]; [`DatasetError::Contents`] where sizes, counts, ids or distances are not
    /// those of such a file.
    pub fn read(path: &Path, n: usize) -> Result<Self, DatasetError> {
        Self::parse(&MappedFile::open(path)?, n)
    }

    pub(crate) fn parse(file: &MappedFile, n: usize) -> Result<Self, DatasetError> {
        let path = file.path();
        let bytes = file.bytes();
        let words = bytes.as_chunks::<4>().0;
        let count = |at: usize| {
            let word = words.get(at).map(|&word| i32::from_le_bytes(word))?;
            usize::try_from(word).ok()
        };
        let Some((queries, results)) = count(0).zip(count(1)) else {
            let found = format!("{} bytes that do not begin so", bytes.len());
            return Err(refused(path, "header", "two counts, i32".to_owned(), found));
        };
        // Two counts below 2^31.
        let expected = 8 + 4 * queries as u128 + 8 * results as u128;
        if expected != bytes.len() as u128 || queries == 0 {
            return Err(refused(
                path,
                "size",
                format!(
                    "{expected} bytes, as the header says {queries} queries with {results} results"
                ),
                format!("{} bytes", bytes.len()),
            ));
        }
        let mut offsets = vec![0];
        let mut end = 0usize;
        for query in 0..queries {
            let Some(own) = count(2 + query).filter(|own| own + end <= results) else {
                return Err(refused(
                    path,
                    format!("query {query}"),
                    format!(
                        "up to {} results, for there are {results} in all",
                        results - end
                    ),
                    i32::from_le_bytes(words[2 + query]).to_string(),
                ));
            };
            end += own;
            offsets.push(end);
        }
        if end != results {
            return Err(refused(
                path,
                "counts",
                format!("{results} results in all, as the header says"),
                format!("{end}, the sum over all queries"),
            ));
        }
        let (ids, distances) = words[2 + queries..].split_at(results);
        let truth = Self {
            offsets,
            ids: ids.iter().map(|&id| u32::from_le_bytes(id)).collect(),
            distances: distances.iter().map(|&d| f32::from_le_bytes(d)).collect(),
        };
        truth.check(path, n)?;
        Ok(truth)
    }

    fn check(&self, path: &Path, n: usize) -> Result<(), DatasetError> {
        let mut sorted = Vec::new();
        for query in 0..self.queries() {
            let (ids, distances) = self.row(query);
            let place = |at: usize| format!("query {query}, result {at}");
            if let Some(at) = ids.iter().position(|&id| id as usize >= n) {
                let expected = format!("an id below {n}, for the base has {n} rows");
                return Err(refused(
                    path,
                    place(at),
                    expected,
                    (ids[at] as i32).to_string(),
                ));
            }
            if let Some(at) = distances.iter().position(|d| !d.is_finite()) {
                let found = distances[at].to_string();
                return Err(refused(
                    path,
                    place(at),
                    "a finite distance".to_owned(),
                    found,
                ));
            }
            sorted.clear();
            sorted.extend_from_slice(ids);
            sorted.sort_unstable();
            if let Some([id, _]) = sorted.array_windows().find(|[a, b]| a == b) {
                let found = format!("id {id} more than once");
                return Err(refused(
                    path,
                    format!("query {query}"),
                    "different ids".to_owned(),
                    found,
                ));
            }
        }
        Ok(())
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Ids and distances of all rows within the radius of query `q`, as the file has them; there may be
    /// none.
    pub fn row(&self, q: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[q]..self.offsets[q + 1];
        (&self.ids[range.clone()], &self.distances[range])
    }
}
