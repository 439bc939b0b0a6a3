use super::subject::Scans;
use super::{Finding, Rule};

/// That no component is infinite or not a number.
pub(super) fn finite(scans: &Scans) -> Finding {
    for (role, scan) in [("base row", &scans.base), ("query", &scans.queries)] {
        if let Some(first) = scan.first_not_finite {
            return Finding::violated(
                Rule::Finite,
                format!(
                    "{} of {} rows hold what is not a finite number, the first is {role} {first}",
                    scan.not_finite_rows, scan.rows
                ),
                "remove or repair these rows: a distance to them is not defined",
            )
            .with("rows", scan.not_finite_rows);
        }
    }
    Finding::holds(
        Rule::Finite,
        format!(
            "every component of {} base rows and {} queries was read",
            scans.base.rows, scans.queries.rows
        ),
    )
}
