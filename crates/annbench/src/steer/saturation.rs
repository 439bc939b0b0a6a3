//! When a curve has got where it was to go.

use annbench_core::ParamValue;
use annbench_results::{Outcome, PointIdentity, Record, SearchRecord};
use annbench_runner::PlannedPoint;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// The latest record of every point, by the curve that it is on. Records are only ever added, so that
/// each is looked at once.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    taken_in: usize,
    curves: HashMap<String, BTreeMap<String, usize>>,
}

impl Evidence {
    /// Of `records`, for plans.
    pub fn of(records: &[Record]) -> Self {
        let mut evidence = Self::default();
        evidence.take_in(records);
        evidence
    }

    /// Takes in what `records` have gained.
    pub fn take_in(&mut self, records: &[Record]) {
        for (position, record) in records.iter().enumerate().skip(self.taken_in) {
            if let Record::Search(search) = record {
                let curve = self.curves.entry(curve(&search.identity)).or_default();
                curve.insert(search.point_id.clone(), position);
            }
        }
        self.taken_in = records.len();
    }

    /// Why `point` cannot matter once `target` is the highest recall that is asked for; `None` when it
    /// may, and for a point that was attempted before: its user asks for it again.
    ///
    /// Which way a parameter leads is never assumed: it is read off the measured points of the same build
    /// that differ from `point`, and from one another, in that one number. `point` is skipped when recall
    /// never falls along them towards it, the nearest has risen to at least `target`, and its fastest
    /// repetition was slower than the slowest of the one before. Answers that refute the truth, or a truth
    /// refuted otherwise, show nothing.
    pub fn saturated(
        &self,
        point: &PlannedPoint,
        records: &[Record],
        target: f64,
    ) -> Option<String> {
        let known = self.curves.get(&curve(&point.identity))?;
        let searches = known
            .iter()
            .filter_map(|(id, &position)| match records.get(position) {
                Some(Record::Search(search)) => Some((id, search)),
                _ => None,
            });
        let mut lines: BTreeMap<&str, Vec<Seen<'_>>> = BTreeMap::new();
        for (id, search) in searches {
            if *id == point.point_id && matches!(search.outcome, Outcome::Ok | Outcome::Failed(_)) {
                return None;
            }
            if let Some((name, seen)) = beside(&point.identity, search) {
                lines.entry(name).or_default().push(seen);
            }
        }
        lines.into_iter().find_map(|(name, seen)| {
            let own = number(point.identity.search_params.0.get(name)?)?;
            [Ordering::Less, Ordering::Greater]
                .into_iter()
                .find_map(|side| beyond(name, &seen, own, side, target))
        })
    }
}

/// Whether a point at `own` lies beyond those of `seen` on its `side`, in words.
fn beyond(name: &str, seen: &[Seen<'_>], own: f64, side: Ordering, target: f64) -> Option<String> {
    let mut on_side: Vec<&Seen<'_>> = seen
        .iter()
        .filter(|seen| seen.value.total_cmp(&own) == side)
        .collect();
    // The nearest to the point comes last.
    on_side.sort_by(|a, b| a.value.total_cmp(&b.value));
    if side == Ordering::Greater {
        on_side.reverse();
    }
    let rises = on_side
        .windows(2)
        .all(|pair| pair[0].recall <= pair[1].recall);
    let [.., before, nearest] = on_side.as_slice() else {
        return None;
    };
    let reached = nearest.recall >= target && before.recall < nearest.recall;
    let slower = nearest.fastest_qps < before.slowest_qps;
    (rises && reached && slower).then(|| {
        format!(
            "recall {} was reached at {name}={}, after {} at {name}={}: beyond the {target} of \
             --stop-at-recall it would only be slower",
            nearest.recall, nearest.shown, before.recall, before.shown,
        )
    })
}

/// What the points of one curve have in common, in words that differ where they do.
fn curve(identity: &PointIdentity) -> String {
    let build = &identity.build;
    format!(
        "{} {} {} {} {} {} {}",
        build.executable_sha256,
        build.base_fingerprint,
        identity.queries_fingerprint,
        build.build_params,
        identity.k,
        identity.mode,
        identity.threads
    )
}

/// A measured point that differs in one number.
struct Seen<'r> {
    value: f64,
    shown: &'r ParamValue,
    recall: f64,
    slowest_qps: f64,
    fastest_qps: f64,
}

/// The one numeric parameter in which `search` differs from `point`, and what was measured there.
fn beside<'r>(point: &PointIdentity, search: &'r SearchRecord) -> Option<(&'r str, Seen<'r>)> {
    let other = &search.identity;
    let sound = search.truth.as_ref()?.refuted_by.is_none() && search.outcome == Outcome::Ok;
    let quality = search.quality.as_ref().filter(|q| q.beats_truth == 0)?;
    let speed = search.speed.as_ref().filter(|_| sound)?;
    let same = (point.k, point.mode, point.threads) == (other.k, other.mode, other.threads)
        && point.queries_fingerprint == other.queries_fingerprint
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
        slowest_qps: speed.qps_min,
        fastest_qps: speed.qps_max,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a point at `own` is skipped, given `(value, recall, slowest, fastest)`.
    fn skipped(own: f64, measured: &[(f64, f64, f64, f64)]) -> bool {
        let shown = ParamValue::Int(0);
        let seen: Vec<Seen<'_>> = measured
            .iter()
            .map(|&(value, recall, slowest_qps, fastest_qps)| Seen {
                value,
                shown: &shown,
                recall,
                slowest_qps,
                fastest_qps,
            })
            .collect();
        [Ordering::Less, Ordering::Greater]
            .into_iter()
            .any(|side| beyond("ef", &seen, own, side, 0.99).is_some())
    }

    #[test]
    fn what_lies_beyond_a_reached_recall_is_skipped_in_either_direction() {
        let rising = [(10.0, 0.9, 90.0, 110.0), (20.0, 0.995, 50.0, 60.0)];
        assert!(skipped(40.0, &rising));
        assert!(!skipped(15.0, &rising), "between them");
        assert!(!skipped(5.0, &rising), "on the fast side");
        let falling = [(10.0, 0.995, 50.0, 60.0), (20.0, 0.9, 90.0, 110.0)];
        assert!(skipped(5.0, &falling));
        assert!(!skipped(40.0, &falling));
    }

    #[test]
    fn what_chance_may_show_is_no_evidence() {
        // Both at their end: which way leads there is not known.
        assert!(!skipped(
            5.0,
            &[(360.0, 1.0, 50.0, 55.0), (380.0, 1.0, 60.0, 65.0)]
        ));
        // The recall is not reached, or by one point alone.
        assert!(!skipped(
            40.0,
            &[(10.0, 0.8, 90.0, 110.0), (20.0, 0.98, 50.0, 60.0)]
        ));
        assert!(!skipped(40.0, &[(20.0, 1.0, 50.0, 60.0)]));
        // The ranges of speed overlap.
        assert!(!skipped(
            40.0,
            &[(10.0, 0.9, 55.0, 110.0), (20.0, 0.995, 50.0, 60.0)]
        ));
        // Recall falls on the way.
        assert!(!skipped(
            40.0,
            &[
                (5.0, 0.999, 200.0, 210.0),
                (10.0, 0.9, 90.0, 110.0),
                (20.0, 0.995, 50.0, 60.0)
            ]
        ));
    }
}
