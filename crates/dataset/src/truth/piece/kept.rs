use super::facts::{LAYOUT, PieceFacts};
use super::{Piece, drawn};
use crate::DatasetError;
use crate::cache::Cache;
use annbench_core::{EMPTY_SLOT, npy};
use annbench_exact::{Candidate, Certified, Method, Neighbors, Proof, Status};
use std::path::{Path, PathBuf};

/// What the facts of a piece are called.
const FACTS: &str = "piece";

/// Says what is wrong with a piece.
pub(super) fn refused(
    path: &Path,
    place: &str,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> DatasetError {
    DatasetError::contents(
        path,
        place,
        expected,
        found,
        "the piece is damaged, unfinished or another's: copy it again, or search its rows again",
    )
}

impl Piece {
    /// Whether there are facts of a piece in `dir`.
    pub(crate) fn is_in(dir: &Path) -> bool {
        Cache::new(dir.to_owned()).path(FACTS, "json").exists()
    }

    /// Reads the piece in `dir`, finished or not, and compares every file with its checksum. What it says
    /// of distances is as the files have it.
    ///
    /// # Errors
    /// [`DatasetError::Contents`] with the file that is missing, damaged or of another layout.
    pub fn read(dir: &Path) -> Result<Self, DatasetError> {
        let mut read = Self::read_once(dir);
        // Whoever searches here may have written the next state, and removed this one, meanwhile.
        for _ in 0..2 {
            if read.is_ok() {
                break;
            }
            read = Self::read_once(dir);
        }
        read
    }

    fn read_once(dir: &Path) -> Result<Self, DatasetError> {
        let cache = Cache::new(dir.to_owned());
        let path = cache.path(FACTS, "json");
        let Some(facts) = cache.read::<PieceFacts>(&path) else {
            let found = match path.exists() {
                true => "other or damaged facts",
                false => "no such file",
            };
            return Err(refused(
                &path,
                "contents",
                "facts of a piece of truth",
                found,
            ));
        };
        if facts.layout != LAYOUT {
            return Err(refused(&path, "layout", LAYOUT, &facts.layout));
        }
        if !facts.is_possible() {
            let found = format!(
                "rows {} to {}, searched to {}, of {}; {} of {} queries; k = {}",
                facts.first_row,
                facts.end_row,
                facts.searched_end,
                facts.base_rows,
                facts.queries,
                facts.all_queries,
                facts.k
            );
            return Err(refused(
                &path,
                "contents",
                "a range of the base's rows",
                found,
            ));
        }
        let files = Files { dir, facts: &facts };
        let width = facts.width();
        let ids: Vec<u32> = files.read("ids", &[facts.queries, width + 1])?;
        let distances: Vec<f64> = files.read("distances", &[facts.queries, width + 1])?;
        let methods: Vec<u8> = files.read("method", &[facts.queries])?;
        let statuses: Vec<u8> = files.read("status", &[facts.queries])?;
        let shortlists: Vec<u64> = files.read("shortlist", &[facts.queries])?;
        let outside: Vec<f64> = files.read("outside", &[facts.queries])?;
        let asked: Vec<u32> = files.read("queries", &[facts.queries])?;
        if asked != drawn(facts.all_queries, facts.queries) {
            let path = files.path("queries");
            return Err(refused(
                &path,
                "contents",
                "the queries of the sample",
                "others",
            ));
        }
        let (mut kept_ids, mut kept_distances) = (Vec::new(), Vec::new());
        let (mut next, mut proofs) = (Vec::new(), Vec::new());
        for q in 0..facts.queries {
            let at = q * (width + 1);
            let row = &ids[at..at + width];
            let first = facts.first_row as u32;
            let own = |id: u32| {
                let row = id.checked_sub(first);
                row.filter(|&row| (row as usize) < facts.searched_end - facts.first_row)
            };
            for &id in row {
                let Some(id) = own(id) else {
                    let expected = format!(
                        "rows from {} to {}",
                        facts.first_row,
                        facts.searched_end - 1
                    );
                    let place = format!("row {q}");
                    return Err(refused(
                        &files.path("ids"),
                        &place,
                        expected,
                        id.to_string(),
                    ));
                };
                kept_ids.push(id);
            }
            kept_distances.extend_from_slice(&distances[at..at + width]);
            // There is a row after the last neighbour, unless all rows are neighbours.
            let after = ids[at + width];
            let all = width == facts.searched_end - facts.first_row;
            let Some(after) = own(after)
                .map(Some)
                .or((all && after == EMPTY_SLOT).then_some(None))
            else {
                let expected = "the row after the last neighbour";
                let place = format!("row {q}");
                return Err(refused(
                    &files.path("ids"),
                    &place,
                    expected,
                    after.to_string(),
                ));
            };
            next.push(after.map(|id| Candidate {
                distance: distances[at + width],
                id,
            }));
            let code = |name: &str, found: u8| {
                let expected = "a code that is known";
                refused(
                    &files.path(name),
                    &format!("row {q}"),
                    expected,
                    found.to_string(),
                )
            };
            let method = Method::ALL.get(usize::from(methods[q])).copied();
            let status = Status::ALL.get(usize::from(statuses[q])).copied();
            proofs.push(Proof::new(
                method.ok_or_else(|| code("method", methods[q]))?,
                usize::try_from(shortlists[q]).unwrap_or(usize::MAX),
                outside[q],
                status.ok_or_else(|| code("status", statuses[q]))?,
                width,
            ));
        }
        let found = Neighbors::from_kept(width, kept_ids, kept_distances)
            .and_then(|neighbors| Certified::new(neighbors, next, proofs));
        match found {
            Some(found) => Ok(Piece { facts, found }),
            None => Err(refused(&path, "contents", "a neighbour at least", "none")),
        }
    }

    /// Writes the piece into `dir`, over what is there of it: the facts come last, so that a write that
    /// is cut short leaves what was there.
    ///
    /// # Errors
    /// [`DatasetError::Io`].
    pub fn write(&mut self, dir: &Path) -> Result<(), DatasetError> {
        let cache = Cache::new(dir.to_owned());
        let found = &self.found;
        let (queries, width) = (self.facts.queries, self.facts.width());
        let first = self.facts.first_row as u32;
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        for q in 0..queries {
            let row = found.neighbors().row(q);
            let next = found.next(q);
            ids.extend(row.0.iter().map(|id| first + id));
            ids.push(next.map_or(EMPTY_SLOT, |next| first + next.id));
            distances.extend_from_slice(row.1);
            distances.push(next.map_or(f64::INFINITY, |next| next.distance));
        }
        let proofs = found.proofs();
        let code = |at: Option<usize>| at.unwrap_or(usize::from(u8::MAX)) as u8;
        let method = |proof: &Proof| code(Method::ALL.iter().position(|&m| m == proof.method));
        let status = |proof: &Proof| code(Status::ALL.iter().position(|&s| s == proof.status));
        let methods: Vec<u8> = proofs.iter().map(method).collect();
        let statuses: Vec<u8> = proofs.iter().map(status).collect();
        let shortlists: Vec<u64> = proofs.iter().map(|p| p.shortlist as u64).collect();
        let outside: Vec<f64> = proofs.iter().map(|p| p.outside).collect();
        self.facts.arrays.clear();
        let table = [queries, width + 1];
        let mut writing = Writing {
            cache: &cache,
            facts: &mut self.facts,
        };
        writing.array("ids", &table, &ids)?;
        writing.array("distances", &table, &distances)?;
        writing.array("method", &[queries], &methods)?;
        writing.array("status", &[queries], &statuses)?;
        writing.array("shortlist", &[queries], &shortlists)?;
        writing.array("outside", &[queries], &outside)?;
        let asked = drawn(writing.facts.all_queries, queries);
        writing.array("queries", &[queries], &asked)?;
        cache.write(FACTS, &self.facts)?;
        self.remove_older(dir);
        Ok(())
    }

    /// Removes the files of other states; what stays is no error, and is not read.
    fn remove_older(&self, dir: &Path) {
        let Ok(items) = std::fs::read_dir(dir) else {
            return;
        };
        for name in items.flatten().map(|item| item.file_name()) {
            let Some(name) = name.to_str().filter(|name| name.ends_with(".npy")) else {
                continue;
            };
            if is_array(name) && !self.facts.arrays.contains_key(name) {
                let _ = std::fs::remove_file(dir.join(name));
            }
        }
    }
}

const ARRAYS: [&str; 7] = [
    "ids",
    "distances",
    "method",
    "status",
    "shortlist",
    "outside",
    "queries",
];

/// Whether a piece may have written a file of this name.
fn is_array(name: &str) -> bool {
    let stem = name.trim_end_matches(".npy");
    let Some((array, state)) = stem.split_once('-') else {
        return false;
    };
    ARRAYS.contains(&array) && state.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// A state has names of its own, so that one is never mixed from two.
fn file_name(facts: &PieceFacts, array: &str) -> String {
    format!("{array}-{}-{}.npy", facts.k, facts.searched_end)
}

struct Writing<'w> {
    cache: &'w Cache,
    facts: &'w mut PieceFacts,
}

impl Writing<'_> {
    fn array<T: npy::NpyElement>(
        &mut self,
        array: &str,
        shape: &[usize],
        data: &[T],
    ) -> Result<(), DatasetError> {
        let name = file_name(self.facts, array);
        let mut sum = String::new();
        self.cache.create_by(&self.cache.file(&name), |temporary| {
            npy::write(temporary, shape, data)?;
            sum = checksum(&std::fs::read(temporary)?);
            Ok(())
        })?;
        self.facts.arrays.insert(name, sum);
        Ok(())
    }
}

