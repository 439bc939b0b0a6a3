use super::{Finding, Rule};
use crate::{Dataset, DatasetError};

/// That qrels, range truth and metadata are about the rows of the set; nothing where it has none.
///
/// # Errors
/// Only those of the system.
pub(super) fn beside(dataset: &Dataset) -> Result<Option<Finding>, DatasetError> {
    let mut holds = Vec::new();
    let mut missing = Vec::new();
    let mut violated = Vec::new();
    for (what, read) in [
        ("qrels", dataset.judgements().map(|read| read.is_some())),
        (
            "range truth",
            dataset.range_truth().map(|read| read.is_some()),
        ),
        ("metadata", dataset.metadata().map(|read| read.is_some())),
    ] {
        match read {
            Ok(false) => {}
            Ok(true) => holds.push(what),
            Err(DatasetError::Missing { files, .. }) => {
                missing.extend(files.into_iter().map(|file| file.file));
            }
            Err(DatasetError::Contents(why)) => violated.push(why.to_string()),
            Err(other) => return Err(other),
        }
    }
    let rule = Rule::Beside;
    Ok(if !violated.is_empty() {
        let next = "download these files again, or correct the dataset entry";
        Some(Finding::violated(rule, violated.join("; "), next))
    } else if !missing.is_empty() {
        let why = format!("not here: {}", missing.join(", "));
        Some(Finding::cannot_tell(rule, why))
    } else if !holds.is_empty() {
        let evidence = format!("{}: of the rows of the set", holds.join(", "));
        Some(Finding::holds(rule, evidence))
    } else {
        None
    })
}
