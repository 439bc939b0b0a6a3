use super::subject::{Claim, Subject};
use super::{Finding, Rule};

/// That the truth has a row for every query, and no more columns than the base has rows.
pub(super) fn shape(subject: &Subject<'_>) -> Finding {
    let (n, m) = (subject.base.n(), subject.queries.n());
    let vectors = format!(
        "{n} base rows and {m} queries of {} {}",
        subject.base.dim(),
        subject.element()
    );
    let rule = Rule::Shape;
    let claimed = match subject.truth {
        Claim::None(why) => return Finding::holds(rule, format!("{vectors}; {why}")),
        Claim::Unreadable(why) => {
            let next = "download the truth again, or correct `truth` in the dataset entry";
            return Finding::violated(rule, format!("{vectors}; the truth: {why}"), next);
        }
        Claim::Read(claimed) => claimed,
    };
    let truth = format!(
        "{vectors}; truth of {} queries, {} columns",
        claimed.rows, claimed.width
    );
    let finding = if claimed.width > n {
        let evidence = format!("{truth}, which is more than there are base rows");
        Finding::violated(rule, evidence, "this truth belongs to a larger base")
    } else if claimed.rows != m && claimed.rows != claimed.whole {
        let evidence = format!("{truth}; the first {m} are taken for those of these queries");
        let next =
            "use the truth of these very queries, or correct `rows` of `queries` in the entry";
        Finding::violated(rule, evidence, next)
    } else if claimed.rows != m {
        Finding::holds(rule, format!("{truth}, of which the first {m} are used"))
    } else {
        Finding::holds(rule, truth)
    };
    finding
        .with("rows", n)
        .with("queries", m)
        .with("dim", subject.base.dim())
        .with("truth_rows", claimed.rows)
        .with("truth_columns", claimed.width)
}
