//! W1, W3–W6 and W12: answers with known scores.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::{EMPTY_SLOT, Metric, Rows, Vectors};
use annbench_results::*;
use common::{score, score_with};

/// Rows 3, 1, 4, 2, 9 are the true five, in this order, of twelve.
const W1_DISTANCES: [f64; 12] = [
    6.0, 2.0, 4.0, 1.0, 3.0, 7.0, 8.0, 9.0, 10.0, 5.0, 11.0, 12.0,
];

#[test]
fn w1_duplicates_and_sentinels() {
    let found = score(&[1, 4, 8, 4, EMPTY_SLOT], 5, &W1_DISTANCES);
    assert_eq!(
        found,
        QueryScore {
            hits: 2,
            id_hits: 2,
            duplicates: 1,
            short: 1,
            ..QueryScore::default()
        }
    );
    let slots = score(&[1, 1, 1, 1, 1], 5, &W1_DISTANCES);
    assert_eq!((slots.hits, slots.duplicates, slots.short), (1, 4, 0));
}

#[test]
fn w1_an_id_that_no_row_has_is_counted_and_the_rest_scored() {
    let found = score(&[1, 4, 12, 3, 2], 5, &W1_DISTANCES);
    assert_eq!((found.hits, found.invalid, found.short), (4, 1, 0));
}

#[test]
fn w1_more_than_k_is_cut_and_not_back_filled() {
    let found = score(&[1, 4, 8, 0, 5, 3, 2], 5, &W1_DISTANCES);
    assert_eq!((found.hits, found.over_returned, found.short), (2, 2, 0));
}

#[test]
fn w3_fewer_than_k_are_divided_by_k() {
    let distances: Vec<f64> = (0..20).map(f64::from).collect();
    let found = score(&[0], 10, &distances);
    assert_eq!((found.hits, found.short), (1, 9));
}

#[test]
fn w4_ties_never_stand_in_for_a_strictly_nearer_row() {
    const A: u32 = 0;
    const B: u32 = 1;
    const C: u32 = 2;
    const D: u32 = 3;
    const E: u32 = 4;
    const F: u32 = 5;
    let distances = [1.0, 2.0, 2.0, 2.0, 3.0, 5.0];
    for (answer, hits, id_hits) in [
        ([A, C, D], 3, 2),
        ([B, C, D], 2, 2),
        ([A, B, E], 2, 2),
        ([A, E, F], 1, 1),
        ([A, A, B], 2, 2),
    ] {
        let found = score(&answer, 3, &distances);
        assert_eq!((found.hits, found.id_hits), (hits, id_hits), "{answer:?}");
        assert_eq!(found.beats_truth, 0);
    }
}

#[test]
fn w5_groups_of_equal_distance_do_not_widen_the_truth() {
    assert_eq!(score(&[2, 0], 2, &[1.0, 1.0, 2.0, 3.0]).hits, 1);
}

#[test]
fn w6_small_differences_are_differences_at_every_scale() {
    let distances = [0.100, 0.101, 0.1015, 0.1019];
    assert_eq!(score(&[2, 3], 2, &distances).hits, 0);
    assert_eq!(score(&[2, 3], 2, &distances.map(|d| 100.0 * d)).hits, 0);
}

#[test]
fn the_tie_band_decides_only_where_it_is_counted() {
    // Rows 1 and 2 are the same distance but for rounding.
    let distances = [1.0, 2.0, 2.0 + 1e-15, 3.0];
    let with = score_with(&[0, 2], 2, &distances, 1e-14);
    assert_eq!((with.hits, with.id_hits, with.used_tolerance), (2, 1, true));
    let without = score_with(&[0, 2], 2, &distances, 0.0);
    assert_eq!((without.hits, without.used_tolerance), (1, false));
    let not_needed = score_with(&[0, 1], 2, &distances, 1e-14);
    assert_eq!((not_needed.hits, not_needed.used_tolerance), (2, false));
}

#[test]
fn an_answer_nearer_than_the_truth_refutes_it() {
    // The truth of another base: it does not know row 2.
    let truth = TrueTopK::new(&[0, 1], &[1.0, 2.0], 2).unwrap();
    let distances = [1.0, 2.0, 0.5];
    let found = score_query(&mut Scratch::new(), &[2, 0], 2, truth, 3, 0.0, |id| {
        distances[id as usize]
    });
    assert_eq!((found.beats_truth, found.hits, found.id_hits), (1, 2, 1));
}

#[test]
fn truth_rows_that_cannot_serve_are_refused() {
    assert!(TrueTopK::new(&[1, 2], &[1.0, 2.0], 0).is_none());
    assert!(TrueTopK::new(&[1, 2], &[1.0, 2.0], 3).is_none());
    assert!(TrueTopK::new(&[1, 2], &[2.0, 1.0], 2).is_none());
    assert!(TrueTopK::new(&[1, 2], &[1.0, f64::NAN], 2).is_none());
    assert!(TrueTopK::new(&[1], &[f64::NAN], 1).is_none());
}

/// Row i at i on a line; query 0 stands at 0, so that row i is the i-th neighbour. An answer with h
/// hits holds the first h rows and rows from beyond k.
fn quality_of_hits(hits: &[u32], k: u32) -> Quality {
    let n = 2 * k;
    let base: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let queries = vec![0.0f32; hits.len()];
    let truth_ids: Vec<u32> = hits.iter().flat_map(|_| 0..k).collect();
    let truth_distances: Vec<f64> = truth_ids.iter().map(|&i| f64::from(i * i)).collect();
    let ids: Vec<u32> = hits
        .iter()
        .flat_map(|&h| (0..h).chain(k..2 * k - h))
        .collect();
    let set = ScoringSet {
        metric: Metric::L2,
        base: Vectors::F32(Rows::new(&base, 1).unwrap()),
        queries: Vectors::F32(Rows::new(&queries, 1).unwrap()),
        truth_ids: &truth_ids,
        truth_distances: &truth_distances,
        truth_width: k as usize,
        max_base_norm: 0.0,
        strata: &[],
        relevance: None,
    };
    let answers = Answers {
        k: k as usize,
        ids: &ids,
        returned: &vec![k; hits.len()],
        invalid_count: 0,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    score_answers(&pool, &set, &answers).unwrap().quality
}

#[test]
fn w12_p05_is_the_inverse_cdf_order_statistic() {
    let mut twenty = vec![2, 6];
    twenty.extend([9; 8]);
    twenty.extend([10; 10]);
    let q = quality_of_hits(&twenty, 10);
    assert_eq!(q.recall_mean, 0.9);
    assert_eq!(
        (q.recall_p05, q.recall_min, q.perfect_share),
        (0.2, 0.2, 0.5)
    );
    let ten = quality_of_hits(&[10, 10, 9, 10, 8, 10, 10, 5, 10, 9], 10);
    assert_eq!((ten.recall_p05, ten.recall_mean), (0.5, 0.91));
    assert_eq!(ten.perfect_share, 0.6);
    // 21 queries: the second lowest.
    let mut more = twenty.clone();
    more.push(10);
    assert_eq!(quality_of_hits(&more, 10).recall_p05, 0.6);
}
