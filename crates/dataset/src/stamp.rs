use crate::DatasetError;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What tells, without reading it, that a file is still the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    path: PathBuf,
    pub(crate) bytes: u64,
    modified_s: u64,
    modified_ns: u32,
    device: u64,
    inode: u64,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Result<Self, DatasetError> {
        let io = |source| DatasetError::io("read", path, source);
        let path = path.canonicalize().map_err(io)?;
        let metadata = path.metadata().map_err(io)?;
        let modified = metadata.modified().map_err(io)?;
        // A time before 1970 is as good as any other fixed one.
        let since = modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Ok(Self {
            bytes: metadata.len(),
            modified_s: since.as_secs(),
            modified_ns: since.subsec_nanos(),
            device: metadata.dev(),
            inode: metadata.ino(),
            path,
        })
    }

    pub(crate) fn modified(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::new(self.modified_s, self.modified_ns)
    }

    /// A cache key of this file and `what` is derived from it.
    pub(crate) fn key(&self, what: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.path.as_os_str().as_encoded_bytes());
        for number in [
            self.bytes,
            self.modified_s,
            u64::from(self.modified_ns),
            self.device,
            self.inode,
        ] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(what.as_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }
}
