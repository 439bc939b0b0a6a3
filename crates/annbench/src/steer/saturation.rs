//! When a curve has got where it was to go.

use annbench_core::ParamValue;
use annbench_results::{Outcome, PointIdentity, Record, SearchRecord, latest_searches};
use annbench_runner::PlannedPoint;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Why `point` cannot matter once `target` is the highest recall that is asked for; `None` when it may.
///
/// Which way a parameter leads is never assumed: it is read off two measured points of the same build
/// that differ from `point`, and from one another, in that one number. When the step towards `point`
/// raised recall (or left it) to at least `target` and cost speed, a further step is skipped. A point
/// whose answers refute the truth shows nothing.
pub fn saturated(point: &PlannedPoint, records: &[Record], target: f64) -> Option<String> {
    let mut lines: BTreeMap<&str, Vec<Seen<'_>>> = BTreeMap::new();
    for search in latest_searches(records) {
        if let Some((name, seen)) = beside(&point.identity, search) {
            lines.entry(name).or_default().push(seen);
        }
    }
    lines.into_iter().find_map(|(name, seen)| {
        let own = number(point.identity.search_params.0.get(name)?)?;
        let rising = [Ordering::Less, Ordering::Greater];
        rising.into_iter().find_map(|side| {
            let mut on_side: Vec<&Seen<'_>> = seen
                .iter()
                .filter(|seen| seen.value.total_cmp(&own) == side)
                .collect();
            // The nearest to the point comes last.
            on_side.sort_by(|a, b| a.value.total_cmp(&b.value));
            if side == Ordering::Greater {
                on_side.reverse();
            }
            on_side.windows(2).find_map(|pair| {
                let [far, near] = pair else { return None };
                let there = near.recall >= target && far.recall <= near.recall;
                (there && far.qps > near.qps).then(|| {
                    format!(
                        "recall {} was reached at {name}={}, after {} at {name}={}: beyond the {target} of \
                         --stop-at-recall it would only be slower",
                        shown(near.recall), near.shown, shown(far.recall), far.shown,
                    )
                })
            })
        })
    })
}

/// A measured point that differs in one number.
struct Seen<'r> {
    value: f64,
    shown: &'r ParamValue,
    recall: f64,
    qps: f64,
}

/// The one numeric parameter in which `search` differs from `point`, and what was measured there.
fn beside<'r>(point: &PointIdentity, search: &'r SearchRecord) -> Option<(&'r str, Seen<'r>)> {
    let other = &search.identity;
    let quality = search.quality.as_ref().filter(|q| q.beats_truth == 0)?;
    let speed = search.speed.as_ref()?;
    let same = (point.k, point.mode, point.threads) == (other.k, other.mode, other.threads)
        && point.queries_fingerprint == other.queries_fingerprint
        && search.outcome == Outcome::Ok
        && point.build == other.build;
    let (own, others) = (&point.search_params.0, &other.search_params.0);
    if !same || own.len() != others.len() {
        return None;
    }
    let mut different = others
        .iter()
        .filter(|&(name, value)| own.get(name) != Some(value));
    let ((name, value), None) = (different.next()?, different.next()) else {
        return None;
    };
    let seen = Seen {
        value: number(value)?,
        shown: value,
        recall: quality.recall_mean,
        qps: speed.qps_median,
    };
    own.contains_key(name).then_some((name.as_str(), seen))
}

fn number(value: &ParamValue) -> Option<f64> {
    match value {
        ParamValue::Int(value) => Some(*value as f64),
        ParamValue::Float(value) => Some(*value),
        ParamValue::Bool(_) | ParamValue::Text(_) => None,
    }
}

/// Never rounded up to what was not reached.
fn shown(recall: f64) -> String {
    format!("{}", (recall * 1e4).floor() / 1e4)
}
