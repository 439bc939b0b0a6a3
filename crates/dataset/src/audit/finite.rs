use super::subject::Scans;
use super::{Finding, Rule};

/// That no component is infinite or not a number.
pub(super) fn finite(scans: &Scans) -> Finding {
    let parts = [("base row", &scans.base), ("query", &scans.queries)];
    let found: Vec<String> = parts
        .iter()
        .filter_map(|(role, scan)| {
            let (first, rows) = (scan.first_not_finite?, scan.not_finite_rows);
            let of = scan.rows;
            let hold = if rows == 1 { "holds" } else { "hold" };
            Some(format!(
                "{rows} of {of} {} {hold} what is not a finite number, the first is {role} {first}",
                if *role == "query" {
                    "queries"
                } else {
                    "base rows"
                }
            ))
        })
        .collect();
    if !found.is_empty() {
        return Finding::violated(
            Rule::Finite,
            found.join("; "),
            "remove or repair these rows: a distance to them is not defined",
        )
        .with(
            "rows",
            scans.base.not_finite_rows + scans.queries.not_finite_rows,
        );
    }
    Finding::holds(
        Rule::Finite,
        format!(
            "every component of {} base rows and {} queries was read",
            scans.base.rows, scans.queries.rows
        ),
    )
}
