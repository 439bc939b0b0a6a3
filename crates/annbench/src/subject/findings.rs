use annbench_dataset::{AcceptedChecksum, Dataset, NarrowedPart, Truth, UncomparedChecksum};

/// What opening `dataset` and having its `truth` found and a user should know.
pub fn notes(dataset: &Dataset, truth: Option<&Truth>) -> Vec<String> {
    let not_kept = truth.and_then(Truth::not_kept);
    let mut notes = dataset.notes().to_vec();
    notes.extend(dataset.later_notes());
    notes.extend(not_kept.map(|why| format!("the computed truth could not be kept: {why}")));
    notes
}

/// What stands on every result that is measured on `dataset`.
pub fn warnings(dataset: &Dataset) -> impl Iterator<Item = String> {
    let accepted = accepted(dataset).map(|said| format!("{said}, and accepted by name"));
    accepted
        .chain(uncompared(dataset))
        .chain(narrowed(dataset))
        .map(|said| format!("{said}; every result says so"))
}

/// Checksums that did not match, a sentence each.
pub fn accepted(dataset: &Dataset) -> impl Iterator<Item = String> {
    let checksums = dataset.accepted_checksums().iter();
    checksums.map(AcceptedChecksum::to_string)
}

/// Checksums that could not be compared, a sentence each.
pub fn uncompared(dataset: &Dataset) -> impl Iterator<Item = String> {
    let checksums = dataset.uncompared_checksums().iter();
    checksums.map(UncomparedChecksum::to_string)
}

/// Vectors of which values were rounded by name, a sentence each.
pub fn narrowed(dataset: &Dataset) -> impl Iterator<Item = String> {
    let element = dataset.element();
    let parts = dataset.narrowed().iter();
    parts.map(move |NarrowedPart { role, file, values }| {
        format!("{role} of {file}: {values} values rounded to {element}")
    })
}
