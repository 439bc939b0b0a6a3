use super::sameness::{Groups, groups};
use super::subject::Subject;
use super::words::{listed, percent};
use super::{Finding, Rule};
use crate::DatasetError;

/// That no two rows of the base are the same.
pub(super) fn duplicates_in_base(subject: &Subject<'_>) -> Result<Finding, DatasetError> {
    let n = subject.base.n();
    let found = groups(subject.base, subject.pool, &subject.meter(n as u64))?;
    Ok(finding(Rule::DuplicatesInBase, "base rows", n, &found))
}

/// What is said of equal rows among `all`.
pub(super) fn finding(rule: Rule, what: &str, all: usize, found: &Groups) -> Finding {
    let scope = match found.share < 1.0 {
        true => format!(
            " in the {} of all contents that were looked at",
            percent(found.share, 1.0)
        ),
        false => String::new(),
    };
    let finding = if found.groups > 0 {
        let pairs: Vec<String> = found
            .pairs
            .iter()
            .map(|(a, b)| format!("{a} and {b}"))
            .collect();
        Finding::violated(
            rule,
            format!(
                "{} of {all} {what} ({}) are in {} groups of equal ones{scope}, the largest of {}: {}",
                found.rows,
                percent(found.rows as f64, all as f64),
                found.groups,
                found.largest,
                listed(&pairs, found.groups)
            ),
            "equal rows tie: quote the tie-aware recall, which is annbench's, and not one of ids; or \
             remove them and compute the truth again",
        )
    } else if found.share < 1.0 {
        let why = format!("no two {what} are equal{scope}; more would be read too often");
        Finding::cannot_tell(rule, why)
    } else {
        Finding::holds(rule, format!("no two of {all} {what} are equal"))
    };
    finding
        .with("groups", found.groups)
        .with("rows", found.rows)
        .with("largest", found.largest)
        .with("share_of_contents", found.share)
}
