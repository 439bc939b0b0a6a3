use crate::DownloadError;
use crate::state::{LARGEST, State};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A file that is not complete: `<file>.part`, held by one process at a time, and its state in
/// `<file>.part.json`.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    state: PathBuf,
    file: File,
}

impl Part {
    /// Opens or makes the part of `file`, and the folder that it belongs in.
    pub(crate) fn open(file: &Path) -> Result<Self, DownloadError> {
        let folder = file.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder).map_err(DownloadError::io("make the folder", folder))?;
        let path = beside(file, ".part");
        let opened = loop {
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(DownloadError::io("open", &path))?;
            match opened.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(DownloadError::Busy { part: path }),
                Err(TryLockError::Error(cause)) => {
                    return Err(DownloadError::io("lock", &path)(cause));
                }
            }
            // Another process may have completed it between the two steps: what is held then is no part
            // any more but the file, which must not be written.
            if is_at(&opened, &path).map_err(DownloadError::io("look at", &path))? {
                break opened;
            }
        };
        Ok(Self {
            state: beside(file, ".part.json"),
            path,
            file: opened,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The state that an earlier download left, if the part is as it says; else why it is of no use.
    pub(crate) fn state(&self) -> Result<Option<State>, String> {
        let facts = self.file.metadata().map_err(|error| error.to_string())?;
        state_in(&self.state, facts.len())
    }

    /// Bytes of the file system that it takes, which may be fewer than its length and more than its state
    /// says.
    pub(crate) fn taken(&self) -> Result<u64, DownloadError> {
        let facts = self.file.metadata();
        Ok(taken(
            &facts.map_err(DownloadError::io("look at", &self.path))?,
        ))
    }

    /// Empties the part and gives it its final length, without taking the space yet.
    pub(crate) fn reset(&self, total: u64) -> Result<(), DownloadError> {
        match std::fs::remove_file(&self.state) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DownloadError::io("remove", &self.state)(error));
            }
            _ => {}
        }
        self.file
            .set_len(0)
            .and_then(|()| self.file.set_len(total))
            .map_err(DownloadError::io("resize", &self.path))
    }

    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), DownloadError> {
        self.file
            .write_all_at(bytes, offset)
            .map_err(DownloadError::io("write", &self.path))
    }

    pub(crate) fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), DownloadError> {
        self.file
            .read_exact_at(bytes, offset)
            .map_err(DownloadError::io("read", &self.path))
    }

    /// Puts `state` in place of the one before. What it says is there is on the disk before it is.
    pub(crate) fn save(&self, state: &State) -> Result<(), DownloadError> {
        self.file
            .sync_data()
            .map_err(DownloadError::io("write out", &self.path))?;
        let new = beside(&self.state, ".new");
        let io = |cause| DownloadError::io("write", &self.state)(cause);
        let text = serde_json::to_vec(state).map_err(|error| io(error.into()))?;
        std::fs::write(&new, text).map_err(io)?;
        std::fs::rename(&new, &self.state).map_err(io)
    }

    /// Gives the part, which is complete and verified, its name.
    pub(crate) fn publish(self, file: &Path) -> Result<(), DownloadError> {
        self.file
            .sync_all()
            .map_err(DownloadError::io("write out", &self.path))?;
        std::fs::rename(&self.path, file).map_err(DownloadError::io("rename", &self.path))?;
        let _ = std::fs::remove_file(&self.state);
        sync_folder(file)
    }

    /// Removes the part and its state.
    pub(crate) fn discard(&self) -> Result<(), DownloadError> {
        self.reset(0)?;
        std::fs::remove_file(&self.path).map_err(DownloadError::io("remove", &self.path))
    }
}

/// What lies in the place of the part of `file`, as nobody holds it: its state, or why that is of no use,
/// and the bytes of the file system that it takes. Nothing where there is no part.
pub(crate) fn left_of(file: &Path) -> Option<(Result<Option<State>, String>, u64)> {
    let facts = beside(file, ".part").metadata().ok()?;
    let state = state_in(&beside(file, ".part.json"), facts.len());
    Some((state, taken(&facts)))
}

/// The state in the file `path`, if a part of `length` bytes is as it says.
fn state_in(path: &Path, length: u64) -> Result<Option<State>, String> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(file) => file
            .take(LARGEST)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?,
    };
    let state = State::parse(&bytes)?;
    if length != state.total {
        let total = state.total;
        return Err(format!(
            "the part has {length} bytes, its state says {total}"
        ));
    }
    Ok(Some(state))
}

fn taken(facts: &Metadata) -> u64 {
    /// The unit of `st_blocks`, whatever the file system's own blocks are.
    const BLOCK: u64 = 512;
    facts.blocks().saturating_mul(BLOCK)
}

/// Whether `path` names the file that is open.
fn is_at(open: &File, path: &Path) -> io::Result<bool> {
    let open = open.metadata()?;
    match path.metadata() {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// `path` with `suffix` behind its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the name of `file` last as its contents do.
fn sync_folder(file: &Path) -> Result<(), DownloadError> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(DownloadError::io("write out the folder", folder))
}
