//! Points of a recall–QPS curve and the front over them.

use crate::{Outcome, SearchRecord};
use std::collections::BTreeMap;

/// A measured point: both figures are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    recall: f64,
    qps: f64,
}

impl CurvePoint {
    /// Returns `None` unless both are finite numbers.
    pub fn new(recall: f64, qps: f64) -> Option<Self> {
        (recall.is_finite() && qps.is_finite()).then_some(Self { recall, qps })
    }

    /// Mean recall@k.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// Median queries per second.
    pub fn qps(&self) -> f64 {
        self.qps
    }
}

/// Positions in `points` of the Pareto front, by ascending recall and so by descending QPS.
///
/// A point is on it when no other is at least as good in both figures and better in one. Of equal
/// points the first is on it.
pub fn pareto_front(points: &[CurvePoint]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    // Best recall first, among equals the fastest, among those the first.
    order.sort_by(|&a, &b| {
        let (x, y) = (&points[a], &points[b]);
        y.recall
            .total_cmp(&x.recall)
            .then(y.qps.total_cmp(&x.qps))
            .then(a.cmp(&b))
    });
    let mut fastest = f64::NEG_INFINITY;
    let mut front: Vec<usize> = order
        .into_iter()
        .filter(|&i| {
            let ahead = points[i].qps > fastest;
            if ahead {
                fastest = points[i].qps;
            }
            ahead
        })
        .collect();
    front.reverse();
    front
}

/// Position of the fastest measured point whose recall is at least `recall`, the first of equals;
/// `None` when none reaches it. This is the step rule: nothing is interpolated.
pub fn fastest_at_recall(points: &[CurvePoint], recall: f64) -> Option<usize> {
    (0..points.len())
        .filter(|&i| points[i].recall >= recall)
        .reduce(|best, i| {
            if points[i].qps > points[best].qps {
                i
            } else {
                best
            }
        })
}

/// QPS at recall `recall` by the step rule of [`fastest_at_recall`]; `None`: not reached.
pub fn qps_at_recall(points: &[CurvePoint], recall: f64) -> Option<f64> {
    fastest_at_recall(points, recall).map(|i| points[i].qps)
}

/// What a set of search records amounts to on a plot. Every record is either a point or counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Points with both figures.
    pub points: Vec<CurvePoint>,
    /// For each point, the position of its record.
    pub record_of: Vec<usize>,
    /// Records that are no point, by outcome word (rejected, failed, skipped) and, for failures,
    /// cause: `failed: timeout`. `ok, not scored` where figures are absent.
    pub not_drawn: BTreeMap<String, u64>,
}

/// Sorts search records into points and counted rest. An answer that holds invalid ids is no point:
/// its record has failed.
pub fn curve(records: &[&SearchRecord]) -> Curve {
    let mut curve = Curve::default();
    for (position, record) in records.iter().enumerate() {
        let figures = match (&record.outcome, &record.quality, &record.speed) {
            (Outcome::Ok, Some(quality), Some(speed)) => {
                CurvePoint::new(quality.recall_mean, speed.qps_median)
            }
            _ => None,
        };
        if let Some(point) = figures {
            curve.points.push(point);
            curve.record_of.push(position);
            continue;
        }
        let word = match &record.outcome {
            Outcome::Ok => "ok, not scored".to_owned(),
            Outcome::Failed(failure) => format!("failed: {}", failure.cause.word()),
            other => other.word().to_owned(),
        };
        *curve.not_drawn.entry(word).or_default() += 1;
    }
    curve
}
