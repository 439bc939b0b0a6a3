//! Members of packed files, under names that the caller chooses: no name inside an archive ever becomes a
//! path.

mod error;
mod member;
mod metered;
mod tar;

use crate::Event;
pub use error::UnpackError;
use flate2::read::MultiGzDecoder;
pub use member::{Member, Unpacked};
use member::{Ready, extract};
use metered::{Allowance, INTERRUPTED, Metered, Packed, TOO_MUCH};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A tar file.
    Tar,
    /// A tar file inside a gzip file.
    TarGz,
    /// One file inside a gzip file.
    Gz,
}

impl Packing {
    /// The packing that a file of this name has, by its ending; none of files that are not packed.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match () {
            () if ends(&[".tar.gz", ".tgz"]) => Some(Self::TarGz),
            () if ends(&[".tar"]) => Some(Self::Tar),
            () if ends(&[".gz"]) => Some(Self::Gz),
            () => None,
        }
    }
}

/// Bounds of what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackLimits {
    /// Unpacked bytes in all, those of members that are not wanted included.
    pub most: u64,
}

/// Takes `members` out of `archive`. All of them get their names when the whole archive was read and each
/// has the expected size and checksum.
///
/// # Errors
/// [`UnpackError`]; no member has got its name then, except where renaming itself failed.
pub fn unpack(
    archive: &Path,
    packing: Packing,
    members: &[Member],
    limits: UnpackLimits,
    interrupted: &AtomicBool,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<Unpacked>, UnpackError> {
    let packed = File::open(archive)
        .and_then(|file| Packed::new(file, interrupted, tell))
        .map_err(|cause| UnpackError::Io {
            action: "open",
            path: archive.to_owned(),
            cause,
        })?;
    let allowance = Allowance::new(limits.most);
    let mut ready = Vec::new();
    let read = match packing {
        Packing::Tar => tar::members(archive, members, packed, allowance, &mut ready),
        Packing::TarGz => {
            let unzipped = MultiGzDecoder::new(packed);
            tar::members(archive, members, unzipped, allowance, &mut ready)
        }
        Packing::Gz => gunzip(archive, members, packed, allowance, &mut ready),
    };
    if let Err(error) = read {
        ready.into_iter().for_each(Ready::discard);
        return Err(match error {
            UnpackError::TooMuch { archive, .. } => UnpackError::TooMuch {
                archive,
                most: limits.most,
            },
            other => other,
        });
    }
    ready.into_iter().map(Ready::publish).collect()
}

fn gunzip(
    archive: &Path,
    members: &[Member],
    packed: Packed<'_>,
    allowance: Allowance,
    ready: &mut Vec<Ready>,
) -> Result<(), UnpackError> {
    let [member] = members else {
        return Err(UnpackError::Missing {
            archive: archive.to_owned(),
            member: members
                .iter()
                .map(|m| m.name.as_str())
                .collect::<Vec<_>>()
                .join("`, `"),
            found: "a packed file that holds just one".to_owned(),
        });
    };
    let mut unzipped = Metered {
        inner: MultiGzDecoder::new(packed),
        allowance,
    };
    ready.push(extract(archive, member, None, &mut unzipped)?);
    Ok(())
}

/// What an error of reading means.
fn broken(archive: &Path, expected: &str, error: io::Error) -> UnpackError {
    let archive = archive.to_owned();
    let text = error.to_string();
    if text.contains(INTERRUPTED) {
        return UnpackError::Interrupted { archive };
    }
    if text.contains(TOO_MUCH) {
        return UnpackError::TooMuch { archive, most: 0 };
    }
    UnpackError::Broken {
        archive,
        expected: expected.to_owned(),
        found: match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the end of the file ({text})"),
            _ => text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packing_is_told_by_the_ending() {
        for (name, packing) in [
            ("sift.tar.gz", Some(Packing::TarGz)),
            ("GT_10M_v2.tgz", Some(Packing::TarGz)),
            ("wiki_all_1M.tar", Some(Packing::Tar)),
            ("bigann_base.bvecs.gz", Some(Packing::Gz)),
            ("base.fbin", None),
            ("gz", None),
        ] {
            assert_eq!(Packing::of(name), packing, "{name}");
        }
    }
}
