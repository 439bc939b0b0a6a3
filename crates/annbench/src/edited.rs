use annbench_results::{Record, check_name};
use std::path::Path;

/// Refuses records that do not have the name of what they are about: they would pass for points that
/// were never measured.
///
/// # Errors
/// The first of them, and how many there are.
pub fn refuse_edited(dir: &Path, records: &[Record]) -> anyhow::Result<()> {
    let edited = edited(records);
    match edited.first() {
        None => Ok(()),
        Some(first) => anyhow::bail!(
            "{}: {} records were edited since they were written; first: {first}; restore \
             records.jsonl from a copy, or measure in another --out",
            dir.display(),
            edited.len()
        ),
    }
}

/// Why records are not what was written, each with its line in the file.
pub fn edited(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .enumerate()
        .filter_map(|(i, record)| {
            let why = check_name(record).err()?;
            Some(format!("line {}: {why}", i + 1))
        })
        .collect()
}
