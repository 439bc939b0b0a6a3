//! The front and the step rule against naive readings of their definitions.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use annbench_results::*;
use proptest::prelude::*;

fn points() -> impl Strategy<Value = Vec<CurvePoint>> {
    // Few values, so that ties in one and both figures are common.
    prop::collection::vec((0u8..6, 1u8..6), 0..20).prop_map(|pairs| {
        pairs
            .into_iter()
            .map(|(r, q)| CurvePoint::new(f64::from(r) / 5.0, f64::from(q) * 100.0).unwrap())
            .collect()
    })
}

proptest! {
    #[test]
    fn the_front_holds_exactly_what_nothing_dominates(points in points()) {
        let front = pareto_front(&points);
        for (i, p) in points.iter().enumerate() {
            let dominated = points.iter().enumerate().any(|(j, o)| {
                let as_good = o.recall() >= p.recall() && o.qps() >= p.qps();
                as_good && (o != p || j < i)
            });
            prop_assert_eq!(front.contains(&i), !dominated, "point {}", i);
        }
        for pair in front.windows(2) {
            prop_assert!(points[pair[0]].recall() < points[pair[1]].recall());
            prop_assert!(points[pair[0]].qps() > points[pair[1]].qps());
        }
    }

    #[test]
    fn p34_the_step_rule_never_rises_with_recall(
        points in points(),
        a in 0.0f64..1.1,
        b in 0.0f64..1.1,
    ) {
        let (low, high) = (a.min(b), a.max(b));
        let at = |r| qps_at_recall(&points, r);
        // `None`, not reached, is below every number.
        prop_assert!(at(high) <= at(low));
        let naive = points
            .iter()
            .filter(|p| p.recall() >= high)
            .map(|p| p.qps())
            .max_by(f64::total_cmp);
        prop_assert_eq!(at(high), naive);
        // The front is enough to answer it.
        let front: Vec<CurvePoint> = pareto_front(&points).into_iter().map(|i| points[i]).collect();
        prop_assert_eq!(qps_at_recall(&front, high), naive);
    }
}

#[test]
fn w24_the_step_rule_gives_a_measured_point() {
    let points = [(0.90, 10_000.0), (0.98, 5_000.0)].map(|(r, q)| CurvePoint::new(r, q).unwrap());
    assert_eq!(qps_at_recall(&points, 0.95), Some(5_000.0));
    assert_eq!(qps_at_recall(&points, 0.90), Some(10_000.0));
    assert_eq!(qps_at_recall(&points, 0.99), None);
}

#[test]
fn figures_that_are_no_numbers_are_no_points() {
    assert!(CurvePoint::new(f64::NAN, 1.0).is_none());
    assert!(CurvePoint::new(1.0, f64::INFINITY).is_none());
}
