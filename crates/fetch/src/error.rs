use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Why a file could not be downloaded. What came is kept beside its place, for the next time.
#[derive(Debug, Error)]
pub enum DownloadError {
    /// No source gave it.
    #[error("{} was not downloaded:{}", file.display(), listed(failures))]
    Sources {
        /// The file.
        file: PathBuf,
        /// What each source did, in order.
        failures: Vec<SourceError>,
    },
    /// It is larger than what may still be written.
    #[error(
        "{url}: expected {free} bytes or fewer, which is what is free where {} belongs, found {needed}; \
         free space, or take another folder",
        file.display()
    )]
    NoSpace {
        /// Where it comes from.
        url: String,
        /// The file.
        file: PathBuf,
        /// Bytes that are still to come.
        needed: u64,
        /// Bytes that may be written.
        free: u64,
    },
    /// Another process is downloading it.
    #[error(
        "{}: expected to be the only one who writes it, found it locked by another process; wait until \
         that one has ended",
        part.display()
    )]
    Busy {
        /// The part file.
        part: PathBuf,
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
    /// The caller's flag was set.
    #[error(
        "{}: stopped after {done} of {total} bytes, which are kept; the same again goes on from there",
        file.display()
    )]
    Interrupted {
        /// The file.
        file: PathBuf,
        /// Bytes there.
        done: u64,
        /// Bytes in all; 0 when no source had answered.
        total: u64,
    },
}

impl DownloadError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io {
            action,
            path,
            cause,
        }
    }

    /// Whether every source was out of reach, as it is without a network.
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Sources { failures, .. } => failures
                .iter()
                .all(|failure| failure.trouble == Trouble::Unreachable),
            _ => false,
        }
    }
}

/// What a source did instead of giving the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// Where.
    pub url: String,
    /// The kind of it.
    pub trouble: Trouble,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// Attempts that were made.
    pub attempts: u32,
    /// For how long the server asked to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

/// What can be wrong with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No connection: no such host, refused, no route, no network.
    Unreachable,
    /// The connection cannot be trusted.
    Tls,
    /// The server says no, with a status of its protocol.
    Refused(u16),
    /// The server cannot now, with a status of its protocol.
    Unable(u16),
    /// The connection ended before everything had come.
    Cut,
    /// Nothing, or next to nothing, came for too long.
    Stalled,
    /// Redirects without end, from `https` to `http`, or to another scheme.
    Redirect,
    /// An answer that is none to what was asked.
    Protocol,
    /// The server gives the whole file where a part of it was asked for.
    NoRanges,
    /// The file became another while it was downloaded.
    Changed,
    /// The server has a file of another size.
    OtherSize,
    /// Nobody says how large the file is, so that its end cannot be told.
    NoSize,
    /// A web page in place of the file.
    Page,
    /// The file to cut begins otherwise.
    OtherHeader,
    /// All of it came, but it is not the expected file.
    OtherChecksum,
}

impl Trouble {
    /// Whether another attempt may succeed. A server out of reach is tried again only where it has
    /// answered before, which the caller knows.
    pub(crate) fn may_pass(self) -> bool {
        matches!(self, Self::Unable(_) | Self::Cut | Self::Stalled)
    }

    fn next(self) -> &'static str {
        match self {
            Self::Unreachable => {
                "connect this machine, or copy the file from one that is connected"
            }
            Self::Tls => {
                "correct this machine's clock, or look at who answers in the server's name"
            }
            Self::Refused(401 | 403) => {
                "look whether the publisher asks for an account or a browser, or name another source"
            }
            Self::Refused(404 | 410 | 550) => {
                "look where the publisher has moved it, or name another source"
            }
            Self::Refused(_) => "look at the URL, or name another source",
            Self::Unable(_) | Self::Cut | Self::Stalled => {
                "run the same again later: what came is kept"
            }
            Self::Redirect => "name the URL to which it leads, if you trust it",
            Self::Protocol | Self::NoRanges => {
                "name another source, or download it with another program"
            }
            Self::Changed => "run the same again once the publisher has finished",
            Self::OtherSize | Self::OtherHeader => {
                "look whether the publisher has replaced the file, and correct the entry"
            }
            Self::NoSize => "add the size to the entry, or name another source",
            Self::Page => "open the URL in a browser to see what it says, or name another source",
            Self::OtherChecksum => {
                "run the same again; if it stays so, the file at the source is another one, or the entry \
                 is wrong: report it"
            }
        }
    }
}

impl SourceError {
    pub(crate) fn new(
        url: &str,
        trouble: Trouble,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            url: url.to_owned(),
            trouble,
            expected: expected.into(),
            found: found.into(),
            attempts: 1,
            retry_after: None,
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected {}, found {}",
            self.url, self.expected, self.found
        )?;
        if self.attempts > 1 {
            write!(f, " (attempt {})", self.attempts)?;
        }
        write!(f, "; {}", self.trouble.next())
    }
}

impl std::error::Error for SourceError {}

/// Why a file could not be hashed.
#[derive(Debug, Error)]
pub enum HashError {
    /// It cannot be read.
    #[error("cannot hash {}: {cause}; {}", path.display(), next_step(cause.kind()))]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The caller's flag was set.
    #[error("{}: stopped while hashing; run the same again", path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
}

pub(crate) fn next_step(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => "change its permissions, or take another folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space and run the same again: what came is kept"
        }
        io::ErrorKind::ReadOnlyFilesystem => "take a folder that can be written",
        _ => "check the disk and the folder, and run the same again",
    }
}

fn listed(failures: &[SourceError]) -> String {
    failures
        .iter()
        .map(|failure| format!("\n  {failure}"))
        .collect()
}
