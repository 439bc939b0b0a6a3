use super::Audited;
use annbench_report::count;
use annbench_results::QueryCertificate;
use std::fmt::Write;

/// Upper ends of the bins of kappa.
const BINS: [f64; 10] = [1.002, 1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0];

/// The answer for people.
pub(super) fn text(audited: &Audited<'_>) -> String {
    let found = &audited.audit;
    let mut text = String::new();
    let of_set = match found.queries + found.undefined_queries {
        asked if asked == audited.queries_of_set => String::new(),
        asked => format!(", the first {asked} of {}", count(audited.queries_of_set)),
    };
    let _ = writeln!(
        text,
        "{}: {} rows, {}; k = {}, {} queries{of_set}",
        audited.dataset,
        count(audited.n),
        audited.metric,
        found.k,
        count(found.queries)
    );
    let mut line = |label: &str, what: String| {
        let _ = writeln!(text, "  {label:11}  {what}");
    };
    line("compressed", audited.compressed.clone());
    if found.undefined_queries > 0 {
        let undefined = found.undefined_queries;
        line(
            "left out",
            format!("{undefined} queries without a direction"),
        );
    }
    let share = |queries: u64| queries as f64 / found.queries as f64;
    line(
        "kept",
        format!(
            "{:.4} of the queries ({}): an exhaustive search of the compressed vectors finds their {} nearest",
            share(found.kept_queries),
            count(found.kept_queries),
            found.k
        ),
    );
    line(
        "",
        format!("its recall@{} is {:.4}", found.k, found.recall_mean),
    );
    line(
        "proven",
        format!(
            "{:.4} of the queries ({}): their gap is above their kappa",
            share(found.preserved_queries),
            count(found.preserved_queries)
        ),
    );
    let not_shown = found.queries - found.preserved_queries;
    line(
        "not shown",
        format!(
            "{:.4} of the queries ({}), of which {} are kept all the same",
            share(not_shown),
            count(not_shown),
            count(found.kept_queries - found.preserved_queries)
        ),
    );
    line("kappa", spread(&found.by_query, |query| query.kappa));
    line("gap", spread(&found.by_query, |query| query.gap));
    text.push('\n');
    write_bins(&mut text, &found.by_query);
    let k = found.k;
    let _ = writeln!(
        text,
        "\ngap: d_({}) / d_({k}) of the true neighbours, Euclidean. kappa: the largest ratio of compressed to\n\
         exact distance over the smallest, over all rows. A gap above kappa proves that the {k} nearest stay\n\
         nearest. Where it is not, nothing is shown: the condition is sufficient, and any row may spoil it.",
        k + 1
    );
    text
}

/// Lowest, median and highest; what is infinite counts as highest.
fn spread(
    queries: &[QueryCertificate],
    figure: impl Fn(&QueryCertificate) -> Option<f64>,
) -> String {
    let mut values: Vec<f64> = queries
        .iter()
        .map(|query| figure(query).unwrap_or(f64::INFINITY))
        .collect();
    values.sort_by(f64::total_cmp);
    let infinite = values.iter().filter(|value| value.is_infinite()).count();
    let word = |value: Option<&f64>| match value {
        Some(value) if value.is_finite() => format!("{value:.4}"),
        _ => "infinite".to_owned(),
    };
    let median = values.get(values.len().div_ceil(2).wrapping_sub(1));
    let text = format!(
        "lowest {}, median {}, highest {}",
        word(values.first()),
        word(median),
        word(values.last())
    );
    match infinite {
        0 => text,
        infinite => format!("{text}; infinite for {infinite} queries"),
    }
}

fn write_bins(text: &mut String, queries: &[QueryCertificate]) {
    let _ = writeln!(text, "  kappa         queries   proven     kept");
    let mut from = 1.0;
    for to in BINS.into_iter().chain([f64::INFINITY]) {
        let within = |query: &&QueryCertificate| {
            query.kappa.is_some_and(|kappa| (from..to).contains(&kappa))
        };
        let label = match to.is_finite() {
            true => format!("below {to}"),
            false => format!("{from} and more"),
        };
        write_bin(text, &label, queries.iter().filter(within));
        from = to;
    }
    let infinite = queries.iter().filter(|query| query.kappa.is_none());
    write_bin(text, "infinite", infinite);
}

fn write_bin<'q>(
    text: &mut String,
    label: &str,
    queries: impl Iterator<Item = &'q QueryCertificate>,
) {
    let (mut all, mut proven, mut kept) = (0u64, 0u64, 0u64);
    for query in queries {
        all += 1;
        proven += u64::from(query.preserved);
        kept += u64::from(query.kept);
    }
    if all > 0 {
        let _ = writeln!(text, "  {label:12}  {all:>7}  {proven:>7}  {kept:>7}");
    }
}
