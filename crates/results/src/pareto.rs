//! Points of a recall–QPS curve and the front over them.

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
