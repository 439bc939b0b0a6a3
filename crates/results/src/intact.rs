//! Whether the raw files of a point are still those that were measured.

use crate::SearchRecord;
use crate::measured::{MeasuredError, read, within};
use annbench_core::worker::answers_hash;
use std::path::Path;

/// Looks at every raw file that `search` names: it must be there, have the shape that the record asks
/// for, and answers must have the hash that was taken when they were measured. A point that was not
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
    let k = search.identity.k as usize;
    for repetition in &measured.report.repetitions {
        let ids = match &repetition.ids_file {
            Some(file) => Some((file, read::<u32>(&dir, file, &[queries, k])?)),
            None => None,
        };
        let returned = match &repetition.returned_file {
            Some(file) => Some(read::<u32>(&dir, file, &[queries])?),
            None => None,
        };
        if let (Some((file, ids)), Some(returned)) = (ids, returned) {
            let found = answers_hash(&ids, &returned);
            if found != repetition.ids_hash {
                return Err(MeasuredError::OtherAnswers {
                    path: dir.join(file),
                    expected: repetition.ids_hash.clone(),
                    found,
                });
            }
        }
        if let Some(file) = &repetition.latency_file {
            read::<u64>(&dir, file, &[repetition.passes as usize, queries])?;
        }
    }
    Ok(())
}
