//! W7 to W11 and W13, and what must hold of any counts: quality by strata.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use annbench_core::{Metric, Rows, Vectors};
use annbench_results::*;
use proptest::prelude::*;
use std::sync::Arc;

/// Rows on a line.
const LINE: [f32; 8] = [0.0, 1.0, 3.0, 7.0, 12.0, 13.0, 15.0, 25.0];
/// Of how many other rows each is one of the two nearest.
const COUNTS: [u32; 8] = [2, 2, 3, 0, 3, 3, 3, 0];
const QUERIES: [f32; 4] = [8.0, 24.0, 11.0, -1.0];

/// Exact truth `[queries, k]` by (distance, id).
fn truth(base: &[f32], queries: &[f32], k: usize) -> (Vec<u32>, Vec<f64>) {
    let (mut ids, mut distances) = (Vec::new(), Vec::new());
    for &q in queries {
        let mut row: Vec<(f64, u32)> = base
            .iter()
            .zip(0..)
            .map(|(&x, id)| ((f64::from(q) - f64::from(x)).powi(2), id))
            .collect();
        row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ids.extend(row.iter().take(k).map(|r| r.1));
        distances.extend(row.iter().take(k).map(|r| r.0));
    }
    (ids, distances)
}

fn score(
    base: &[f32],
    queries: &[f32],
    k: usize,
    counts: &[u32],
    answers: &[u32],
) -> (Quality, StrataQuality) {
    let (truth_ids, truth_distances) = truth(base, queries, k);
    let vectors = |values| Vectors::F32(Rows::new(values, 1).unwrap());
    let mut set = ScoringSet {
        metric: Metric::L2,
        base: vectors(base),
        queries: vectors(queries),
        truth_ids: &truth_ids,
        truth_distances: &truth_distances,
        truth_width: k,
        max_base_norm: 0.0,
        strata: &[],
        relevance: None,
    };
    let occurrences = Occurrences {
        k,
        asked: base.len() as u64,
        counts: Arc::new(counts.to_vec()),
    };
    let strata = [Strata::new(&set, k, Ok(occurrences))];
    set.strata = &strata;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let returned = vec![k as u32; queries.len()];
    let answers = Answers {
        k,
        ids: answers,
        returned: &returned,
        invalid_count: 0,
    };
    let scored = score_answers(&pool, &set, &answers).unwrap();
    (scored.quality, scored.strata.unwrap())
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-6,
        "expected {expected}, found {found}"
    );
}

#[test]
fn w9_three_readings_of_anti_hub_recall_differ_on_the_same_answers() {
    let (ids, _) = truth(&LINE, &QUERIES, 2);
    assert_eq!(ids, [3, 4, 7, 6, 4, 5, 0, 1]);
    let answers = [4, 5, 6, 5, 4, 5, 0, 1];
    let (quality, strata) = score(&LINE, &QUERIES, 2, &COUNTS, &answers);
    close(quality.recall_mean, 0.75);
    assert_eq!(strata.queries_by_hits, [0, 2, 2]);
    let hubness = strata.hubness.unwrap();
    let base = &hubness.base;
    assert_eq!(
        (base.anti_hub_threshold, base.anti_hub_rows, base.never_rows),
        (0, 2, 2)
    );
    close(base.skewness.unwrap(), -0.816_496_6);
    close(base.robin_hood.unwrap(), 0.25);
    close(base.query_budget, 1.0);
    let anti = &hubness.anti_hub;
    assert_eq!((anti.pairs, anti.pairs_found, anti.pair_queries), (2, 0, 2));
    assert_eq!((anti.queries, anti.hits), (2, 2));
    // Too few for a number: the integers stand, the figures abstain.
    assert_eq!((anti.recall_pairs, anti.recall_q), (None, None));
    close(hubness.total_variation, 0.25);
    close(hubness.hub_rank_all.unwrap(), 0.573_539_3);
    // Hubs in the truth: none; in the answers: row 5.
    close(hubness.hub_overlap.unwrap(), 0.0);
    let found: Vec<(u64, u64)> = hubness
        .by_count
        .iter()
        .map(|b| (b.pairs, b.found))
        .collect();
    assert_eq!(
        found,
        [(8, 6)],
        "one bucket, for there are fewer than 100 pairs"
    );
    assert_eq!(strata.bars.len(), BARS.len());
    assert!(
        strata
            .bars
            .iter()
            .all(|bar| bar.outcome == StratumOutcome::Inconclusive)
    );
}

#[test]
fn w7_and_w8_an_anti_hub_set_is_cut_at_a_count_and_never_between_two() {
    let of = |counts: &[u32]| AntiHubs::of(counts).unwrap();
    assert_eq!((of(&COUNTS).threshold, of(&COUNTS).rows), (0, 2));
    // The interpolated quantile of these is 0.7, which would select the zero alone.
    let counts = [1, 1, 0, 1, 2, 1, 1, 1];
    assert_eq!((of(&counts).threshold, of(&counts).rows), (0, 1));
    let mut many = vec![5; 18];
    many.extend([1, 3]);
    assert_eq!(
        (of(&many).threshold, of(&many).rows, of(&many).never),
        (3, 2, 0)
    );
    assert_eq!(AntiHubs::of(&[]), None);
}

