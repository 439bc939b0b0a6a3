//! Files that must stay what they were when they were looked at.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file as it was: another size, other times, another device or inode show that it was
/// changed or replaced. The change time cannot be set back by those who write to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    path: PathBuf,
    facts: [i64; 7],
}

impl FileState {
    /// The state of `path` now.
    ///
    /// # Errors
    /// Whatever `stat` says.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::opened(path, &std::fs::metadata(path)?))
    }

    /// The state of the file that was opened at `path` and had `metadata` before it was read: what is
    /// watched is then what was read, whatever lies at `path` by now.
    pub fn opened(path: &Path, metadata: &Metadata) -> Self {
        Self {
            path: path.to_owned(),
            facts: [
                metadata.len() as i64,
                metadata.dev() as i64,
                metadata.ino() as i64,
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ],
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is still the same.
    pub fn holds(&self) -> bool {
        Self::of(&self.path).is_ok_and(|now| now == *self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_is_watched_and_not_what_lies_there_later() {
        let name = |what| {
            let name = format!("annbench-{what}-{}", std::process::id());
            std::env::temp_dir().join(name)
        };
        let (path, other) = (name("opened"), name("later"));
        for file in [&path, &other] {
            std::fs::write(file, "bytes").unwrap();
        }
        let opened = std::fs::File::open(&path).unwrap().metadata().unwrap();
        assert!(FileState::opened(&path, &opened).holds());
        std::fs::rename(&other, &path).unwrap();
        assert!(!FileState::opened(&path, &opened).holds());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn an_edit_with_its_times_set_back_and_a_replacement_show() {
        let path = std::env::temp_dir().join(format!("annbench-unchanged-{}", std::process::id()));
        std::fs::write(&path, "before").unwrap();
        let state = FileState::of(&path).unwrap();
        assert!(state.holds());
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "after!").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        assert!(!state.holds());
        std::fs::remove_file(&path).unwrap();
        assert!(!state.holds());
    }
}
