//! Finds a dataset whose values lie in the very file that is stamped and checksummed.

use super::links::names_are_sound;
use super::unreadable;
use crate::DatasetError;
use crate::format::looks_like;
use hdf5_metno::dataset::Layout;
use hdf5_metno::{
    Dataset, File, Group, IndexType, IterationOrder, LinkInfo, LinkType, LocationType,
};
use std::path::Path;

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Names that are listed of what a group holds.
const LISTED: usize = 20;

/// Opens the dataset `name` of the HDF5 file at `path`, which holds `bytes`.
///
/// Links out of the file, external storage and virtual datasets are refused: whatever they lead to
/// could change without a stamp or a checksum of this file telling of it.
pub(super) fn open_dataset(path: &Path, bytes: &[u8], name: &str) -> Result<Dataset, DatasetError> {
    check_signature(path, bytes)?;
    let file = File::open(path).map_err(|error| unreadable(path, "file", &error))?;
    let dataset = Walk { path, name }.dataset_in(&file)?;
    check_storage(path, name, &dataset)?;
    Ok(dataset)
}

/// Whether the file has a link `name`, wherever it leads.
pub(super) fn holds(path: &Path, bytes: &[u8], name: &str) -> Result<bool, DatasetError> {
    check_signature(path, bytes)?;
    let file = File::open(path).map_err(|error| unreadable(path, "file", &error))?;
    Ok(file.link_exists(name))
}

/// Whether `bytes` are those of an HDF5 file.
pub(crate) fn is_hdf5(bytes: &[u8]) -> bool {
    // A user block of 512 bytes or a larger power of two may come first.
    std::iter::once(0)
        .chain((9..30).map(|power| 1usize << power))
        .any(|at| {
            bytes
                .get(at..)
                .is_some_and(|rest| rest.starts_with(SIGNATURE))
        })
}

/// Refuses what the library should not see.
pub(super) fn check_signature(path: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    if is_hdf5(bytes) {
        return match names_are_sound(bytes) {
            None | Some(true) => Ok(()),
            Some(false) => Err(DatasetError::contents(
                path,
                "root group",
                "the names of its links within the file",
                "an address outside of it, or of something else",
                "the file is truncated or damaged: move it away and download it again",
            )),
        };
    }
    let looks = looks_like(bytes).map_or_else(
        || format!("{} bytes without its signature", bytes.len()),
        |looks| format!("what looks like {looks}"),
    );
    Err(DatasetError::contents(
        path,
        "contents",
        "an HDF5 file",
        looks,
        "correct `format` in the dataset entry, or the file",
    ))
}

/// The way from the root group to a dataset, link by link.
struct Walk<'w> {
    path: &'w Path,
    name: &'w str,
}

impl Walk<'_> {
    fn dataset_in(&self, file: &File) -> Result<Dataset, DatasetError> {
        let mut group = file
            .group("/")
            .map_err(|error| unreadable(self.path, "root group", &error))?;
        let own = group
            .loc_info()
            .map_err(|error| unreadable(self.path, "root group", &error))?
            .fileno;
        let steps: Vec<&str> = self
            .name
            .split('/')
            .filter(|step| !step.is_empty() && *step != ".")
            .collect();
        let mut at = String::new();
        for (i, step) in steps.iter().enumerate() {
            let link = self.link(&group, &at, step)?;
            at = format!("{at}/{step}");
            let place = format!("`{at}`");
            if link.link_type == LinkType::External {
                return Err(self.foreign(&at, "a link to another file"));
            }
            let object = match group.loc_info_by_name(step) {
                Ok(object) => object,
                Err(_) if link.link_type == LinkType::Soft => {
                    return Err(DatasetError::contents(
                        self.path,
                        place,
                        format!("a dataset `{}`", self.name),
                        "a soft link to what is not there",
                        "name a `dataset` that is there in the dataset entry, or restore what the link leads to",
                    ));
                }
                Err(error) => return Err(unreadable(self.path, &place, &error)),
            };
            if object.fileno != own {
                return Err(self.foreign(&at, "a soft link that leads to another file"));
            }
            let last = i + 1 == steps.len();
            match object.loc_type {
                LocationType::Dataset if last => {
                    return group
                        .dataset(step)
                        .map_err(|error| unreadable(self.path, &place, &error));
                }
                LocationType::Group => {
                    group = group
                        .group(step)
                        .map_err(|error| unreadable(self.path, &place, &error))?;
                }
                LocationType::Dataset => {
                    return Err(DatasetError::contents(
                        self.path,
                        place,
                        format!("a group on the way to the dataset `{}`", self.name),
                        "a dataset, not a group",
                        format!("name it as `dataset: {}` in the dataset entry", &at[1..]),
                    ));
                }
                _ => {
                    return Err(DatasetError::contents(
                        self.path,
                        place,
                        format!("a dataset `{}`", self.name),
                        "a stored data type, which holds no values",
                        "name a `dataset` of the file in the dataset entry",
                    ));
                }
            }
        }
        Err(DatasetError::contents(
            self.path,
            group_name(&at),
            format!("a dataset `{}`", self.name),
            format!("a group, which holds {}", self.members(&group, &at)?),
            "name a dataset within it, with its group in front, as `dataset` in the dataset entry",
        ))
    }

    /// The link `step` of `group`, which is at `at`.
    fn link(&self, group: &Group, at: &str, step: &str) -> Result<LinkInfo, DatasetError> {
        group
            .find_link(IndexType::Name, IterationOrder::Native, |name, info| {
                Ok((name == step).then_some(info))
            })
            .map_err(|error| unreadable(self.path, &group_name(at), &error))?
            .map_or_else(|| Err(self.absent(group, at, step)), Ok)
    }

    fn absent(&self, group: &Group, at: &str, step: &str) -> DatasetError {
        let members = match self.members(group, at) {
            Ok(members) => members,
            Err(error) => return error,
        };
        let wanted = if at.is_empty() && step == self.name {
            format!("a dataset `{}`", self.name)
        } else {
            format!("`{step}` on the way to the dataset `{}`", self.name)
        };
        DatasetError::contents(
            self.path,
            group_name(at),
            wanted,
            format!("only {members}"),
            "name one that is there as `dataset` in the dataset entry",
        )
    }

    /// What `group` holds, in words.
    fn members(&self, group: &Group, at: &str) -> Result<String, DatasetError> {
        let names = group
            .member_names()
            .map_err(|error| unreadable(self.path, &group_name(at), &error))?;
        Ok(match names.len() {
            0 => "nothing".to_owned(),
            n if n > LISTED => {
                format!("{} and {} more", names[..LISTED].join(", "), n - LISTED)
            }
            _ => names.join(", "),
        })
    }

    fn foreign(&self, at: &str, found: &str) -> DatasetError {
        foreign(self.path, self.name, &format!("{found}, at `{at}`"))
    }
}

