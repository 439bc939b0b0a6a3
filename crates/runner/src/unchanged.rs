//! Files that must stay what they were when they were looked at.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file as it was: another size, other times or another inode show that it was changed or
/// replaced. The change time cannot be set back by those who write to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    path: PathBuf,
    facts: [i64; 6],
}

impl FileState {
    /// The state of `path` now.
    ///
    /// # Errors
    /// Whatever `stat` says.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = std::fs::metadata(path)?;
        Ok(Self {
            path: path.to_owned(),
            facts: [
                found.len() as i64,
                found.ino() as i64,
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
            ],
        })
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
