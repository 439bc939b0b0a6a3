use super::journal::{self, Tail};
use super::read::{read_plain, refuse_special};
use super::{LOCK_FILE, PARTIAL_PREFIX, RAW_DIR, RECORDS_FILE, REWRITE_FILE, StoreError};
use crate::{Record, SearchRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A run directory that this process alone may write.
///
/// The lock is the kernel's (`flock`): it ends with the process, however that ends.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    records: Vec<Record>,
    journal: File,
    /// Length of the journal up to the last whole line.
    whole_bytes: u64,
    /// Whether a failed append left bytes that could not be cut off.
    torn: bool,
    drafts: u64,
    opening: Opening,
    _lock: File,
}

/// What an earlier interruption had left and opening mended. All empty after a clean end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The file that now holds the torn last line, which was cut from the records.
    pub torn_line: Option<PathBuf>,
    /// Whether the last record lacked its newline and got it.
    pub completed_newline: bool,
    /// Half-written files and folders that were removed.
    pub removed: Vec<PathBuf>,
}

/// A folder for raw files that are still being written. Dropped before it is placed, it is removed.
#[derive(Debug)]
pub struct RawDraft {
    path: PathBuf,
    placed: bool,
}

impl RawDraft {
    /// The existing, empty folder, as an absolute path: a worker may run elsewhere.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RawDraft {
    fn drop(&mut self) {
        if !self.placed {
            // Best effort: what stays is removed the next time the run is opened.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Store {
    /// Opens `dir` for writing, creating it if need be, and mends what an interruption left: a torn
    /// last line is moved to `torn.<n>`, partial raw folders are removed.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process writes; [`StoreError::BadLine`] and
    /// [`StoreError::Newer`] when a whole line is no record; [`StoreError::Io`] naming path and
    /// operation otherwise. On an error nothing was changed but possibly the above.
    pub fn create_or_open(dir: &Path) -> Result<Self, StoreError> {
        let raw = dir.join(RAW_DIR);
        std::fs::create_dir_all(&raw).map_err(StoreError::io("create the directory", &raw))?;
        let lock = lock(dir)?;
        let path = dir.join(RECORDS_FILE);
        refuse_special(&path).map_err(StoreError::io("open", &path))?;
        let journal = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(StoreError::io("open for appending", &path))?;
        let bytes = read_plain(&path).map_err(StoreError::io("read", &path))?;
        let parsed = journal::parse(&path, &bytes)?;
        let mut store = Self {
            dir: dir.to_owned(),
            records: parsed.records,
            journal,
            whole_bytes: parsed.whole_bytes as u64,
            torn: false,
            drafts: 0,
            opening: Opening::default(),
            _lock: lock,
        };
        match parsed.tail {
            Tail::Clean => {}
            Tail::Unterminated => store.complete_newline()?,
            Tail::Torn => store.set_torn_line_aside(&bytes[parsed.whole_bytes..])?,
        }
        store.remove_partial()?;
        sync_dir(dir)?;
        Ok(store)
    }

    /// The run directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What opening found and mended.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// All records, in the order they were written.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The latest outcome word of every point; see [`super::finished_points`].
    pub fn finished_points(&self) -> BTreeMap<String, &'static str> {
        super::finished_points(&self.records)
    }

    /// The search records that count; see [`super::latest_searches`].
    pub fn latest_searches(&self) -> Vec<&SearchRecord> {
        super::latest_searches(&self.records)
    }

    /// Appends one line in one write and waits until it is on disk.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the disk is full or the like: the line's beginning is cut off again,
    /// earlier records stay, and a later append may succeed. [`StoreError::Unwritable`] for a record
    /// that holds a float that is no number.
    pub fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let path = self.dir.join(RECORDS_FILE);
        if self.torn {
            return Err(StoreError::Torn { path });
        }
        let line = journal::line(&path, record)?;
        if let Err(source) = self.write_through(&line) {
            self.torn = self.journal.set_len(self.whole_bytes).is_err();
            return Err(StoreError::io("append a record", &path)(source));
        }
        self.whole_bytes += line.len() as u64;
        self.records.push(record.clone());
        Ok(())
    }

    fn write_through(&mut self, line: &[u8]) -> io::Result<()> {
        self.journal.write_all(line)?;
        self.journal.sync_all()
    }

