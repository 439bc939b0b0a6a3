use crate::DatasetError;
use std::path::PathBuf;
use thiserror::Error;

/// Why an entry could not be made for a user's files.
#[derive(Debug, Error)]
pub enum AddError {
    /// Something can be told neither by shape nor by content.
    #[error("{problem}: expected {expected}, found {found}; give {flag}")]
    Undecided {
        /// What cannot be told, and why.
        problem: String,
        /// What would tell.
        expected: String,
        /// What there is.
        found: String,
        /// The flag that tells, with its form.
        flag: String,
    },
    /// What a flag says is not so.
    #[error("{flag}: expected {expected}, found {found}; {next}")]
    Flag {
        /// The flag, as it was given.
        flag: String,
        /// What it should say.
        expected: String,
        /// What it says.
        found: String,
        /// What to do.
        next: String,
    },
    /// There is an entry of this name.
    #[error(
        "{}: expected no such entry yet, found one; nothing is ever overwritten: choose another name with --name, or remove it",
        path.display()
    )]
    Exists {
        /// The entry's file.
        path: PathBuf,
    },
    /// A file cannot be read, or the entry not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}
