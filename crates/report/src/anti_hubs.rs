//! The rarely retrieved rows, on a line of their own: aggregate recall alone accepts nothing.

use crate::chosen::chosen;
use crate::facts::{FactLine, alarm, line};
use crate::figures::{count, plural, recall};
use crate::overlay::Source;
use annbench_results::{Hubness, HubnessQuality};

/// A library loses more than this of its rarely retrieved rows against all rows: shown as an alarm.
const GAP: f64 = 0.02;

/// Anti-hub recall of each library and recall of all rows, by ids, of its fastest point at recall 0.95 or else its best.
pub(crate) fn anti_hubs(source: &Source<'_, '_>) -> Vec<FactLine> {
    let chosen = chosen(source);
    let Some((_, (_, strata))) = chosen.first_key_value() else {
        return vec![line("anti-hub recall", "not computed".to_owned())];
    };
    let hubness = match &strata.hubness {
        Ok(hubness) => hubness,
        Err(why) => return vec![line("anti-hub recall", format!("not computed: {why}"))],
    };
    let mut figures = Vec::new();
    let mut behind = false;
    for (library, (row, strata)) in &chosen {
        let found = strata.hubness.as_ref().ok();
        let figure = found.and_then(|hubness| hubness.anti_hub.recall_pairs);
        // By ids on both sides: ties count for neither.
        let all = row.record.quality.as_ref().map_or(0.0, |q| {
            q.id_hits as f64 / (q.k * q.scored_queries).max(1) as f64
        });
        behind |= figure.is_some_and(|figure| figure < all - GAP);
        figures.push(match figure {
            Some(figure) => format!("{library} {} (all rows {})", recall(figure), recall(all)),
            None => format!("{library} abstains"),
        });
    }
    let text = format!("{} · {}", figures.join(", "), stratum(hubness, source));
    vec![match behind {
        true => alarm("anti-hub recall", text),
        false => line("anti-hub recall", text),
    }]
}

fn stratum(hubness: &HubnessQuality, source: &Source<'_, '_>) -> String {
    let n = source.rows[0].record.dataset.n;
    let base = &hubness.base;
    format!(
        "found of {} of {}; rows among the {} nearest of at most {} others, {:.1} % of the base",
        plural(hubness.anti_hub.pairs, "pair"),
        match hubness.anti_hub.pair_queries {
            1 => "1 query".to_owned(),
            queries => format!("{} queries", count(queries)),
        },
        base.k,
        base.anti_hub_threshold,
        100.0 * base.anti_hub_rows as f64 / n as f64
    ) + &estimated(base, n)
}

/// Says what was counted where that is not everything.
fn estimated(base: &Hubness, n: u64) -> String {
    if base.asked_rows >= n {
        return String::new();
    }
    let budget = base.k as f64 * base.asked_rows as f64 / n as f64;
    format!(
        "; estimated from the neighbours of {} rows drawn from {}, {budget:.1} to a row on average",
        count(base.asked_rows),
        count(n)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_declared_and_an_exact_count_needs_no_word() {
        let base = |asked_rows| Hubness {
            k: 100,
            asked_rows,
            anti_hub_threshold: 2,
            anti_hub_rows: 1_200_000,
            never_rows: 3,
            skewness: None,
            robin_hood: None,
            query_budget: 0.01,
            query_skewness: None,
        };
        assert_eq!(estimated(&base(10_000_000), 10_000_000), "");
        assert_eq!(
            estimated(&base(1_000_000), 10_000_000),
            "; estimated from the neighbours of 1,000,000 rows drawn from 10,000,000, 10.0 to a row on average"
        );
    }
}