fn checksum(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

struct Files<'f> {
    dir: &'f Path,
    facts: &'f PieceFacts,
}

impl Files<'_> {
    fn path(&self, array: &str) -> PathBuf {
        self.dir.join(file_name(self.facts, array))
    }

    fn read<T: npy::NpyElement>(
        &self,
        array: &str,
        shape: &[usize],
    ) -> Result<Vec<T>, DatasetError> {
        let name = file_name(self.facts, array);
        let path = self.dir.join(&name);
        // Reading a FIFO would wait.
        if !path.metadata().is_ok_and(|found| found.is_file()) {
            return Err(refused(
                &path,
                "contents",
                "an array of the piece",
                "no such file",
            ));
        }
        let bytes = std::fs::read(&path).map_err(|why| DatasetError::io("read", &path, why))?;
        let (expected, found) = (self.facts.arrays.get(&name), checksum(&bytes));
        if expected != Some(&found) {
            let expected = expected.map_or("to be named in the facts", String::as_str);
            return Err(refused(&path, "BLAKE3", expected, found));
        }
        let (is, data) = npy::read::<T>(&path)
            .map_err(|why| refused(&path, "contents", "an array", why.to_string()))?;
        if is != shape {
            let (expected, found) = (format!("{shape:?}"), format!("{is:?}"));
            return Err(refused(&path, "shape", expected, found));
        }
        Ok(data)
    }
}
