use crate::catalogue::EntryError;
use annbench_exact::ExactError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a dataset could not be opened or its truth not be had.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The catalogue entry is wrong.
    #[error("{0}")]
    Entry(Box<EntryError>),
    /// There is no such entry.
    #[error("no dataset `{name}` in {}; {}", root.display(), suggestion(nearest.as_deref(), known))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The catalogue directory.
        root: PathBuf,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// Every name there is.
        known: Vec<String>,
    },
    /// Files are not there.
    #[error("dataset {dataset}: {}", list_missing(files))]
    Missing {
        /// The dataset.
        dataset: String,
        /// Which, where they belong, where they come from.
        files: Vec<MissingFile>,
    },
    /// The system refused to read or write.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{0}")]
    Contents(Box<Contents>),
    /// A file is not the one that the catalogue knows.
    #[error(
        "{}: {what}: expected {expected}, found {found}; download the file again, or accept this one by name with --accept-checksum {dataset}, which is printed on every result",
        path.display()
    )]
    Checksum {
        /// The dataset.
        dataset: String,
        /// The file.
        path: PathBuf,
        /// What was hashed.
        what: &'static str,
        /// From the catalogue.
        expected: String,
        /// Of the file.
        found: String,
    },
    /// More neighbours are wanted than there are base rows.
    #[error("dataset {dataset}: k = {k} is more than its {n} base rows; ask for at most {n}")]
    TooManyNeighbors {
        /// The dataset.
        dataset: String,
        /// Neighbours wanted.
        k: usize,
        /// Base rows.
        n: usize,
    },
    /// More neighbours are wanted than the shipped truth has.
    #[error(
        "dataset {dataset}: k = {k} is more than the {width} neighbours per query of its shipped truth; ask for at most {width}, or leave `truth` out of a copy of the entry, and exact truth of that width is computed and kept"
    )]
    NarrowTruth {
        /// The dataset.
        dataset: String,
        /// Neighbours wanted.
        k: usize,
        /// Neighbours per query that are shipped.
        width: usize,
    },
    /// The exact engine refused.
    #[error("exact search: {0}")]
    Exact(ExactError),
    /// The caller's progress function asked to stop.
    #[error("cancelled; nothing half-done is kept")]
    Cancelled,
}

/// A file that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingFile {
    /// File name.
    pub file: String,
    /// Where it belongs.
    pub belongs: PathBuf,
    /// Where it comes from.
    pub url: Option<String>,
    /// Whether `url` is an archive that holds it among others.
    pub packed: bool,
}

/// What is wrong inside a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The file.
    pub path: PathBuf,
    /// Header, size, row, position.
    pub place: String,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// What to do about it.
    pub next: String,
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: expected {}, found {}; {}",
            self.path.display(),
            self.place,
            self.expected,
            self.found,
            self.next
        )
    }
}

impl DatasetError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        DatasetError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn contents(
        path: &Path,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        DatasetError::Contents(Box::new(Contents {
            path: path.to_owned(),
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
            next: next.into(),
        }))
    }
}

impl From<EntryError> for DatasetError {
    fn from(error: EntryError) -> Self {
        DatasetError::Entry(Box::new(error))
    }
}

impl From<ExactError> for DatasetError {
    fn from(error: ExactError) -> Self {
        match error {
            ExactError::Cancelled => DatasetError::Cancelled,
            other => DatasetError::Exact(other),
        }
    }
}

fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "it has none; add one as <name>.yaml".to_owned(),
        None => format!("known: {}", known.join(", ")),
    }
}

fn list_missing(files: &[MissingFile]) -> String {
    let lines: Vec<String> = files
        .iter()
        .map(|missing| {
            let how = match (&missing.url, missing.packed) {
                (Some(url), true) => format!("download {url}, unpack it and put the file at"),
                (Some(url), false) => format!("download {url} and put it at"),
                (None, _) => "no URL is known; it belongs at".to_owned(),
            };
            format!(
                "{} is missing; {how} {}",
                missing.file,
                missing.belongs.display()
            )
        })
        .collect();
    lines.join("\n  ")
}
