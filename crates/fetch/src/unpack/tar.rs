use super::member::{Ready, extract};
use super::metered::{Allowance, Metered};
use super::{Member, UnpackError, broken};
use std::io::{self, Read};
use std::path::{Component, Path};
use tar::{Archive, Entry, EntryType};

/// Most bytes that the headers of one member have, long names included.
const HEADERS: u64 = 1 << 20;
/// A tar file ends with zeros up to its block, which is seldom larger than 10 KiB.
const TRAILER: u64 = 64 << 20;

/// Takes `members` out of the tar file that `from` gives; the whole of it is read, since a gzip around it
/// tells only at its end whether it is intact.
pub(super) fn members<R: Read>(
    archive: &Path,
    members: &[Member],
    from: R,
    allowance: Allowance,
    ready: &mut Vec<Ready>,
) -> Result<(), UnpackError> {
    let from = Metered {
        inner: from,
        allowance: allowance.clone(),
    };
    let mut tar = Archive::new(from);
    let mut seen = Vec::new();
    let mut found = vec![false; members.len()];
    let headers = "the header of a member";
    allowance.limit(HEADERS);
    let entries = tar
        .entries()
        .map_err(|error| broken(archive, headers, error))?;
    for entry in entries {
        let mut entry = entry.map_err(|error| broken(archive, headers, error))?;
        let name = file_name(archive, &entry)?;
        // What is read of the member, and the zeros that fill its last block.
        allowance.limit(entry.size().saturating_add(HEADERS));
        let index = members
            .iter()
            .position(|member| Some(&member.name) == name.as_ref());
        if let Some(index) = index {
            let member = &members[index];
            if std::mem::replace(&mut found[index], true) {
                return Err(UnpackError::Missing {
                    archive: archive.to_owned(),
                    member: member.name.clone(),
                    found: "two of that name".to_owned(),
                });
            }
            let declared = Some(entry.size());
            ready.push(extract(archive, member, declared, &mut entry)?);
        } else {
            io::copy(&mut entry, &mut io::sink())
                .map_err(|error| broken(archive, "the rest of a member", error))?;
        }
        if seen.len() < 20 {
            seen.extend(name);
        }
        allowance.limit(HEADERS);
    }
    allowance.limit(TRAILER);
    io::copy(&mut tar.into_inner(), &mut io::sink())
        .map_err(|error| broken(archive, "the end of the archive", error))?;
    match found.iter().position(|&found| !found) {
        None => Ok(()),
        Some(index) => Err(UnpackError::Missing {
            archive: archive.to_owned(),
            member: members[index].name.clone(),
            found: match seen.is_empty() {
                true => "no files at all".to_owned(),
                false => format!("these, among others perhaps: {}", seen.join(", ")),
            },
        }),
    }
}

/// The name of a member that is a file, without its folders; none of one that is a folder. Everything
/// else is refused, wanted or not: an archive with such members is not what it seems.
fn file_name<R: Read>(archive: &Path, entry: &Entry<'_, R>) -> Result<Option<String>, UnpackError> {
    let path = entry
        .path()
        .map_err(|error| broken(archive, "the name of a member", error))?;
    let refused = |found: &str| UnpackError::Unsafe {
        archive: archive.to_owned(),
        member: path.display().to_string(),
        found: found.to_owned(),
    };
    for part in path.components() {
        match part {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err(refused("a name that leads out by `..`")),
            Component::RootDir | Component::Prefix(_) => return Err(refused("an absolute name")),
        }
    }
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => {
            let name = path.file_name().and_then(|name| name.to_str());
            Ok(name.map(str::to_owned))
        }
        // What describes other members.
        EntryType::Directory | EntryType::XGlobalHeader => Ok(None),
        EntryType::Symlink | EntryType::Link => Err(refused("a link")),
        EntryType::Char | EntryType::Block | EntryType::Fifo => Err(refused("a device")),
        EntryType::GNUSparse => Err(refused("a file with holes, whose size is only claimed")),
        _ => Err(refused("something of an unknown type")),
    }
}