    /// Makes an empty folder for a point's raw files.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn begin_raw(&mut self) -> Result<RawDraft, StoreError> {
        let name = format!("{PARTIAL_PREFIX}{}", self.drafts);
        let path = self.dir.join(RAW_DIR).join(name);
        let path = std::path::absolute(&path).map_err(StoreError::io("resolve", &path))?;
        self.drafts += 1;
        std::fs::create_dir(&path).map_err(StoreError::io("create the directory", &path))?;
        Ok(RawDraft {
            path,
            placed: false,
        })
    }

    /// Gives a filled folder its place, to be called before the record that names it is appended.
    /// Returns the folder relative to the run directory, `/` between its parts.
    ///
    /// The place is `raw/<point_id>`, or `raw/<point_id>.<n>` from n = 2 on when an earlier record
    /// has its raw files there: nothing measured is overwritten. A folder that no record names was
    /// left by an interruption, and is replaced.
    ///
    /// # Errors
    /// [`StoreError::PointId`] and [`StoreError::Io`].
    pub fn place_raw(&mut self, mut draft: RawDraft, point_id: &str) -> Result<String, StoreError> {
        if point_id.len() != 64 || !point_id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(StoreError::PointId {
                found: point_id.to_owned(),
            });
        }
        let named: BTreeSet<&str> = self.records.iter().filter_map(raw_dir_of).collect();
        let mut place = format!("{RAW_DIR}/{point_id}");
        let mut attempt = 2;
        while named.contains(place.as_str()) {
            place = format!("{RAW_DIR}/{point_id}.{attempt}");
            attempt += 1;
        }
        let path = self.dir.join(&place);
        remove_if_there(&path)?;
        sync_dir(&draft.path)?;
        std::fs::rename(&draft.path, &path)
            .map_err(StoreError::io("move raw files into place", &path))?;
        draft.placed = true;
        sync_dir(&self.dir.join(RAW_DIR))?;
        Ok(place)
    }

    /// Replaces all records at once: either all of the new ones are there afterwards or all of the
    /// old ones.
    ///
    /// # Errors
    /// [`StoreError::Io`] and [`StoreError::Unwritable`]; the old records stay.
    pub fn replace_records(&mut self, records: Vec<Record>) -> Result<(), StoreError> {
        let path = self.dir.join(RECORDS_FILE);
        let rewrite = self.dir.join(REWRITE_FILE);
        let mut bytes = Vec::new();
        for record in &records {
            bytes.extend(journal::line(&path, record)?);
        }
        let journal = write_new(&rewrite, &bytes)
            .inspect_err(|_| {
                // Best effort: it is removed the next time the run is opened.
                let _ = std::fs::remove_file(&rewrite);
            })
            .map_err(StoreError::io("write", &rewrite))?;
        std::fs::rename(&rewrite, &path)
            .map_err(StoreError::io("move rewritten records into place", &path))?;
        self.journal = journal;
        self.whole_bytes = bytes.len() as u64;
        self.torn = false;
        self.records = records;
        sync_dir(&self.dir)
    }

    fn complete_newline(&mut self) -> Result<(), StoreError> {
        let path = self.dir.join(RECORDS_FILE);
        self.write_through(b"\n")
            .map_err(StoreError::io("end the last record", &path))?;
        self.whole_bytes += 1;
        self.opening.completed_newline = true;
        Ok(())
    }

    /// Keeps the torn bytes for whoever wants to look, then cuts them.
    fn set_torn_line_aside(&mut self, torn: &[u8]) -> Result<(), StoreError> {
        let mut number = 1;
        let aside = loop {
            let aside = self.dir.join(format!("torn.{number}"));
            match write_new(&aside, torn) {
                Ok(_) => break aside,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(StoreError::io("set the torn line aside", &aside)(error)),
            }
        };
        let path = self.dir.join(RECORDS_FILE);
        self.journal
            .set_len(self.whole_bytes)
            .and_then(|()| self.journal.sync_all())
            .map_err(StoreError::io("cut the torn line", &path))?;
        self.opening.torn_line = Some(aside);
        Ok(())
    }

    fn remove_partial(&mut self) -> Result<(), StoreError> {
        let raw = self.dir.join(RAW_DIR);
        let list = StoreError::io("list", &raw);
        let entries: Vec<_> = std::fs::read_dir(&raw)
            .and_then(Iterator::collect)
            .map_err(list)?;
        let partial = entries
            .iter()
            .filter(|e: &&std::fs::DirEntry| {
                e.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX)
            })
            .map(std::fs::DirEntry::path)
            .chain([self.dir.join(REWRITE_FILE)]);
        for path in partial {
            if remove_if_there(&path)? {
                self.opening.removed.push(path);
            }
        }
        Ok(())
    }
}

fn raw_dir_of(record: &Record) -> Option<&str> {
    match record {
        Record::Search(search) => search.measured.as_ref().map(|m| m.raw_dir.as_str()),
        Record::Run(_) | Record::Build(_) => None,
    }
}

fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK_FILE);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(StoreError::io("create the lock", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked {
            dir: dir.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(StoreError::io("lock", &path)(source)),
    }
}

/// Writes a file that must not exist yet (a rewrite that does was removed on opening), syncs it,
/// and leaves it open for appending.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .append(true)
        .create_new(true)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

fn remove_if_there(path: &Path) -> Result<bool, StoreError> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("remove", path)(error)),
    }
}

/// Makes names in a directory survive a power failure.
fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(StoreError::io("sync", dir))
}
