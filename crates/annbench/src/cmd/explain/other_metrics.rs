use super::lines::Lines;
use annbench_results::{OtherMetrics, RelevanceQuality};

/// The metrics that are not recall@k, under a heading that says so.
pub(super) fn write_other_metrics(lines: &mut Lines, other: &OtherMetrics, k: u64) {
    lines.head("other metrics (not recall@k)");
    let queries = other.scored_queries;
    for found in &other.one_recall_at_r {
        lines.add(
            &format!("1-recall@{}", found.r),
            format!(
                "{:.6}: the nearest row is among the first {} for {} of {queries} queries",
                found.recall, found.r, found.queries_found
            ),
        );
    }
    for found in &other.k_recall_at_n {
        // 1-recall@n, where the lines above have it already.
        let told = found.k == 1 && other.one_recall_at_r.iter().any(|one| one.r == found.n);
        if !told {
            lines.add(
                &format!("{}-recall@{}", found.k, found.n),
                format!(
                    "{:.6}: {} of {} by id",
                    found.recall,
                    found.id_hits,
                    u128::from(found.k) * u128::from(queries)
                ),
            );
        }
    }
    lines.add(
        &format!("MRR@{k}"),
        format!("{:.6} of the exact nearest row, by id", other.mrr),
    );
    match &other.relative_distance_error {
        Err(why) => lines.add("rel. distance error", format!("none: {why}")),
        Ok(error) => {
            let mean = match error.mean {
                Some(mean) => format!("{mean:.6}"),
                None => "none".to_owned(),
            };
            let mut text = format!("{mean} over {} queries", error.queries);
            for (number, words) in [
                (error.short_queries, "short answers left out"),
                (
                    error.zero_queries,
                    "queries with nothing but distances of 0 left out",
                ),
                (error.zero_pairs, "true neighbours at distance 0 left out"),
            ] {
                if number > 0 {
                    text.push_str(&format!("; {number} {words}"));
                }
            }
            lines.add("rel. distance error", text);
        }
    }
    match &other.ann_benchmarks_recall {
        Err(why) => lines.add("ann-benchmarks'", format!("none: {why}")),
        Ok(theirs) => lines.add(
            "ann-benchmarks'",
            format!(
                "{:.6}: {} entries at most 0.001 beyond the k-th distance",
                theirs.recall, theirs.slots_within
            ),
        ),
    }
    let theirs = &other.big_ann_recall;
    lines.add(
        "big-ann's",
        format!(
            "{:.6}: {} ids in the truth with its ties",
            theirs.recall, theirs.extended_hits
        ),
    );
    if let Some(qrels) = &other.qrels {
        write_qrels(lines, qrels, k);
    }
}

fn write_qrels(lines: &mut Lines, qrels: &RelevanceQuality, k: u64) {
    let figure = |value: Option<f64>| value.map_or("none".to_owned(), |v| format!("{v:.6}"));
    lines.add(
        "against qrels",
        format!(
            "nDCG@{k} {}, MRR@{k} {}, recall@{k} of relevant rows {}",
            figure(qrels.ndcg),
            figure(qrels.mrr),
            figure(qrels.recall)
        ),
    );
    lines.add(
        "",
        format!(
            "{} of {} relevant rows found for {} queries; left out: {} without a relevant row, {} not judged",
            qrels.relevant_found,
            qrels.relevant,
            qrels.queries,
            qrels.queries_without_relevant,
            qrels.queries_not_judged
        ),
    );
}
