use super::scan::Scan;
use super::subject::{Scans, Subject};
use super::words::listed;
use super::{Finding, Rule};
use annbench_core::Metric;

/// That no vector is zero where that means something.
pub(super) fn zero_vectors(subject: &Subject<'_>, scans: &Scans) -> Finding {
    let rule = Rule::ZeroVectors;
    let metric = subject.metric;
    let shown = |role: &str, scan: &Scan| match scan.zero_rows {
        0 => format!("no {role} is zero"),
        zeroes => format!(
            "{zeroes} of {} {role} zero: {}",
            scan.rows,
            listed(&scan.first_zero_rows, zeroes)
        ),
    };
    let (base, queries) = (&scans.base, &scans.queries);
    let figures = match (base.zero_rows, queries.zero_rows) {
        (0, 0) => "no base row and no query is zero".to_owned(),
        (0, _) => shown("queries are", queries),
        (_, 0) => shown("base rows are", base),
        _ => format!(
            "{}; {}",
            shown("base rows are", base),
            shown("queries are", queries)
        ),
    };
    let any = base.zero_rows + queries.zero_rows > 0;
    let finding = if any && metric.is_undefined_at_zero() {
        Finding::violated(
            rule,
            format!("{figures}; {metric} is not defined there"),
            "annbench puts them at distance 1 from everything and leaves such queries out of recall; \
             other programs do something else: remove the rows and compute the truth again",
        )
    } else if queries.zero_rows > 0 && metric == Metric::InnerProduct {
        Finding::violated(
            rule,
            format!("{figures}; every row is as near to a zero query as any other"),
            "remove these queries",
        )
    } else {
        let plain = match any {
            true => format!("; under {metric} a point as any other"),
            false => String::new(),
        };
        Finding::holds(rule, format!("{figures}{plain}"))
    };
    finding
        .with("base_zero", base.zero_rows)
        .with("queries_zero", queries.zero_rows)
}
