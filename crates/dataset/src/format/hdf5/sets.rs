use super::attributes::{Inside, check_attributes};
use super::list::List;
use super::locate::check_written;
use super::open_dataset;
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::format::Wanted;
use crate::format::table::rows_fit;
use std::path::Path;

/// Sets as ann-benchmarks stores them: one list of all members, and one of how many each set has.
pub(crate) struct Hdf5Sets<'f> {
    /// Members of all sets, one set after another.
    pub(crate) members: List<'f>,
    /// Members of each set.
    pub(crate) sizes: List<'f>,
}

impl<'f> Hdf5Sets<'f> {
    /// Opens the dataset that `part` names, and `size_` and its name beside it.
    pub(crate) fn open(
        path: &'f Path,
        bytes: &[u8],
        part: &VectorsPart,
        wanted: &Wanted<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, DatasetError> {
        let name = part.hdf5_dataset.as_deref().unwrap_or_default();
        let members = open_dataset(path, bytes, name)?;
        if let [_, _] = members.shape()[..] {
            return Err(DatasetError::contents(
                path,
                format!("dataset `{name}`"),
                "one list of the members of all sets",
                "a table of rows",
                "correct `element` in the dataset entry: a table holds vectors, or the bits of sets",
            ));
        }
        check_written(path, bytes, name, &members)?;
        let members = List::of(path, members, name.to_owned())?;
        let sizes_name = match name.rsplit_once('/') {
            Some((group, name)) => format!("{group}/size_{name}"),
            None => format!("size_{name}"),
        };
        let sizes = open_dataset(path, bytes, &sizes_name)?;
        check_attributes((path, bytes), &sizes, wanted, Inside::Sets, notes)?;
        check_written(path, bytes, &sizes_name, &sizes)?;
        let sizes = List::of(path, sizes, sizes_name)?;
        if rows_fit(part, sizes.len()) {
            return Ok(Self { members, sizes });
        }
        Err(DatasetError::contents(
            path,
            format!("dataset `{}`", sizes.name()),
            format!("the sizes of {} sets, as the dataset entry says", part.rows),
            format!("those of {}", sizes.len()),
            "correct the dataset entry, or the file",
        ))
    }
}
