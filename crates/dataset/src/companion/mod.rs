//! What sets have beside vectors and neighbours: rows within a radius, sparse rows, and judgements of
//! relevance. They are read and checked; no search uses them yet.

mod lines;
mod qrels;
mod range;
mod sparse;

pub use qrels::{IdList, Judged, Qrels};
pub use range::RangeTruth;
pub use sparse::SparseRows;

use crate::DatasetError;
use std::path::Path;

/// Refuses what a file holds.
pub(crate) fn refused(
    path: &Path,
    place: impl Into<String>,
    expected: String,
    found: String,
) -> DatasetError {
    DatasetError::contents(
        path,
        place,
        expected,
        found,
        "the file is truncated, damaged or of another format: move it away and download it again",
    )
}
