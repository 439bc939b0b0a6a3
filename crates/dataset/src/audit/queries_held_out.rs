use super::sameness::across;
use super::scan::NAMED;
use super::subject::Subject;
use super::words::{listed, percent};
use super::{Finding, Rule};
use crate::DatasetError;

/// That no query is a row of the base.
pub(super) fn queries_held_out(subject: &Subject<'_>) -> Result<Finding, DatasetError> {
    let rule = Rule::QueriesHeldOut;
    let (n, m) = (subject.base.n(), subject.queries.n());
    let meter = subject.meter(n as u64);
    let found = across(subject.base, subject.queries, subject.pool, &meter)?;
    let pairs: Vec<String> = found
        .iter()
        .take(NAMED)
        .map(|(q, row)| format!("query {q} is row {row}"))
        .collect();
    let finding = if found.is_empty() {
        Finding::holds(rule, format!("none of {m} queries is one of {n} base rows"))
    } else {
        Finding::violated(
            rule,
            format!(
                "{} of {m} queries ({}) are rows of the base: {}",
                found.len(),
                percent(found.len() as f64, m as f64),
                listed(&pairs, found.len() as u64)
            ),
            "such a query finds itself, which no user asks for: hold queries out of the base, or \
             remove these and compute the truth again",
        )
    };
    Ok(finding.with("queries", found.len()))
}
