//! The points whose strata are told under a chart.

use crate::overlay::{Row, Source};
use crate::summary::COST_TARGET;
use annbench_results::StrataQuality;
use std::collections::{BTreeMap, BTreeSet};

/// By library.
pub(crate) type Chosen<'s, 'r> = BTreeMap<&'r str, (&'s Row<'r>, &'r StrataQuality)>;

/// Of each library the point whose strata are told: its fastest at recall 0.95, or else its best.
pub(crate) fn chosen<'s, 'r>(source: &'s Source<'_, 'r>) -> Chosen<'s, 'r> {
    let mut chosen: Chosen<'_, 'r> = BTreeMap::new();
    for row in &source.rows {
        if let Some(strata) = &row.record.strata
            && row.record.quality.is_some()
        {
            let best = chosen.entry(&row.record.library).or_insert((row, strata));
            if preference(row) > preference(best.0) {
                *best = (row, strata);
            }
        }
    }
    chosen
}

/// Libraries that have points with a recall, and none of these by strata.
pub(crate) fn libraries_without<'r>(
    source: &Source<'_, 'r>,
    chosen: &Chosen<'_, 'r>,
) -> BTreeSet<&'r str> {
    let scored = source
        .rows
        .iter()
        .filter(|row| row.record.quality.is_some());
    scored
        .map(|row| row.record.library.as_str())
        .filter(|library| !chosen.contains_key(library))
        .collect()
}

/// Points at the target by speed, others by recall.
fn preference(row: &Row<'_>) -> (bool, f64) {
    let recall = row.record.quality.as_ref().map_or(0.0, |q| q.recall_mean);
    let qps = row.record.speed.as_ref().map_or(0.0, |s| s.qps_median);
    match recall >= COST_TARGET {
        true => (true, qps),
        false => (false, recall),
    }
}
