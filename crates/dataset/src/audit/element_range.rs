use super::subject::Scans;
use super::words::number;
use super::{Finding, Rule};

/// How many times wider than the other part's the range of one may be before units are in doubt.
const SAME_UNITS: f64 = 10.0;

/// That components differ at all, and that base and queries are in the same units.
pub(super) fn element_range(scans: &Scans) -> Finding {
    let rule = Rule::ElementRange;
    let (Some(base), Some(queries)) = (scans.base.range, scans.queries.range) else {
        return Finding::cannot_tell(rule, "bits and sets have no range");
    };
    let shown = |(low, high): (f64, f64)| format!("{} to {}", number(low), number(high));
    let whole = match scans.base.whole && scans.queries.whole {
        true => ", all whole numbers",
        false => "",
    };
    let ranges = format!("base {}, queries {}{whole}", shown(base), shown(queries));
    let reach = |(low, high): (f64, f64)| low.abs().max(high.abs());
    let (b, q) = (reach(base), reach(queries));
    let finding = if base.0 == base.1 {
        let next = "download or make the file again: all distances are alike";
        Finding::violated(rule, format!("{ranges}: the base is constant"), next)
    } else if b > SAME_UNITS * q || q > SAME_UNITS * b {
        Finding::violated(
            rule,
            format!("{ranges}: another scale"),
            "look whether one of them was normalised, or scaled from 0..255 to 0..1, and the other \
             was not",
        )
    } else {
        Finding::holds(rule, ranges)
    };
    finding
        .with("base_low", base.0)
        .with("base_high", base.1)
        .with("queries_low", queries.0)
        .with("queries_high", queries.1)
        .with("whole_numbers", scans.base.whole && scans.queries.whole)
}
