//! Worked examples with known results, and what must hold of any numbers.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

use annbench_stats::{
    Outcome, StratumMean, StratumVerdict, Units, clopper_pearson, clopper_pearson_upper,
    min_over_strata, most_wrong, poisson_ceiling, ratio_of_sums, robin_hood, skewness,
    spearman_among_zeros, terciles, wilson,
};
use proptest::prelude::*;

fn spearman(a: &[u32], b: &[u32]) -> Option<f64> {
    spearman_among_zeros(a, b, 0)
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-6 * expected.abs().max(1e-3),
        "expected {expected}, found {found}"
    );
}

#[test]
fn w7_counts_on_a_line() {
    let counts = [2, 2, 3, 0, 3, 3, 3, 0];
    close(skewness(&counts).unwrap(), -0.816_496_6);
    close(robin_hood(&counts).unwrap(), 0.25);
    assert_eq!(skewness(&[4, 4, 4]), None);
    assert_eq!(skewness(&[]), None);
    assert_eq!(robin_hood(&[0, 0]), None);
}

#[test]
fn w10_ranks_with_ties_take_their_mean() {
    let (truth, answers) = ([1, 1, 0, 1, 2, 1, 1, 1], [1, 1, 0, 0, 2, 3, 1, 0]);
    close(spearman(&truth, &answers).unwrap(), 0.573_539_3);
    let (x, y) = (
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0, 1, 1, 0, 0],
    );
    close(spearman(&x, &y).unwrap(), -0.25);
    assert_eq!(spearman(&[1, 1, 1], &[1, 2, 3]), None);
    assert_eq!(spearman(&[1, 2], &[1, 2, 3]), None);
    assert_eq!(spearman(&[], &[]), None);
}

#[test]
fn w11_a_count_above_the_ceiling_is_no_accident() {
    for (n, mu, expected) in [
        (12, 3.0, 6),
        (100_000, 0.1, 3),
        (1_000_000, 0.1, 4),
        (1_000_000, 1.0, 9),
        (10_000, 10.0, 24),
        (8, 1.0, 2),
    ] {
        assert_eq!(poisson_ceiling(n, mu), Some(expected), "n = {n}, mu = {mu}");
    }
    assert_eq!(poisson_ceiling(10, 0.0), None);
    assert_eq!(poisson_ceiling(10, f64::NAN), None);
}

#[test]
fn w15_a_stratum_without_enough_queries_keeps_the_others_from_passing() {
    // A: 400 queries, mean 0.97, sd 0.06; B: 150, 0.91, 0.15; C abstains.
    let strata = [(0.97, 0.06, 400.0f64), (0.91, 0.15, 150.0)].map(|(mean, sd, m)| StratumMean {
        mean,
        standard_error: sd / m.sqrt(),
        units: Units::Alike(m as u64),
    });
    let (outcome, verdicts) = min_over_strata(&strata, false, 0.90, 0.05).unwrap();
    assert_eq!(outcome, Outcome::Inconclusive);
    close(verdicts[0].lower, 0.963_275_8);
    close(verdicts[1].lower, 0.882_548_5);
    close(verdicts[1].upper, 0.937_451_5);
    assert_eq!(
        min_over_strata(&strata, false, 0.88, 0.05).unwrap().0,
        Outcome::Pass
    );
    assert_eq!(
        min_over_strata(&strata, true, 0.88, 0.05).unwrap().0,
        Outcome::Inconclusive
    );
    assert_eq!(
        min_over_strata(&strata, true, 0.94, 0.05).unwrap().0,
        Outcome::Fail
    );
    assert_eq!(
        min_over_strata(&[], false, 0.1, 0.05).unwrap().0,
        Outcome::Inconclusive
    );
}

