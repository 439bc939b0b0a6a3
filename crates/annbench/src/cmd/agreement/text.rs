use super::Compared;
use crate::progress::outcome_text;
use annbench_results::{Agreement, MeasuredPoint, Outcome, SearchRecord};
use std::fmt::Write;

/// What it cannot tell.
const LIMITS: &str = "Agreement tells nothing about which of the two is right: two searches may agree and both be \
    wrong.\nRecall needs an exact search: `annbench run` scores against one.\n";

/// The answer for people.
pub(super) fn text(compared: &[Compared<'_>], left_out: &[String]) -> String {
    let mut text = String::from("Agreement of approximate searches. It is not recall.\n\n");
    match compared {
        [one] => write_one(&mut text, one),
        many => write_table(&mut text, many),
    }
    text.push('\n');
    for line in left_out {
        let _ = writeln!(text, "left out: {line}");
    }
    text.push_str(LIMITS);
    text
}

fn write_one(text: &mut String, compared: &Compared<'_>) {
    let Compared { a, b, agreement } = compared;
    let mut line = |label: &str, what: String| {
        let _ = writeln!(text, "  {label:10}  {what}");
    };
    let record = a.record;
    line(
        "dataset",
        format!(
            "{}: {} queries, k = {}, {}",
            record.dataset.name, agreement.queries, agreement.k, record.dataset.metric
        ),
    );
    line("A", point(*a));
    line("B", point(*b));
    line(
        "agreement",
        format!(
            "mean {:.4}: {} of {} neighbours are in both answers",
            agreement.mean,
            agreement.shared,
            agreement.k * agreement.queries
        ),
    );
    line(
        "by query",
        format!(
            "lowest {}, p05 {}, median {}",
            agreement.min, agreement.p05, agreement.median
        ),
    );
    line(
        "identical",
        format!(
            "{} of {} queries have the same set ({:.4})",
            agreement.identical_queries, agreement.queries, agreement.identical_share
        ),
    );
    line("Jaccard", jaccard(agreement));
    for (label, record, short) in [
        ("A short", a.record, agreement.short_a),
        ("B short", b.record, agreement.short_b),
    ] {
        if short > 0 {
            line(
                label,
                format!(
                    "{short} places of {} hold no row of their own",
                    record.library
                ),
            );
        }
    }
    for (label, record) in [("A", a.record), ("B", b.record)] {
        if record.outcome != Outcome::Ok {
            line("note", format!("{label} {}", outcome_text(&record.outcome)));
        }
        if is_perfect(record) {
            line(
                "note",
                format!(
                    "{label} has an exact top-k for every query: agreement with it is recall by ids"
                ),
            );
        }
    }
    text.push('\n');
    write_histogram(text, agreement);
}

fn jaccard(agreement: &Agreement) -> String {
    let mean = match agreement.jaccard_mean {
        Some(mean) => format!("mean {mean:.4} of shared rows among those in either"),
        None => "none: no query was answered".to_owned(),
    };
    match agreement.empty_queries {
        0 => mean,
        empty => format!("{mean}; {empty} queries that neither answered left out"),
    }
}

/// Whether the record's answers are a true top-k set for every query.
fn is_perfect(record: &SearchRecord) -> bool {
    let quality = record.quality.as_ref();
    quality.is_some_and(|q| q.hits == q.k.saturating_mul(q.scored_queries))
}

fn point(point: MeasuredPoint<'_>) -> String {
    let record = point.record;
    let recall = match &record.quality {
        Some(quality) => format!("{:.4}", quality.recall_mean),
        None => "not scored".to_owned(),
    };
    format!(
        "{} · recall@{} by its record {recall} · point {:.12} in {}",
        configuration(record),
        record.identity.k,
        record.point_id,
        point.run_dir.display()
    )
}

fn configuration(record: &SearchRecord) -> String {
    let identity = &record.identity;
    let words = [
        record.library.clone(),
        identity.build.build_params.to_string(),
        identity.search_params.to_string(),
    ];
    let said: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    said.join(" ")
}

/// Lines that a histogram takes at most.
const MOST_LINES: usize = 12;
/// Characters of the longest bar.
const LONGEST_BAR: u64 = 40;

fn write_histogram(text: &mut String, agreement: &Agreement) {
    let by_shared = &agreement.queries_by_shared;
    let step = by_shared.len().div_ceil(MOST_LINES).max(1);
    let bins: Vec<(usize, u64)> = by_shared
        .chunks(step)
        .enumerate()
        .map(|(number, queries)| (number * step, queries.iter().sum()))
        .collect();
    let most = bins.iter().map(|&(_, queries)| queries).max().unwrap_or(0);
    let _ = writeln!(text, "  shared of {}  queries", agreement.k);
    for (from, queries) in bins {
        let to = (from + step - 1).min(by_shared.len() - 1);
        let range = match from == to {
            true => from.to_string(),
            false => format!("{from}–{to}"),
        };
        let bar = (queries * LONGEST_BAR).div_ceil(most.max(1)) as usize;
        let _ = writeln!(text, "  {range:>12}  {queries:>7}  {}", "▇".repeat(bar));
    }
}

fn write_table(text: &mut String, compared: &[Compared<'_>]) {
    let mut dataset = None;
    for Compared { a, b, agreement } in compared {
        let name = (&a.record.dataset.name, agreement.k);
        if dataset != Some(name) {
            let _ = writeln!(
                text,
                "  {}, k = {}, {} queries: agreement, identical sets, recall by the records of A and B",
                name.0, name.1, agreement.queries
            );
            dataset = Some(name);
        }
        let recall = |record: &SearchRecord| {
            let quality = record.quality.as_ref();
            quality.map_or("-".to_owned(), |q| format!("{:.4}", q.recall_mean))
        };
        let (of_a, of_b) = (configuration(a.record), configuration(b.record));
        let what = match of_a == of_b {
            true => of_a,
            false => format!("{of_a} | {of_b}"),
        };
        let _ = writeln!(
            text,
            "    {:.4}  {:.4}  {:>6}  {:>6}  {what}",
            agreement.mean,
            agreement.identical_share,
            recall(a.record),
            recall(b.record)
        );
    }
}
