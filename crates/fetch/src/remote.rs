use crate::ftp::Ftp;
use crate::http::Http;
use crate::source::Scheme;
use crate::{Limits, Source, SourceError};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// What a server says of a file, to tell it from its other versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Size of the whole file.
    pub(crate) total: Option<u64>,
    /// HTTP's `ETag`.
    pub(crate) etag: Option<String>,
    /// HTTP's `Last-Modified`, FTP's `MDTM`.
    pub(crate) modified: Option<String>,
}

impl Identity {
    /// Whether there is anything besides the size by which a version is known.
    pub(crate) fn has_validator(&self) -> bool {
        self.etag.is_some() || self.modified.is_some()
    }

    /// What differs, with both values; what only one of them says is no difference.
    pub(crate) fn difference(&self, other: &Self) -> Option<(String, String)> {
        let differs = |what: &str, a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) if a != b => Some((format!("{what} {a}"), format!("{what} {b}"))),
            _ => None,
        };
        let size = |identity: &Self| identity.total.map(|total| total.to_string());
        differs("size", size(self), size(other))
            .or_else(|| differs("ETag", self.etag.clone(), other.etag.clone()))
            .or_else(|| {
                let (a, b) = (self.modified.clone(), other.modified.clone());
                differs("a time of modification,", a, b)
            })
    }
}

/// An answer whose body has not been read yet.
pub(crate) struct Answer<'a> {
    pub(crate) identity: Identity,
    /// The bytes of the file that the body has; to its end where the server does not say.
    pub(crate) range: Range<u64>,
    /// Whether other ranges may be asked for too.
    pub(crate) partial: bool,
    /// The kind of document, where it is told.
    pub(crate) content_type: Option<String>,
    pub(crate) body: Box<dyn Body + 'a>,
}

/// Bytes on their way.
pub(crate) trait Body {
    /// Fills `chunk`, some of it at least; 0 at the end.
    fn read(&mut self, chunk: &mut [u8]) -> Result<usize, SourceError>;
}

/// A file on a server.
pub(crate) trait Remote: Sync {
    /// Asks for `range`. `known` is the version that is meant, if one is: another may be answered all
    /// the same.
    fn open(&self, range: &Range<u64>, known: Option<&Identity>)
    -> Result<Answer<'_>, SourceError>;

    /// Whether several ranges may be asked for at the same time.
    fn in_parallel(&self) -> bool;

    /// Ends every wait, from another thread.
    fn interrupt(&self);
}

/// The file at `source`.
pub(crate) fn remote<'a>(
    source: &'a Source,
    limits: &'a Limits,
    interrupted: &'a AtomicBool,
) -> Box<dyn Remote + 'a> {
    match source.scheme() {
        Scheme::Http => Box::new(Http::new(source.url(), false, limits)),
        Scheme::Https => Box::new(Http::new(source.url(), true, limits)),
        Scheme::Ftp(place) => Box::new(Ftp::new(source.url(), place, limits, interrupted)),
    }
}

/// Reads once; an interruption by a signal is none.
pub(crate) fn read_once(from: &mut impl Read, chunk: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match from.read(chunk) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