#[test]
fn what_was_always_right_may_still_be_wrong_sometimes() {
    let all_right = [StratumMean {
        mean: 1.0,
        standard_error: 0.0,
        units: Units::Alike(1000),
    }];
    // One stratum: 0.025^(1/1000).
    let (outcome, verdicts) = min_over_strata(&all_right, false, 0.99, 0.05).unwrap();
    assert_eq!(outcome, Outcome::Pass);
    close(verdicts[0].lower, 0.025f64.powf(1.0 / 1000.0));
    close(verdicts[0].upper, 1.0);
    assert_eq!(
        min_over_strata(&all_right, false, 0.999, 0.05).unwrap().0,
        Outcome::Inconclusive
    );
}

fn only_verdict(mean: f64, standard_error: f64, units: Units) -> StratumVerdict {
    let stratum = [StratumMean {
        mean,
        standard_error,
        units,
    }];
    min_over_strata(&stratum, false, 0.5, 0.05).unwrap().1[0]
}

/// 100 queries of one pair and one of 100: that one query may fail hides half of all pairs.
#[test]
fn the_heaviest_units_may_hide_the_most() {
    let mut weights = vec![1; 100];
    weights.push(100);
    let lower = only_verdict(1.0, 0.0, Units::Weighing(weights)).lower;
    // c with ln(100 / c) = ln 40 is 2.5: 97.5 of 200 pairs.
    close(lower, 1.0 - 97.5 / 200.0);
    // Two of weight 2 and two of weight 1: c^4 = 4 / 40.
    let lower = only_verdict(1.0, 0.0, Units::Weighing(vec![2, 1, 0, 2, 1])).lower;
    let c = (4.0f64 / 40.0).powf(0.25);
    close(lower, 1.0 - (6.0 - 4.0 * c) / 6.0);
    assert_eq!(only_verdict(1.0, 0.0, Units::Weighing(vec![])).lower, 0.0);
}

#[test]
fn a_fault_more_never_lifts_the_lower_bound() {
    // 277 queries, all found, and one of them missed: the normal bound alone would be the higher one.
    let all = only_verdict(1.0, 0.0, Units::Alike(277));
    let ratio = ratio_of_sums((0..277).map(|q| (u32::from(q > 0), 1))).unwrap();
    let but_one = only_verdict(ratio.value, ratio.standard_error, Units::Alike(277));
    assert!(ratio.value - 1.96 * ratio.standard_error > all.lower);
    assert!(but_one.lower <= all.lower);
    let none = only_verdict(0.0, 0.0, Units::Alike(277));
    let one = only_verdict(1.0 - ratio.value, ratio.standard_error, Units::Alike(277));
    assert!(one.upper >= none.upper);
}

#[test]
fn w16_and_w17_intervals_of_proportions() {
    let (low, high) = wilson(90.0, 100.0, 0.95).unwrap();
    assert!(low < 0.9 && 0.9 < high);
    let (low, high) = wilson(91.0, 100.0, 0.95).unwrap();
    close(low, 0.837_737_9);
    close(high, 0.951_927_5);
    let (low, high) = wilson(9.0, 10.0, 0.95).unwrap();
    close(low, 0.595_850_0);
    close(high, 0.982_123_8);
    close(wilson(10.0, 10.0, 0.95).unwrap().0, 0.722_467_2);
    // Over an effective number of trials.
    let (low, high) = wilson(0.91 * 32.187_773, 32.187_773, 0.95).unwrap();
    close(low, 0.763_119_8);
    close(high, 0.969_451_3);

    assert!((clopper_pearson_upper(0, 1000, 0.95).unwrap() - 0.002_991_2).abs() < 1e-7);
    assert!((clopper_pearson_upper(0, 2995, 0.95).unwrap() - 0.000_999_7).abs() < 1e-7);
    let (low, high) = clopper_pearson(3, 10, 0.95).unwrap();
    close(low, 0.066_739_5);
    close(high, 0.652_452_9);
    let (low, high) = clopper_pearson(2, 1000, 0.95).unwrap();
    assert!((low - 0.000_242_3).abs() < 1e-7, "{low}");
    assert!((high - 0.007_205_8).abs() < 1e-7, "{high}");
    assert!((clopper_pearson_upper(2, 1000, 0.95).unwrap() - 0.006_28).abs() < 1e-5);
    assert_eq!(clopper_pearson_upper(10, 10, 0.95), Some(1.0));
    assert_eq!(clopper_pearson(1, 0, 0.95), None);
    assert_eq!(wilson(2.0, 1.0, 0.95), None);
}

