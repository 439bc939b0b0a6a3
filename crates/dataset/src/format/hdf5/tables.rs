use super::locate::{check_signature, open_dataset};
use super::stored::{Stored, VECTOR_TYPES};
use super::unreadable;
use crate::DatasetError;
use crate::value::ValueType;
use hdf5_metno::{File, Group, LocationType};
use std::path::Path;

/// A dataset inside a file.
pub(crate) struct Hdf5Shape {
    /// Its name, with those of its groups in front.
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    /// The type of its values, if it is one that is read.
    pub(crate) value: Option<ValueType>,
}

/// Groups within groups that are looked into.
const DEPTH: usize = 4;

/// Members of groups that are looked at.
const MOST: usize = 1000;

/// The datasets of the HDF5 file at `path`, which holds `bytes`, in the order of their names; those
/// whose values lie in other files are left out.
pub(crate) fn list_tables(path: &Path, bytes: &[u8]) -> Result<Vec<Hdf5Shape>, DatasetError> {
    check_signature(path, bytes)?;
    let file = File::open(path).map_err(|error| unreadable(path, "file", &error))?;
    let root = file
        .group("/")
        .map_err(|error| unreadable(path, "root group", &error))?;
    let mut found = Vec::new();
    let mut seen = 0;
    visit(path, bytes, &root, "", DEPTH, &mut seen, &mut found)?;
    Ok(found)
}

fn visit(
    path: &Path,
    bytes: &[u8],
    group: &Group,
    at: &str,
    depth: usize,
    seen: &mut usize,
    found: &mut Vec<Hdf5Shape>,
) -> Result<(), DatasetError> {
    let place = if at.is_empty() { "root group" } else { at };
    let members = group
        .member_names()
        .map_err(|error| unreadable(path, place, &error))?;
    for member in members {
        *seen += 1;
        if *seen > MOST {
            return Ok(());
        }
        let name = match at {
            "" => member.clone(),
            at => format!("{at}/{member}"),
        };
        match group.loc_info_by_name(&member).map(|info| info.loc_type) {
            Ok(LocationType::Dataset) => {
                let Ok(dataset) = open_dataset(path, bytes, &name) else {
                    continue;
                };
                let value = Stored::of(path, &dataset, &name)
                    .and_then(|stored| stored.number(VECTOR_TYPES))
                    .ok();
                found.push(Hdf5Shape {
                    shape: dataset.shape(),
                    value: value.map(|(value, _)| value),
                    name,
                });
            }
            Ok(LocationType::Group) if depth > 0 => {
                // A link out of the file may lead to a group: its datasets are then refused.
                if let Ok(inner) = group.group(&member) {
                    visit(path, bytes, &inner, &name, depth - 1, seen, found)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
