use crate::DatasetError;
use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What lies at a path where a file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lying {
    Nothing,
    File,
    /// Something that cannot be mapped, in words.
    Other(&'static str),
}

/// Looks at `path` without opening it: opening a FIFO waits for whoever writes into it.
pub(crate) fn lying_at(path: &Path) -> Result<Lying, DatasetError> {
    match path.metadata() {
        Ok(found) if found.is_file() => Ok(Lying::File),
        Ok(found) => Ok(Lying::Other(in_words(found.file_type()))),
        Err(error) if is_absence(&error) => match path.symlink_metadata() {
            Ok(_) => Ok(Lying::Other("a symbolic link to what is not there")),
            Err(_) => Ok(Lying::Nothing),
        },
        Err(error) => Err(DatasetError::io("look at", path, error)),
    }
}

/// Refuses what lies at `path` in place of a file.
pub(crate) fn not_a_file(path: &Path, found: &str) -> DatasetError {
    DatasetError::contents(
        path,
        "what lies there",
        "a regular file",
        found,
        "move it away and put the file itself there",
    )
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn in_words(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a named pipe (FIFO)"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "something that is neither file nor directory"
    }
}