/// How the group at `at`, a path from the root, is called.
fn group_name(at: &str) -> String {
    if at.is_empty() {
        "root group".to_owned()
    } else {
        format!("group `{at}`")
    }
}

fn check_storage(path: &Path, name: &str, dataset: &Dataset) -> Result<(), DatasetError> {
    let failed = |error| unreadable(path, &format!("dataset `{name}`"), &error);
    let properties = dataset.create_plist().map_err(failed)?;
    if properties.get_layout().map_err(failed)? == Layout::Virtual {
        return Err(foreign(
            path,
            name,
            "a virtual dataset, whose values lie in others",
        ));
    }
    let external = properties.get_external().map_err(failed)?;
    let Some(first) = external.first() else {
        return Ok(());
    };
    let others = match external.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    Err(foreign(
        path,
        name,
        &format!("external storage in the file {}{others}", first.name),
    ))
}

/// Most bytes of values that a byte of a file may stand for: deflate makes at most 1,032 of one.
const MOST_TIMES: usize = 2048;

/// Refuses values that were declared and never written, as an aborted writer leaves them: they would
/// read as zeros, all alike, and every answer would be right. So too more values than a file of this
/// size can hold, for room would be made for them.
pub(super) fn check_written(
    path: &Path,
    bytes: &[u8],
    name: &str,
    dataset: &Dataset,
) -> Result<(), DatasetError> {
    let unwritten = |found: String| {
        DatasetError::contents(
            path,
            format!("dataset `{name}`"),
            "values that were written",
            found,
            "what wrote the file did not finish: download or make it again",
        )
    };
    let holds_values = dataset.shape().iter().all(|&side| side > 0);
    if holds_values && dataset.storage_size() == 0 {
        return Err(unwritten(
            "a dataset without any, which reads as zeros".to_owned(),
        ));
    }
    let value = dataset.dtype().map_or(1, |datatype| datatype.size());
    let declared = dataset
        .shape()
        .into_iter()
        .fold(value, usize::saturating_mul);
    let most = bytes.len().saturating_mul(MOST_TIMES);
    // A chunk is made room for as a whole.
    let chunk = dataset.chunk().unwrap_or_default();
    let chunk = chunk.into_iter().fold(value, usize::saturating_mul);
    if declared.max(chunk) > most {
        return Err(DatasetError::contents(
            path,
            format!("dataset `{name}`"),
            format!("values that {} bytes can hold", bytes.len()),
            format!("shape {:?}, {} bytes", dataset.shape(), declared.max(chunk)),
            "the file is truncated or damaged: download or make it again",
        ));
    }
    let Some((chunk, there)) = dataset.chunk().zip(dataset.num_chunks()) else {
        return Ok(());
    };
    let sides = dataset.shape().into_iter().zip(chunk);
    let all = sides
        .map(|(side, part)| side.div_ceil(part.max(1)))
        .fold(1, usize::saturating_mul);
    if there < all {
        return Err(unwritten(format!(
            "{there} of {all} chunks; the others read as zeros"
        )));
    }
    Ok(())
}

fn foreign(path: &Path, name: &str, found: &str) -> DatasetError {
    DatasetError::contents(
        path,
        format!("dataset `{name}`"),
        "values within this file, the only one that is checksummed and watched for changes",
        found,
        format!(
            "write the values themselves into one file, for instance with h5py: \
             `out[\"{name}\"] = file[\"{name}\"][()]`"
        ),
    )
}
