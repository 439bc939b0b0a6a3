//! File layouts: each module says where the values of one lie, none what becomes of them.

mod flat;
mod flat_header;
mod guess;
pub(crate) mod hdf5;
mod layout;
mod neighbors;
mod npy;
mod npy_header;
pub(crate) mod parquet;
mod table;
mod texmex;

use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::mapped::MappedFile;
pub(crate) use flat_header::{HEADER_BYTES, flat_header_of, header};
pub(crate) use guess::looks_like;
pub(crate) use hdf5::is_hdf5;
pub use layout::Format;
pub(crate) use neighbors::{RawIds, flat_distances, read_flat_ids, read_ivecs};
pub(crate) use npy::{read_npy_ids, table_of as npy_table};
pub(crate) use npy_header::NpyHeader;
pub(crate) use table::{Table, Wanted};
pub(crate) use texmex::texmex_rows;

/// The values of `part` in `files`, which are several for parquet only, sizes checked against what is wanted; notes tell what was
/// inferred.
pub(crate) fn find_table<'f>(
    files: &'f [MappedFile],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
    notes: &mut Vec<String>,
) -> Result<Table<'f>, DatasetError> {
    let file = &files[0];
    let (path, bytes) = (file.path(), file.bytes());
    match part.format {
        Format::Fbin | Format::F16bin | Format::I8bin | Format::U8bin => {
            flat::find(path, bytes, part, wanted)
        }
        Format::Fvecs | Format::Bvecs => texmex::find(path, bytes, part, wanted),
        Format::Npy => npy::find(path, bytes, part, wanted),
        Format::Hdf5 => hdf5::find(path, bytes, part, wanted, notes),
        Format::Parquet => parquet::find(files, part, wanted),
        Format::Ivecs | Format::Ibin | Format::BigannTruth => Err(DatasetError::contents(
            path,
            "format",
            "a layout of vectors",
            part.format.name(),
            "correct `format` in the dataset entry",
        )),
    }
}

/// The little-endian u32 at `offset`.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let word = bytes.get(offset..offset.checked_add(4)?)?;
    word.try_into().ok().map(u32::from_le_bytes)
}

/// The little-endian u64 at `offset`.
pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let word = bytes.get(offset..offset.checked_add(8)?)?;
    word.try_into().ok().map(u64::from_le_bytes)
}
