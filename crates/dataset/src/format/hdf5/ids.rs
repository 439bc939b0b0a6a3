use super::locate::{check_written, open_dataset};
use super::stored::stored_ids;
use super::{CHUNK_BYTES, read_rows, two_dimensions};
use crate::DatasetError;
use std::path::Path;

/// Hands neighbours, of exactly `queries` rows of `width`, to `take`, whole rows at a time.
pub(crate) fn read_ids(
    path: &Path,
    bytes: &[u8],
    name: &str,
    queries: usize,
    width: usize,
    take: &mut dyn FnMut(&[i64]) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let dataset = open_dataset(path, bytes, name)?;
    stored_ids(path, &dataset, name)?;
    let shape = two_dimensions(path, &dataset, name)?;
    if shape != (queries, width) {
        return Err(DatasetError::contents(
            path,
            format!("dataset `{name}`"),
            format!("{queries} queries of {width} neighbours, as the dataset entry says"),
            format!("{} of {}", shape.0, shape.1),
            "correct the dataset entry, or the file",
        ));
    }
    check_written(path, bytes, name, &dataset)?;
    // The library widens every integer to i64, and holds larger ones for its largest.
    let step = (CHUNK_BYTES / width.saturating_mul(8)).max(1);
    for start in (0..queries).step_by(step) {
        let rows = start..queries.min(start + step);
        take(&read_rows::<i64>(path, &dataset, name, rows)?)?;
    }
    Ok(())
}
