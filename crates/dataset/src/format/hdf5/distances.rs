use super::locate::{check_written, holds, open_dataset};
use super::stored::{Stored, VECTOR_TYPES};
use super::{read_rows, two_dimensions};
use crate::DatasetError;
use std::path::Path;

/// Distances, of exactly `queries` rows of `width`; `None` where the file has no such dataset.
pub(crate) fn read_distances(
    path: &Path,
    bytes: &[u8],
    name: &str,
    queries: usize,
    width: usize,
) -> Result<Option<Vec<f64>>, DatasetError> {
    if !holds(path, bytes, name)? {
        return Ok(None);
    }
    let dataset = open_dataset(path, bytes, name)?;
    Stored::of(path, &dataset, name)?.number(VECTOR_TYPES)?;
    let shape = two_dimensions(path, &dataset, name)?;
    if shape != (queries, width) {
        return Err(DatasetError::contents(
            path,
            format!("dataset `{name}`"),
            format!("distances of {queries} queries to {width} neighbours"),
            format!("{} of {}", shape.0, shape.1),
            "the distances belong to other neighbours: move it away and download it again",
        ));
    }
    check_written(path, bytes, name, &dataset)?;
    // The library widens every number to f64.
    read_rows::<f64>(path, &dataset, name, 0..queries).map(Some)
}
