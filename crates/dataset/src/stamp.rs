use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What tells, without reading it, that a file is still the same.
///
/// The change time is among it because a program may set the modification time to anything: a file
/// that is overwritten in place and given its old one back is still another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    path: PathBuf,
    bytes: u64,
    modified: Duration,
    changed: Duration,
    device: u64,
    inode: u64,
}

impl Stamp {
    /// The stamp of the file at `path`, which has `metadata`.
    pub(crate) fn of(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        // A time before 1970 is as good as any other fixed one.
        let modified = metadata
            .modified()?
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let changed = Duration::new(
            u64::try_from(metadata.ctime()).unwrap_or(0),
            u32::try_from(metadata.ctime_nsec()).unwrap_or(0),
        );
        Ok(Self {
            path: path.canonicalize()?,
            bytes: metadata.len(),
            modified,
            changed,
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    /// When it was last touched.
    pub(crate) fn touched(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.modified.max(self.changed)
    }

    /// A cache key of this file and `what` is derived from it.
    pub(crate) fn key(&self, what: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.path.as_os_str().as_encoded_bytes());
        for number in [
            self.bytes,
            self.modified.as_secs(),
            u64::from(self.modified.subsec_nanos()),
            self.changed.as_secs(),
            u64::from(self.changed.subsec_nanos()),
            self.device,
            self.inode,
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(what.as_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }
}
