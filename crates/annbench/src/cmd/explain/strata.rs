use super::lines::Lines;
use annbench_results::{
    Bar, CountBucket, DifficultyMeasure, DifficultyQuality, HubnessQuality, StrataQuality,
    StratumOutcome,
};

/// Quality by strata, with what abstains and why.
pub(super) fn write_strata(lines: &mut Lines, strata: &StrataQuality, k: u64, n: u64) {
    lines.head("strata (the mean over queries hides one that fails)");
    match &strata.hubness {
        Err(why) => lines.add("anti-hubs", format!("not counted: {why}")),
        Ok(hubness) => write_hubness(lines, hubness, n),
    }
    match &strata.difficulty {
        Err(why) => lines.add("by difficulty", format!("not told: {why}")),
        Ok(difficulty) => write_difficulty(lines, difficulty),
    }
    lines.add("robustness", robustness(&strata.queries_by_hits, k));
    for (number, bar) in strata.bars.iter().enumerate() {
        lines.add(
            if number == 0 { "min over strata" } else { "" },
            format!("≥ {}: {}", bar.recall, in_words(bar)),
        );
    }
}

fn in_words(bar: &Bar) -> String {
    let Some(strata) = &bar.strata else {
        return format!(
            "{} by an earlier rule, which passed without strata that abstained: rescore it",
            bar.outcome.word()
        );
    };
    let judged = strata.judged.len();
    match bar.outcome {
        StratumOutcome::Pass => {
            format!("pass: the lower bounds of all {judged} strata reach it")
        }
        StratumOutcome::Fail => {
            format!("fail: the upper bound of one of {judged} strata is below it")
        }
        StratumOutcome::Inconclusive => match strata.abstained.as_slice() {
            [] => format!("inconclusive: the bounds of {judged} strata do not decide"),
            abstained => {
                let words: Vec<&str> = abstained.iter().map(|stratum| stratum.words()).collect();
                let rest = match judged {
                    0 => String::new(),
                    _ => format!("; the upper bounds of {judged} others reach it"),
                };
                format!("inconclusive: no bounds for {}{rest}", words.join(", "))
            }
        },
    }
}

/// Shares of queries that reach a recall.
fn robustness(queries_by_hits: &[u64], k: u64) -> String {
    let all = queries_by_hits.iter().copied().fold(0, u64::saturating_add);
    let shares = annbench_results::BARS.into_iter().chain([1.0]).map(|bar| {
        let share = annbench_results::robustness(queries_by_hits, bar);
        let share = share.map_or("none".to_owned(), |share| format!("{share:.4}"));
        match bar {
            1.0 => format!("{share} have all {k}"),
            _ => format!("{share} at recall ≥ {bar}"),
        }
    });
    let shares: Vec<String> = shares.collect();
    format!("share of {all} queries: {}", shares.join(", "))
}

fn write_hubness(lines: &mut Lines, hubness: &HubnessQuality, n: u64) {
    let anti = &hubness.anti_hub;
    lines.add(
        "anti-hub pairs",
        match (anti.recall_pairs, anti.recall_pairs_standard_error) {
            (Some(recall), Some(error)) => format!(
                "recall {recall:.4} ± {error:.4}: {} of {} pairs of {} queries found",
                anti.pairs_found, anti.pairs, anti.pair_queries
            ),
            _ => format!(
                "abstains: {} of {} pairs of {} queries found; 100 pairs of 50 queries are needed",
                anti.pairs_found, anti.pairs, anti.pair_queries
            ),
        },
    );
    lines.add(
        "anti-hub queries",
        match anti.recall_q {
            Some(recall) => format!("recall {recall:.4} over {} queries", anti.queries),
            None => format!(
                "abstains: {} queries have an anti-hub nearest, 100 are needed",
                anti.queries
            ),
        },
    );
    let base = &hubness.base;
    lines.add(
        "",
        format!(
            "anti-hubs: {} rows among the {} nearest of at most {} others, {} of none",
            base.anti_hub_rows, base.k, base.anti_hub_threshold, base.never_rows
        ),
    );
    let buckets = coarser(&hubness.by_count);
    if base.asked_rows < n {
        lines.add(
            "",
            format!(
                "estimated: counted among the nearest of {} of {n} rows only",
                base.asked_rows
            ),
        );
    }
    for (number, bucket) in buckets.iter().enumerate() {
        let counts = match bucket.from == bucket.to {
            true => bucket.from.to_string(),
            false => format!("{} to {}", bucket.from, bucket.to),
        };
        lines.add(
            if number == 0 { "by count" } else { "" },
            format!(
                "among the nearest of {counts}: {:.4} of {} pairs found",
                bucket.found as f64 / bucket.pairs as f64,
                bucket.pairs
            ),
        );
    }
    let figure = |value: Option<f64>| value.map_or("abstains".to_owned(), |v| format!("{v:.4}"));
    lines.add(
        "hubs",
        format!(
            "rank correlation {} over all rows, {} over those seen; total variation {:.4}; overlap {}",
            figure(hubness.hub_rank_all),
            figure(hubness.hub_rank_support),
            hubness.total_variation,
            figure(hubness.hub_overlap)
        ),
    );
}

/// Lines that the buckets of counts take beside the first; records have them all.
const LINES_OF_THE_REST: f64 = 5.0;

/// `buckets` merged until each holds its share of the pairs; the fewest counts stay by themselves, for it
/// is there that recall is lost.
fn coarser(buckets: &[CountBucket]) -> Vec<CountBucket> {
    let pairs = buckets
        .iter()
        .map(|bucket| bucket.pairs as f64)
        .sum::<f64>();
    let mut coarse: Vec<CountBucket> = Vec::new();
    for bucket in buckets {
        let number = coarse.len();
        match coarse.last_mut() {
            Some(last) if number > 1 && last.pairs as f64 * LINES_OF_THE_REST < pairs => {
                last.to = bucket.to;
                last.pairs = last.pairs.saturating_add(bucket.pairs);
                last.found = last.found.saturating_add(bucket.found);
            }
            _ => coarse.push(bucket.clone()),
        }
    }
    coarse
}

fn write_difficulty(lines: &mut Lines, difficulty: &DifficultyQuality) {
    let measure = match difficulty.measure {
        DifficultyMeasure::Lid => "local intrinsic dimension",
        DifficultyMeasure::Expansion => "d_2k / d_k",
    };
    let thirds = difficulty.thirds.iter().zip(["easy", "middle", "hard"]);
    let thirds: Vec<String> = thirds
        .map(|(third, word)| match third.recall {
            Some(recall) => format!("{word} {recall:.4} ({} queries)", third.queries),
            None => format!("{word}: no queries"),
        })
        .collect();
    lines.add(
        "by difficulty",
        format!("{}, by {measure}", thirds.join(", ")),
    );
}