#[test]
fn of_a_finite_set_a_sample_leaves_so_many_in_doubt() {
    for (sampled, wrong) in [(500, 58), (1000, 28), (2000, 13)] {
        assert_eq!(most_wrong(10_000, sampled, 0.95), Some(wrong), "{sampled}");
    }
    assert_eq!(most_wrong(10, 10, 0.95), Some(0));
    assert_eq!(most_wrong(10, 11, 0.95), None);
    assert_eq!(most_wrong(10, 0, 0.95), None);
}

#[test]
fn a_ratio_has_the_error_of_its_units() {
    let ratio = ratio_of_sums([(1, 2), (0, 0), (2, 2), (0, 1)].into_iter()).unwrap();
    close(ratio.value, 0.6);
    assert_eq!(ratio.units, 3);
    // Residuals −0.2, 0.8, −0.6: sum of squares 1.04.
    close(ratio.standard_error, (1.5f64 * 1.04).sqrt() / 5.0);
    assert_eq!(ratio_of_sums([(1, 2)].into_iter()), None);
}

proptest! {
    #[test]
    fn p24_correlation_does_not_depend_on_the_order_of_rows(
        pairs in prop::collection::vec((0u32..5, 0u32..5), 2..40), turn in 0usize..40
    ) {
        let split = |pairs: &[(u32, u32)]| -> (Vec<u32>, Vec<u32>) { pairs.iter().copied().unzip() };
        let (a, b) = split(&pairs);
        let mut turned = pairs.clone();
        turned.rotate_left(turn % pairs.len());
        let (ta, tb) = split(&turned);
        prop_assert_eq!(spearman(&a, &b), spearman(&ta, &tb));
        match spearman(&a, &a) {
            Some(own) => prop_assert!((own - 1.0).abs() < 1e-12),
            None => prop_assert!(a.iter().all(|&x| x == a[0])),
        }
    }

    #[test]
    fn rows_that_are_zero_in_both_need_not_be_there(
        pairs in prop::collection::vec((0u32..4, 0u32..4), 1..30), zeros in 0usize..20
    ) {
        let (a, b): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let padded = |values: &[u32]| [values, &vec![0; zeros]].concat();
        let whole = spearman(&padded(&a), &padded(&b));
        prop_assert_eq!(spearman_among_zeros(&a, &b, zeros as u64), whole);
    }

    #[test]
    fn p25_spread_does_not_depend_on_the_unit(
        counts in prop::collection::vec(0u32..50, 1..60), factor in 1u32..9
    ) {
        let scaled: Vec<u32> = counts.iter().map(|&count| count * factor).collect();
        match (skewness(&counts), skewness(&scaled)) {
            (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9),
            (a, b) => prop_assert_eq!(a, b),
        }
        match (robin_hood(&counts), robin_hood(&scaled)) {
            (Some(a), Some(b)) => {
                prop_assert!((a - b).abs() < 1e-12);
                prop_assert!((0.0..=1.0 - 1.0 / counts.len() as f64 + 1e-12).contains(&a));
            }
            (a, b) => prop_assert_eq!(a, b),
        }
    }

    #[test]
    fn p33_an_interval_holds_what_was_seen(hits in 0u64..100, more in 0u64..100) {
        let trials = hits + more;
        prop_assume!(trials > 0);
        let p = hits as f64 / trials as f64;
        for (low, high) in [
            wilson(hits as f64, trials as f64, 0.95).unwrap(),
            clopper_pearson(hits, trials, 0.95).unwrap(),
        ] {
            prop_assert!(0.0 <= low && low <= p + 1e-12 && p <= high + 1e-12 && high <= 1.0);
        }
    }

    #[test]
    fn thirds_are_even_and_in_order(values in prop::collection::vec(0.0f64..10.0, 0..50)) {
        let thirds = terciles(&values);
        let sizes = [0u8, 1, 2].map(|third| thirds.iter().filter(|&&t| t == third).count());
        prop_assert_eq!(sizes.iter().sum::<usize>(), values.len());
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        prop_assert!(most - least <= 1);
        for (a, third_a) in values.iter().zip(&thirds) {
            for (b, third_b) in values.iter().zip(&thirds) {
                prop_assert!(a >= b || third_a <= third_b);
            }
        }
    }

    /// By the weights it is no more than the plain share times the largest over the mean weight, no less than
    /// the plain share of that many units, and that share where all weigh the same.
    #[test]
    fn what_weights_hide_lies_between_plain_shares(
        weights in prop::collection::vec(1u32..20, 1..80), same in 1u32..9
    ) {
        let hidden = |units| 1.0 - only_verdict(1.0, 0.0, units).lower;
        let m = weights.len();
        let plain = hidden(Units::Alike(m as u64));
        let mean = weights.iter().sum::<u32>() as f64 / m as f64;
        let largest = f64::from(*weights.iter().max().unwrap());
        let weighed = hidden(Units::Weighing(weights));
        prop_assert!(weighed <= plain * largest / mean + 1e-9, "{weighed} {plain}");
        prop_assert!(weighed >= plain - 1e-9 && weighed <= 1.0, "{weighed} {plain}");
        prop_assert!((hidden(Units::Weighing(vec![same; m])) - plain).abs() < 1e-9);
    }

    /// No choice of chances that leaves the sample likely enough hides more.
    #[test]
    fn no_chances_hide_more_than_the_bound(
        units in prop::collection::vec((1u32..20, 0.0f64..1.0), 1..30)
    ) {
        let (weights, shares): (Vec<u32>, Vec<f64>) = units.into_iter().unzip();
        let all: f64 = shares.iter().sum();
        prop_assume!(all > 0.0);
        let hidden = 1.0 - only_verdict(1.0, 0.0, Units::Weighing(weights.clone())).lower;
        // Chances whose logarithms share out ln(1 / level), level 0.025.
        let chance = |share: f64| 1.0 - 0.025f64.powf(share / all);
        let failing: f64 = weights.iter().zip(&shares).map(|(&w, &s)| f64::from(w) * chance(s)).sum();
        let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        prop_assert!(failing / total <= hidden + 1e-9, "{} {}", failing / total, hidden);
    }

    /// Passing at a bar is what every stratum's lower bound does, and the weighted mean is never below
    /// the least of the means.
    #[test]
    fn p13_and_p14_all_strata_pass_or_the_minimum_does_not(
        means in prop::collection::vec((0.0f64..1.0, 1u32..100), 1..6), bar in 0.0f64..1.0
    ) {
        let strata: Vec<StratumMean> = means
            .iter()
            .map(|&(mean, _)| StratumMean { mean, standard_error: 1e-300, units: Units::Alike(u64::MAX) })
            .collect();
        let (outcome, _) = min_over_strata(&strata, false, bar, 0.05).unwrap();
        let least = means.iter().map(|&(mean, _)| mean).fold(f64::INFINITY, f64::min);
        prop_assert_eq!(outcome == Outcome::Pass, least >= bar);
        let weights: u32 = means.iter().map(|&(_, weight)| weight).sum();
        let sum: f64 = means.iter().map(|&(mean, weight)| mean * f64::from(weight)).sum();
        prop_assert!(least <= sum / f64::from(weights) + 1e-12);
    }
}
