use super::UnpackError;
use crate::checked::{Hasher, Mismatch};
use crate::part::Part;
use crate::{Expected, free_space};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file that is wanted out of a packed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name inside, without folders. A gzip file that holds one file and no tar has just that one,
    /// whatever it is called.
    pub name: String,
    /// Where it belongs.
    pub file: PathBuf,
    /// What is known of it.
    pub expected: Expected,
}

/// A member that has come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// Where it is.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Whether a checksum was known and agrees.
    pub compared: bool,
}

/// A member that is complete and verified, without its name yet.
pub(super) struct Ready {
    part: Part,
    pub(super) unpacked: Unpacked,
}

/// Writes `from` beside the place of `member`. `declared` is its size as the archive has it.
pub(super) fn extract(
    archive: &Path,
    member: &Member,
    declared: Option<u64>,
    from: &mut impl Read,
) -> Result<Ready, UnpackError> {
    let wrong = |expected: String, found: String| UnpackError::Member {
        archive: archive.to_owned(),
        member: member.name.clone(),
        expected,
        found,
    };
    let expected = &member.expected;
    if let (Some(bytes), Some(declared)) = (expected.bytes, declared)
        && bytes != declared
    {
        return Err(wrong(format!("{bytes} bytes"), declared.to_string()));
    }
    let part = Part::open(&member.file).map_err(UnpackError::Place)?;
    part.reset(0).map_err(UnpackError::Place)?;
    let written = write(archive, member, declared, from, &part);
    match written {
        Ok(unpacked) => Ok(Ready { part, unpacked }),
        Err(error) => {
            // The reason of the failure is what matters.
            let _ = part.discard();
            Err(error)
        }
    }
}

fn write(
    archive: &Path,
    member: &Member,
    declared: Option<u64>,
    from: &mut impl Read,
    part: &Part,
) -> Result<Unpacked, UnpackError> {
    const CHUNK: usize = 256 << 10;
    let wrong = |expected: String, found: String| UnpackError::Member {
        archive: archive.to_owned(),
        member: member.name.clone(),
        expected,
        found,
    };
    let expected = &member.expected;
    if let Some(needed) = declared.or(expected.bytes) {
        let free = free_space(part.path()).map_err(|cause| UnpackError::Io {
            action: "look how much is free beside",
            path: part.path().to_owned(),
            cause,
        })?;
        if needed > free {
            return Err(UnpackError::NoSpace {
                archive: archive.to_owned(),
                needed,
                free,
            });
        }
    }
    let mut hasher = Hasher::new(expected);
    let mut chunk = vec![0; CHUNK];
    let mut bytes = 0_u64;
    loop {
        let n = from
            .read(&mut chunk)
            .map_err(|error| super::broken(archive, "the rest of a member", error))?;
        if n == 0 {
            break;
        }
        if expected.bytes.is_some_and(|most| bytes + n as u64 > most) {
            let most = expected.bytes.unwrap_or_default();
            return Err(wrong(format!("{most} bytes"), "more".to_owned()));
        }
        hasher.update(&chunk[..n]);
        part.write(&chunk[..n], bytes).map_err(UnpackError::Place)?;
        bytes += n as u64;
    }
    if let Some(size) = declared.or(expected.bytes)
        && size != bytes
    {
        return Err(wrong(format!("{size} bytes"), bytes.to_string()));
    }
    let sums = hasher.finish();
    if let Some(Mismatch {
        kind,
        expected,
        found,
    }) = expected.mismatch(&sums)
    {
        return Err(wrong(format!("{kind} {expected}"), found));
    }
    Ok(Unpacked {
        file: member.file.clone(),
        bytes,
        sha256: sums.sha256,
        compared: expected.has_checksum(),
    })
}

impl Ready {
    pub(super) fn publish(self) -> Result<Unpacked, UnpackError> {
        self.part
            .publish(&self.unpacked.file)
            .map_err(UnpackError::Place)?;
        Ok(self.unpacked)
    }

    pub(super) fn discard(self) {
        let _ = self.part.discard();
    }
}
