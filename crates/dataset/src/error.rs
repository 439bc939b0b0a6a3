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
    Entry(EntryError),
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
    #[error("dataset {dataset}: {}", list_missing(files, fetch.as_deref()))]
    Missing {
        /// The dataset.
        dataset: String,
        /// Which, where they belong, where they come from.
        files: Vec<MissingFile>,
        /// The name, or the path of the entry, by which `annbench datasets fetch` brings some of them.
        fetch: Option<String>,
    },
    /// The system refused to read or write.
    #[error("cannot {action} {}: {cause}; {}", path.display(), next_step(cause.kind()))]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The cause. Not named `source`: the message holds it already, and whoever prints the chain
        /// of causes would print it twice.
        cause: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{0}")]
    Contents(Box<Contents>),
    /// A file is not the one that the catalogue knows.
    #[error(
        "{}: {what}: expected {expected}, found {found}; move it away and download it again (annbench datasets fetch {dataset}), or accept this one by name with --accept-checksum {dataset}, which is printed on every result",
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
    #[error("exact search in {}: {cause}", path.display())]
    Exact {
        /// The base.
        path: PathBuf,
        /// Why.
        cause: ExactError,
    },
    /// The caller's progress function asked to stop.
    #[error("cancelled; nothing half-done is kept, and what is finished is used again")]
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
    pub(crate) fn io(action: &'static str, path: &Path, cause: io::Error) -> Self {
        DatasetError::Io {
            action,
            path: path.to_owned(),
            cause,
        }
    }

    /// What the exact engine says of the base at `path`.
    pub(crate) fn exact(path: &Path, cause: ExactError) -> Self {
        match cause {
            ExactError::Cancelled => DatasetError::Cancelled,
            cause => DatasetError::Exact {
                path: path.to_owned(),
                cause,
            },
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
        DatasetError::Entry(error)
    }
}

fn next_step(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "check that the path exists",
        io::ErrorKind::PermissionDenied => "give this user access to it",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room there (everything under the datasets' .cache may be deleted) and repeat"
        }
        io::ErrorKind::FileTooLarge => {
            "raise this user's limit on the size of files (ulimit -f), or that of the file system"
        }
        io::ErrorKind::ReadOnlyFilesystem => "put the datasets directory where this user may write",
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            "a file lies where a directory belongs, or the other way round: move it away"
        }
        io::ErrorKind::AlreadyExists => "move away what lies there, for it is not a directory",
        _ => "check the path and the disk it is on, then repeat",
    }
}

/// Names that are listed in an error.
const LISTED: usize = 20;

fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "it has none; add one as <name>.yaml".to_owned(),
        None if known.len() <= LISTED => format!("known: {}", known.join(", ")),
        None => format!(
            "{} others are known: `annbench datasets list` shows them",
            known.len()
        ),
    }
}

fn list_missing(files: &[MissingFile], fetch: Option<&str>) -> String {
    let mut lines: Vec<String> = files
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
    if let Some(name) = fetch {
        lines.push(format!("or let `annbench datasets fetch {name}` do it"));
    }
    lines.join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_errors_say_what_to_do_and_their_cause_once() {
        for (kind, next) in [
            (io::ErrorKind::StorageFull, "make room"),
            (io::ErrorKind::PermissionDenied, "access"),
            (io::ErrorKind::NotFound, "exists"),
            (io::ErrorKind::Other, "repeat"),
        ] {
            let cause = io::Error::from(kind);
            let text = cause.to_string();
            let error = DatasetError::io("write", Path::new("/x/base.fbin"), cause);
            let shown = error.to_string();
            for word in ["cannot write", "/x/base.fbin", &text, next] {
                assert!(shown.contains(word), "`{word}` is not in: {shown}");
            }
            assert_eq!(shown.matches(&text).count(), 1);
            assert!(std::error::Error::source(&error).is_none());
        }
    }

    /// A message that holds its cause must not hand it out as a source too.
    #[test]
    fn no_error_tells_its_cause_twice() {
        let entry = EntryError::without_place(annbench_yaml::ErrorKind::Missing, "m");
        for error in [
            DatasetError::from(entry),
            DatasetError::exact(Path::new("base"), ExactError::NoNeighbors),
            DatasetError::contents(Path::new("f"), "p", "e", "f", "n"),
        ] {
            assert!(std::error::Error::source(&error).is_none(), "{error}");
        }
    }
}
