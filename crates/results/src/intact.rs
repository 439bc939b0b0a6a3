//! Whether the raw files of a point are still those that were measured.

use crate::SearchRecord;
use crate::measured::MeasuredError;
use crate::raw::{read_answers, read_latencies, within};
use std::path::Path;

/// Looks at every raw file that `search` names: it must be there, have the shape that the record asks
/// for, and answers and latencies must have the hashes that were taken when they were measured. A point that was not
/// measured has no raw files and passes.
///
/// # Errors
/// [`MeasuredError`] naming the first file that is not as it was.
pub fn check_raw(run_dir: &Path, search: &SearchRecord) -> Result<(), MeasuredError> {
    let Some(measured) = &search.measured else {
        return Ok(());
    };
    let dir = within(run_dir, &measured.raw_dir)?;
    let queries = search.dataset.queries as usize;
    let shape = [queries, search.identity.k as usize];
    let repetitions = &measured.report.repetitions;
    for (number, repetition) in repetitions.iter().enumerate() {
        read_answers(&dir, number, repetition, &repetitions[0], shape)?;
        read_latencies(&dir, repetition, queries)?;
    }
    Ok(())
}