#[test]
fn a_failing_stratum_shows_where_the_mean_does_not() {
    // 1,000 rows on a line; every tenth is an anti-hub by its count. Each query's truth is one row, and
    // all are found but the anti-hubs.
    let base: Vec<f32> = (0..1000u16).map(f32::from).collect();
    let queries: Vec<f32> = base.iter().map(|x| x + 0.25).collect();
    let counts: Vec<u32> = (0..1000).map(|row| u32::from(row % 10 != 0)).collect();
    let answers: Vec<u32> = (0..1000)
        .map(|q| if q % 10 == 0 { 999 - q } else { q })
        .collect();
    let (quality, strata) = score(&base, &queries, 1, &counts, &answers);
    close(quality.recall_mean, 0.9);
    let hubness = strata.hubness.unwrap();
    assert_eq!(hubness.anti_hub.recall_pairs, Some(0.0));
    assert_eq!(hubness.anti_hub.recall_q, Some(0.0));
    assert_eq!(strata.bars[0].outcome, StratumOutcome::Fail);
    let by_count: Vec<(u32, u64, u64)> = hubness
        .by_count
        .iter()
        .map(|bucket| (bucket.to, bucket.pairs, bucket.found))
        .collect();
    assert_eq!(by_count, [(0, 100, 0), (1, 900, 900)]);
}

#[test]
fn equal_answers_give_equal_figures_to_the_last_bit() {
    let base: Vec<f32> = (0..500u32).map(|x| (x * x % 997) as f32).collect();
    let queries: Vec<f32> = (0..300u32).map(|q| (q * 7 % 991) as f32 + 0.3).collect();
    let counts: Vec<u32> = (0..500).map(|row| row * 31 % 17).collect();
    let answers: Vec<u32> = (0..300 * 7).map(|slot| slot * 13 % 500).collect();
    let once = || score(&base, &queries, 7, &counts, &answers);
    let first = once();
    for _ in 0..20 {
        assert_eq!(once(), first);
    }
}

#[test]
fn without_counts_the_reason_stands_in_their_place() {
    let (truth_ids, truth_distances) = truth(&LINE, &QUERIES, 2);
    let vectors = |values| Vectors::F32(Rows::new(values, 1).unwrap());
    let set = ScoringSet {
        metric: Metric::L2,
        base: vectors(&LINE),
        queries: vectors(&QUERIES),
        truth_ids: &truth_ids,
        truth_distances: &truth_distances,
        truth_width: 2,
        max_base_norm: 0.0,
        strata: &[],
        relevance: None,
    };
    let strata = [Strata::new(&set, 2, Err("it takes too long".to_owned()))];
    let set = ScoringSet {
        strata: &strata,
        ..set
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let answers = Answers {
        k: 2,
        ids: &truth_ids,
        returned: &[2; 4],
        invalid_count: 0,
    };
    let found = score_answers(&pool, &set, &answers)
        .unwrap()
        .strata
        .unwrap();
    assert_eq!(found.hubness, Err("it takes too long".to_owned()));
    assert!(found.difficulty.is_err(), "two columns are too few");
    // A required stratum abstained: nothing passes, though every answer is right.
    assert!(
        found
            .bars
            .iter()
            .all(|bar| bar.outcome == StratumOutcome::Inconclusive)
    );
}

proptest! {
    /// Recall is the mean of what is found of each row, weighted by how often it is asked for; total
    /// variation is at most what is missed; a stratum that fails moves the mean by its weight at most.
    #[test]
    fn p22_and_p23_strata_add_up_to_the_whole(
        base in prop::collection::vec(0u16..300, 8..40),
        queries in prop::collection::vec(0u16..300, 1..12),
        seed in 0u32..1000,
        k in 1usize..4,
    ) {
        let base: Vec<f32> = base.into_iter().map(f32::from).collect();
        let queries: Vec<f32> = queries.into_iter().map(|q| f32::from(q) + 0.5).collect();
        let n = base.len() as u32;
        // k distinct rows for each query.
        let answers: Vec<u32> = (0..queries.len() as u32)
            .flat_map(|q| (0..k as u32).map(move |i| (seed + q * 7 + i) % n))
            .collect();
        let counts: Vec<u32> = (0..n).map(|row| (row * 5 + seed) % 7).collect();
        let (quality, strata) = score(&base, &queries, k, &counts, &answers);
        let hubness = strata.hubness.unwrap();
        let slots = (queries.len() * k) as u64;
        let (pairs, found) = hubness
            .by_count
            .iter()
            .fold((0, 0), |(p, f), bucket| (p + bucket.pairs, f + bucket.found));
        prop_assert_eq!(pairs, slots);
        prop_assert_eq!(found, quality.id_hits);
        prop_assert_eq!(strata.queries_by_hits.iter().sum::<u64>(), queries.len() as u64);
        let hits: u64 = strata.queries_by_hits.iter().zip(0u64..).map(|(q, h)| q * h).sum();
        prop_assert_eq!(hits, quality.hits);
        let missed = 1.0 - quality.id_hits as f64 / slots as f64;
        prop_assert!(hubness.total_variation <= missed + 1e-12);
        let anti = &hubness.anti_hub;
        prop_assert!(anti.pairs_found <= anti.pairs && anti.pairs <= slots);
        let least_missed = (anti.pairs - anti.pairs_found) as f64 / slots as f64;
        prop_assert!(missed + 1e-12 >= least_missed);
    }
}
