use super::duplicates_in_base::finding;
use super::sameness::groups;
use super::subject::Subject;
use super::{Finding, Rule};
use crate::DatasetError;

/// That no two queries are the same.
pub(super) fn duplicates_in_queries(subject: &Subject<'_>) -> Result<Finding, DatasetError> {
    let m = subject.queries.n();
    let found = groups(subject.queries, subject.pool, &subject.meter(m as u64))?;
    let finding = finding(Rule::DuplicatesInQueries, "queries", m, &found);
    Ok(match found.groups {
        0 => finding,
        _ => finding.next(
            "equal queries count more than once in every mean: remove all but one of each, or say so",
        ),
    })
}
