use crate::{Event, Expected, HashError};
use md5::Md5;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Checksums of a file, in hexadecimal digits of lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// SHA-256.
    pub sha256: String,
    /// MD5, where it was asked for.
    pub md5: Option<String>,
}

/// Hashes the file at `path`, by MD5 too where one is `expected`.
///
/// # Errors
/// [`HashError::Io`] when it cannot be read, [`HashError::Interrupted`] once `interrupted` is set.
pub fn hash(
    path: &Path,
    expected: &Expected,
    interrupted: &AtomicBool,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Sums, HashError> {
    const CHUNK: usize = 1 << 20;
    let io = |cause| HashError::Io {
        path: path.to_owned(),
        cause,
    };
    let mut file = File::open(path).map_err(io)?;
    let total = file.metadata().map_err(io)?.len();
    let mut hasher = Hasher::new(expected);
    let mut chunk = vec![0; CHUNK];
    let mut done = 0;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(HashError::Interrupted {
                path: path.to_owned(),
            });
        }
        let n = file.read(&mut chunk).map_err(io)?;
        if n == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(&chunk[..n]);
        done += n as u64;
        tell(Event::Verifying { done, total });
    }
}

/// All checksums at once.
pub(crate) struct Hasher {
    sha256: Sha256,
    md5: Option<Md5>,
}

impl Hasher {
    pub(crate) fn new(expected: &Expected) -> Self {
        Self {
            sha256: Sha256::new(),
            md5: expected.md5.as_ref().map(|_| Md5::new()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        if let Some(md5) = &mut self.md5 {
            md5.update(bytes);
        }
    }

    pub(crate) fn finish(self) -> Sums {
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        Sums {
            sha256: hex(&self.sha256.finalize()),
            md5: self.md5.map(|md5| hex(&md5.finalize())),
        }
    }
}

/// A checksum that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its name.
    pub kind: &'static str,
    /// What it should be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl Expected {
    /// The first checksum that differs.
    pub fn mismatch(&self, sums: &Sums) -> Option<Mismatch> {
        [
            ("SHA-256", &self.sha256, Some(&sums.sha256)),
            ("MD5", &self.md5, sums.md5.as_ref()),
        ]
        .into_iter()
        .find_map(|(kind, expected, found)| {
            let (expected, found) = (expected.as_ref()?, found?);
            (!expected.eq_ignore_ascii_case(found)).then(|| Mismatch {
                kind,
                expected: expected.clone(),
                found: found.clone(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test vectors for "abc": FIPS 180-4 and RFC 1321.
    #[test]
    fn checksums_are_those_of_their_standards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let expected = Expected {
            md5: Some(String::new()),
            ..Expected::default()
        };
        let sums = hash(&path, &expected, &AtomicBool::new(false), &|_| {}).unwrap();
        assert_eq!(
            sums.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            sums.md5.as_deref(),
            Some("900150983cd24fb0d6963f7d28e17f72")
        );
        let stopped = hash(&path, &expected, &AtomicBool::new(true), &|_| {});
        assert!(matches!(stopped, Err(HashError::Interrupted { .. })));
    }
}
