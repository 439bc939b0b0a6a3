use super::scan::Scan;
use super::subject::{Scans, Subject};
use super::words::number;
use super::{Finding, Rule};
use annbench_core::{ElementType, Metric};

/// How far from 1 the norm of a row may be that somebody has normalised: f16 has eleven bits.
const NORMALISED: f64 = 2e-3;

/// That an angular set is normalised, and what norms say of others.
pub(super) fn norms(subject: &Subject<'_>, scans: &Scans) -> Finding {
    let rule = Rule::Norms;
    let is_real = matches!(subject.element(), ElementType::F32 | ElementType::F16);
    let shown = |scan: &Scan| {
        let zeroes = match scan.zero_rows {
            0 => String::new(),
            _ => format!(" ({} above zero)", number(scan.least_norm_above_zero)),
        };
        format!(
            "{}{zeroes}, {}, {}",
            number(scan.least_norm),
            number(scan.median_norm),
            number(scan.greatest_norm)
        )
    };
    let figures = format!(
        "least, median and greatest norm: base {}; queries {}",
        shown(&scans.base),
        shown(&scans.queries)
    );
    let alone = |scan: &Scan| {
        // A zero row has no direction; another rule speaks of it.
        let least = scan.least_norm_above_zero;
        (least - 1.0).abs() <= NORMALISED && (scan.greatest_norm - 1.0).abs() <= NORMALISED
    };
    let normalised = alone(&scans.base) && alone(&scans.queries);
    let finding = match subject.metric {
        Metric::Cosine if !is_real => {
            let why = format!("{} are never of norm 1; {figures}", subject.element());
            Finding::cannot_tell(rule, why)
        }
        Metric::Cosine if normalised => Finding::holds(rule, format!("normalised; {figures}")),
        Metric::Cosine => Finding::violated(
            rule,
            format!("an angular set whose rows are not normalised; {figures}"),
            "annbench's cosine takes the norms out and adapters that search by inner product or l2 \
             normalise what they are given; normalise before you use the file elsewhere",
        ),
        Metric::InnerProduct if normalised => {
            let what = "inner product, cosine and l2 order rows of norm 1 alike";
            Finding::holds(rule, format!("{what}; {figures}"))
        }
        Metric::InnerProduct => {
            let what = "norms differ, so inner product has an order of its own";
            Finding::holds(rule, format!("{what}; {figures}"))
        }
        _ => Finding::holds(rule, figures),
    };
    finding
        .with("normalised", normalised)
        .with("base_least", scans.base.least_norm)
        .with("base_median", scans.base.median_norm)
        .with("base_greatest", scans.base.greatest_norm)
        .with("queries_least", scans.queries.least_norm)
        .with("queries_median", scans.queries.median_norm)
        .with("queries_greatest", scans.queries.greatest_norm)
}
