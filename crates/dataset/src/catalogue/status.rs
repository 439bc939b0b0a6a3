use super::{Entry, FileFacts};
use std::path::PathBuf;

/// A file of a dataset: what is known of it and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// File name as the entry gives it.
    pub file: String,
    /// What it holds: base, queries, truth, or what is beside them.
    pub roles: Vec<&'static str>,
    /// Size, checksum and URL.
    pub facts: FileFacts,
    /// Where it belongs when downloaded.
    pub belongs: PathBuf,
    /// Whether it is there.
    pub state: FileState,
}

/// Whether a file is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// In none of the places.
    Missing,
    /// There, with the size that the catalogue knows, if it knows one.
    Present {
        /// Where.
        path: PathBuf,
        /// Size.
        bytes: u64,
    },
    /// There, with another size than the catalogue knows. A slice cut from a larger file is so.
    OtherSize {
        /// Where.
        path: PathBuf,
        /// Size.
        bytes: u64,
    },
}

impl Entry {
    /// Every file of the dataset, each once, in the order base, queries, truth, and what is beside them.
    pub fn file_statuses(&self) -> Vec<FileStatus> {
        let mut statuses: Vec<FileStatus> = Vec::new();
        for (role, file) in self.opened_files().into_iter().chain(self.files_beside()) {
            match statuses.iter_mut().find(|status| status.file == *file) {
                Some(status) => status.roles.push(role),
                None => statuses.push(self.file_status(role, file)),
            }
        }
        statuses
    }

    fn file_status(&self, role: &'static str, file: &str) -> FileStatus {
        let facts = self.facts(file);
        let found = self.places.find(file).and_then(|path| {
            let bytes = path.metadata().ok()?.len();
            Some((path, bytes))
        });
        let state = match found {
            None => FileState::Missing,
            Some((path, bytes)) if facts.bytes.is_some_and(|known| known != bytes) => {
                FileState::OtherSize { path, bytes }
            }
            Some((path, bytes)) => FileState::Present { path, bytes },
        };
        FileStatus {
            file: file.to_owned(),
            roles: vec![role],
            belongs: self.places.belongs(file),
            facts,
            state,
        }
    }
}
