use crate::DownloadError;
use crate::error::next_step;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a packed file could not be unpacked. No member has got its name then.
#[derive(Debug, Error)]
pub enum UnpackError {
    /// It is torn, or not what it is taken for.
    #[error(
        "{}: expected {expected}, found {found}; remove it and download it again",
        archive.display()
    )]
    Broken {
        /// The packed file.
        archive: PathBuf,
        /// What should have been there.
        expected: String,
        /// What was.
        found: String,
    },
    /// A member that no publisher of vectors has a use for: it leads out of the folder, or is a link, a
    /// device, or full of holes.
    #[error(
        "{}: member `{member}`: expected a file or a folder inside the archive, found {found}; do not use \
         this archive, and look where it comes from",
        archive.display()
    )]
    Unsafe {
        /// The packed file.
        archive: PathBuf,
        /// The member's name, as far as it can be shown.
        member: String,
        /// What it is.
        found: String,
    },
    /// More comes out than should.
    #[error(
        "{}: expected at most {most} unpacked bytes, found more; the archive is not the one that the \
         entry means, or made to fill a disk",
        archive.display()
    )]
    TooMuch {
        /// The packed file.
        archive: PathBuf,
        /// The bound.
        most: u64,
    },
    /// A wanted member is not in it.
    #[error(
        "{}: expected a member `{member}`, found {found}; look whether the publisher has replaced the \
         archive, and correct the entry",
        archive.display()
    )]
    Missing {
        /// The packed file.
        archive: PathBuf,
        /// The name.
        member: String,
        /// What there is instead.
        found: String,
    },
    /// A wanted member is not the expected file.
    #[error(
        "{}: member `{member}`: expected {expected}, found {found}; download the archive again; if it \
         stays so, the entry is wrong: report it",
        archive.display()
    )]
    Member {
        /// The packed file.
        archive: PathBuf,
        /// The name.
        member: String,
        /// Size or checksum of the entry.
        expected: String,
        /// That of the member.
        found: String,
    },
    /// What comes out is larger than what may still be written.
    #[error(
        "{}: expected {free} bytes or fewer to come out of it, which is what is free where they belong, \
         found {needed}; free space, or take another folder",
        archive.display()
    )]
    NoSpace {
        /// The packed file.
        archive: PathBuf,
        /// Bytes that would be written.
        needed: u64,
        /// Bytes that may be.
        free: u64,
    },
    /// The system refused to read or write.
    #[error("cannot {action} {}: {cause}; {}", path.display(), next_step(cause.kind()))]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// A member's place is being written by another process, or cannot be written.
    #[error("{0}")]
    Place(DownloadError),
    /// The caller's flag was set.
    #[error("{}: stopped while unpacking; run the same again", archive.display())]
    Interrupted {
        /// The packed file.
        archive: PathBuf,
    },
}
