//! The rarely retrieved rows, on a line of their own: aggregate recall alone accepts nothing.

use crate::chosen::{chosen, libraries_without};
use crate::facts::{FactLine, alarm, line};
use crate::figures::{count, plural, recall};
use crate::overlay::Source;
use annbench_results::{AntiHubQuality, Hubness, HubnessQuality, SearchRecord};
use std::collections::BTreeMap;

const LABEL: &str = "anti-hub recall";

/// A library loses more than this of its rarely retrieved rows against all rows: shown as an alarm.
const GAP: f64 = 0.02;

/// Anti-hub recall of each library and recall of all rows, by ids, of its fastest point at recall 0.95 or else
/// its best. A line for all libraries of the same counts, for figures by others are of other rows; and one for
/// those without counts.
pub(crate) fn anti_hubs(source: &Source<'_, '_>) -> Vec<FactLine> {
    let chosen = chosen(source);
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut without: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for (library, (row, strata)) in &chosen {
        match &strata.hubness {
            Err(why) => without.entry(Some(why)).or_default().push(library),
            Ok(hubness) => {
                let same = groups.iter_mut().find(|group| group.holds(hubness));
                let figure = Figure::of(library, row.record, &hubness.anti_hub);
                match same {
                    Some(group) => group.figures.push(figure),
                    None => groups.push(Group {
                        hubness,
                        figures: vec![figure],
                    }),
                }
            }
        }
    }
    let unscored = libraries_without(source, &chosen);
    if !unscored.is_empty() {
        without.entry(None).or_default().extend(unscored);
    }
    let n = source.rows[0].record.dataset.n;
    let mut lines: Vec<FactLine> = groups.iter().map(|group| group.line(n)).collect();
    // That is so of all libraries: none need be named.
    let all_alike = groups.is_empty() && without.len() <= 1;
    if without.is_empty() && groups.is_empty() {
        without.entry(None).or_default();
    }
    for (why, libraries) in without {
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        let text = match all_alike {
            true => format!("not computed{why}"),
            false => format!("{} not computed{why}", libraries.join(", ")),
        };
        lines.push(line(LABEL, text));
    }
    lines
}

/// Libraries that were scored by the same counts over the same pairs.
struct Group<'r> {
    hubness: &'r HubnessQuality,
    figures: Vec<Figure>,
}

struct Figure {
    text: String,
    /// Whether too much more is lost than of all rows.
    behind: bool,
}

impl Group<'_> {
    fn holds(&self, hubness: &HubnessQuality) -> bool {
        let pairs = |hubness: &HubnessQuality| {
            let anti_hub = &hubness.anti_hub;
            (anti_hub.pairs, anti_hub.pair_queries)
        };
        self.hubness.base == hubness.base && pairs(self.hubness) == pairs(hubness)
    }

    fn line(&self, n: u64) -> FactLine {
        let figures: Vec<&str> = self.figures.iter().map(|f| f.text.as_str()).collect();
        let text = format!("{} · {}", figures.join(", "), stratum(self.hubness, n));
        match self.figures.iter().any(|figure| figure.behind) {
            true => alarm(LABEL, text),
            false => line(LABEL, text),
        }
    }
}

impl Figure {
    fn of(library: &str, record: &SearchRecord, anti_hub: &AntiHubQuality) -> Self {
        // By ids on both sides: ties count for neither.
        let all = record.quality.as_ref().map_or(0.0, |q| {
            q.id_hits as f64 / (q.k * q.scored_queries).max(1) as f64
        });
        match anti_hub.recall_pairs {
            Some(found) => Self {
                text: format!(
                    "{library} {} (all rows by ids {})",
                    recall(found),
                    recall(all)
                ),
                behind: found < all - GAP,
            },
            None => Self {
                text: format!("{library} abstains"),
                behind: false,
            },
        }
    }
}

fn stratum(hubness: &HubnessQuality, n: u64) -> String {
    let base = &hubness.base;
    format!(
        "found of {} of {}, by the fastest point at ≥ 0.95 or else the best; anti-hubs are rows among the {} nearest of at most {} others, {:.1} % of the base",
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
