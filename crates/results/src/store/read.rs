use super::journal::{self, Tail};
use super::{RECORDS_FILE, StoreError};
use crate::{Record, SearchRecord};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// The records of a run directory, read without a lock: it may be being written.
#[derive(Debug)]
pub struct RunRecords {
    /// The run directory.
    pub dir: PathBuf,
    /// All records, in the order they were written.
    pub records: Vec<Record>,
    /// Bytes at the end of the file that are not, or not yet, a record. They were left out.
    pub torn_bytes: u64,
}

impl RunRecords {
    /// Reads `dir` and changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoRun`] without `records.jsonl`, [`StoreError::BadLine`] and
    /// [`StoreError::Newer`] with the line, [`StoreError::Io`] otherwise.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(RECORDS_FILE);
        let bytes = match read_plain(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NoRun {
                    dir: dir.to_owned(),
                });
            }
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        let journal = journal::parse(&path, &bytes)?;
        let torn_bytes = match journal.tail {
            Tail::Torn => bytes.len() - journal.whole_bytes,
            Tail::Clean | Tail::Unterminated => 0,
        };
        Ok(Self {
            dir: dir.to_owned(),
            records: journal.records,
            torn_bytes: torn_bytes as u64,
        })
    }

    /// The search records that count; see [`latest_searches`].
    pub fn latest_searches(&self) -> Vec<&SearchRecord> {
        latest_searches(&self.records)
    }
}

/// The contents of a plain file: reading anything else might wait, or never end.
pub(super) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    refuse_special(path)?;
    std::fs::read(path)
}

/// Refuses what is there but is no plain file.
pub(super) fn refuse_special(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "expected a plain file, found a folder, a pipe or a device",
        )),
        _ => Ok(()),
    }
}

/// The last search record of every point, in the order in which the points first appear. A point
/// that was repeated is replaced by its later record.
pub fn latest_searches(records: &[Record]) -> Vec<&SearchRecord> {
    let mut latest: Vec<&SearchRecord> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for record in records {
        let Record::Search(search) = record else {
            continue;
        };
        match places.get(search.point_id.as_str()) {
            Some(&place) => latest[place] = search,
            None => {
                places.insert(&search.point_id, latest.len());
                latest.push(search);
            }
        }
    }
    latest
}

/// The latest outcome word (ok, rejected, failed, skipped) of every point that has a record.
pub fn finished_points(records: &[Record]) -> BTreeMap<String, &'static str> {
    latest_searches(records)
        .into_iter()
        .map(|search| (search.point_id.clone(), search.outcome.word()))
        .collect()
}
