use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a run directory could not be read or written. Records that were appended before stay.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process is writing.
    #[error(
        "{}: another annbench is writing this run; wait until it ends or choose another --out",
        dir.display()
    )]
    Locked {
        /// The run directory.
        dir: PathBuf,
    },
    /// The system refused.
    #[error("{}: cannot {operation}: {cause}; {}", path.display(), next_step(cause))]
    Io {
        /// What was attempted.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said. Part of the text, hence no `source()` to be printed after it.
        cause: io::Error,
    },
    /// There are no records.
    #[error(
        "{}: expected a run directory with records.jsonl, found none; give the --out of a run",
        dir.display()
    )]
    NoRun {
        /// The directory.
        dir: PathBuf,
    },
    /// A line is no record.
    #[error(
        "{}:{line}: expected a record, found {found}; read it with the annbench that wrote it, restore it from a copy, or take it out: its point is then measured again",
        path.display()
    )]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A line says more than this version reads.
    #[error(
        "{}:{line}: {found}, which annbench {} does not know; use the annbench that wrote it, or a newer one",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The unknown kind or field.
        found: String,
    },
    /// A record cannot be written as JSON that reads back the same.
    #[error(
        "{}: a {kind} record does not survive being written: {reason}; this is a fault of annbench, please report it",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Kind of the record.
        kind: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An earlier write failed half-way and its remains could not be cut off.
    #[error(
        "{}: an earlier write failed half-way; run the same command again, which cuts the torn line off",
        path.display()
    )]
    Torn {
        /// The file.
        path: PathBuf,
    },
    /// A name that is no point id.
    #[error(
        "point id {found:?}: expected 64 hexadecimal digits; this is a fault of annbench, please report it"
    )]
    PointId {
        /// The name.
        found: String,
    },
}

impl StoreError {
    pub(super) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| StoreError::Io {
            operation,
            path: path.to_owned(),
            cause,
        }
    }
}

fn next_step(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "make room and run the same command again, it continues where it stopped"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a directory that you may write with --out, or change its permissions"
        }
        io::ErrorKind::InvalidInput
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists => {
            "choose another directory with --out, or remove what is there"
        }
        _ => "mend the cause and run the same command again, it continues where it stopped",
    }
}
