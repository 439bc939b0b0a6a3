//! Metrics that are not recall@k: W2 and W4 to W6 by the rules of others, hand-computed figures, and
//! what must hold of any answer.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::{EMPTY_SLOT, Metric, Rows, Vectors, distance};
use annbench_results::*;
use common::{k_recall_at_m_hits, one_recall_at_r_hit};
use proptest::prelude::*;

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const D: u32 = 3;
const E: u32 = 4;
const F: u32 = 5;

struct Line<'a> {
    metric: Metric,
    base: &'a [f32],
    queries: &'a [f32],
    dim: usize,
    /// Columns of truth.
    width: usize,
    relevance: Option<&'a Relevance>,
}

impl Line<'_> {
    /// Scores `answers`, k slots of each query.
    fn score(&self, k: usize, answers: &[u32]) -> Scored {
        let base = Vectors::F32(Rows::new(self.base, self.dim).unwrap());
        let queries = Vectors::F32(Rows::new(self.queries, self.dim).unwrap());
        let (mut truth_ids, mut truth_distances) = (Vec::new(), Vec::new());
        for q in 0..queries.n() {
            let mut row: Vec<(f64, u32)> = (0..base.n())
                .map(|i| distance(self.metric, queries.row(q), base.row(i)))
                .zip(0..)
                .collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            truth_ids.extend(row.iter().take(self.width).map(|r| r.1));
            truth_distances.extend(row.iter().take(self.width).map(|r| r.0));
        }
        let set = ScoringSet {
            metric: self.metric,
            base,
            queries,
            truth_ids: &truth_ids,
            truth_distances: &truth_distances,
            truth_width: self.width,
            max_base_norm: 100.0,
            strata: &[],
            relevance: self.relevance,
        };
        let answers = Answers {
            k,
            ids: answers,
            returned: &vec![k as u32; queries.n()],
            invalid_count: 0,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        score_answers(&pool, &set, &answers).unwrap()
    }
}

/// Rows on a line whose distances from 0 are given.
fn on_a_line(distances: &[f32]) -> Line<'_> {
    Line {
        metric: Metric::L2,
        base: distances,
        queries: &[0.0],
        dim: 1,
        width: distances.len(),
        relevance: None,
    }
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9,
        "expected {expected}, found {found}"
    );
}

#[test]
fn w2_one_recall_is_not_k_recall() {
    // Rows 1 to 4 are nearest to the first query, 5 to 8 to the second, each in this order.
    let base = [100.0, 1.0, 2.0, 3.0, 4.0, 51.0, 52.0, 53.0, 54.0, 20.0];
    let line = Line {
        queries: &[0.5, 50.5],
        ..on_a_line(&base)
    };
    let found = line.score(4, &[2, 3, 4, 9, 5, 0, 1, 2]);
    // 4-recall@4: 3 of 4 and 1 of 4.
    assert_eq!(found.hits, [Some(3), Some(1)]);
    assert_eq!(found.quality.id_hits, 4);
    close(found.quality.recall_mean, 0.5);
    let other = &found.other_metrics;
    // 1-recall@4, which is 1-recall@R where all entries are looked at: 0 and 1. By it the first query, of
    // which more is found, is the worse.
    let at_4 = KRecallAtN {
        k: 1,
        n: 4,
        id_hits: 1,
        recall: 0.5,
    };
    assert_eq!(other.k_recall_at_n, [at_4]);
    let at_1 = OneRecallAtR {
        r: 1,
        queries_found: 1,
        recall: 0.5,
    };
    assert_eq!(other.one_recall_at_r, [at_1]);
    assert_eq!(other.nearest_at_rank, [1, 0, 0, 0]);
}

#[test]
fn w4_rules_of_others_let_ties_stand_in_for_a_nearer_row() {
    let line = on_a_line(&[1.0, 2.0, 2.0, 2.0, 3.0, 5.0]);
    for (answer, strict, extended, threshold) in [
        ([A, C, D], 3, 3, 3),
        ([B, C, D], 2, 3, 3),
        ([A, B, E], 2, 2, 2),
        ([A, E, F], 1, 1, 1),
        ([A, A, B], 2, 2, 3),
    ] {
        let found = line.score(3, &answer);
        let other = &found.other_metrics;
        assert_eq!(found.quality.hits, strict, "{answer:?}");
        assert_eq!(other.big_ann_recall.extended_hits, extended, "{answer:?}");
        let theirs = other.ann_benchmarks_recall.as_ref().unwrap();
        assert_eq!(theirs.slots_within, threshold, "{answer:?}");
        close(theirs.recall, threshold as f64 / 3.0);
    }
}

#[test]
fn w4_ties_beyond_the_columns_of_the_truth_are_not_seen() {
    let narrow = Line {
        width: 3,
        ..on_a_line(&[1.0, 2.0, 2.0, 2.0, 3.0, 5.0])
    };
    let found = narrow.score(3, &[A, C, D]);
    assert_eq!(found.quality.hits, 3);
    assert_eq!(found.other_metrics.big_ann_recall.extended_hits, 2);
}

#[test]
fn w5_groups_of_equal_distance_widen_no_truth() {
    let found = on_a_line(&[1.0, 1.0, 2.0, 3.0]).score(2, &[C, A]);
    assert_eq!(found.quality.hits, 1);
    assert_eq!(found.other_metrics.big_ann_recall.extended_hits, 1);
}

#[test]
fn w6_an_absolute_slack_is_another_one_at_another_scale() {
    let distances = [0.100, 0.101, 0.1015, 0.1019];
    let within = |scale: f32| {
        let found = on_a_line(&distances.map(|d| scale * d)).score(2, &[2, 3]);
        assert_eq!(found.quality.hits, 0);
        found
            .other_metrics
            .ann_benchmarks_recall
            .unwrap()
            .slots_within
    };
    assert_eq!((within(1.0), within(100.0)), (2, 0));
}

#[test]
fn w2_one_recall_and_k_recall_have_names_of_their_own() {
    // Truth [1, 2, 3, 4] and [5, 0, 1, 2] of the two queries at k = 4.
    let line = Line {
        base: &[9.0, 0.0, 1.0, 2.0, 3.0, 20.0, 90.0, 95.0, 97.0, 99.0],
        queries: &[0.0, 18.0],
        ..on_a_line(&[])
    };
    let line = Line { width: 4, ..line };
    let found = line.score(4, &[2, 3, 4, 9, 5, 6, 7, 8]).other_metrics;
    assert_eq!(
        found.one_recall_at_r,
        [OneRecallAtR {
            r: 1,
            queries_found: 1,
            recall: 0.5
        }]
    );
    assert_eq!(
        found.k_recall_at_n,
        [KRecallAtN {
            k: 1,
            n: 4,
            id_hits: 1,
            recall: 0.5
        }]
    );
    assert_eq!(found.nearest_at_rank, [1, 0, 0, 0]);
}

#[test]
fn the_reciprocal_rank_is_that_of_the_nearest_row() {
    let line = Line {
        queries: &[0.0, 0.0, 0.0, 0.0],
        ..on_a_line(&[1.0, 2.0, 3.0, 4.0, 5.0])
    };
    // First, third, absent, and second behind an empty slot.
    let answers = [A, B, C, C, B, A, B, C, D, EMPTY_SLOT, A, B];
    let found = line.score(3, &answers).other_metrics;
    assert_eq!(found.nearest_at_rank, [1, 1, 1]);
    close(found.mrr, (1.0 + 1.0 / 3.0 + 0.5) / 4.0);
}

#[test]
fn the_relative_error_is_one_of_euclidean_distances() {
    // 2/1 - 1 and 4/2 - 1; an answer in another order is the same answer.
    let line = Line {
        queries: &[0.0, 0.0],
        ..on_a_line(&[1.0, 2.0, 2.0, 4.0])
    };
    let found = line.score(2, &[B, D, B, A]).other_metrics;
    let error = found.relative_distance_error.unwrap();
    assert_eq!((error.queries, error.zero_pairs), (2, 0));
    close(error.mean.unwrap(), (1.0 + 0.0) / 2.0);
}

#[test]
fn what_has_no_ratio_is_counted_and_left_out() {
    // Row 0 is the query itself. Short answers, answers beside it, and all at distance 0.
    let line = Line {
        queries: &[0.0, 0.0, 0.0],
        ..on_a_line(&[0.0, 1.0, 3.0])
    };
    let found = line.score(2, &[A, EMPTY_SLOT, A, C, B, C]).other_metrics;
    let error = found.relative_distance_error.unwrap();
    assert_eq!(
        (error.queries, error.short_queries, error.zero_queries),
        (2, 1, 0)
    );
    assert_eq!(error.zero_pairs, 3);
    // The second true neighbour alone: 3/1 - 1 in both.
    close(error.mean.unwrap(), 2.0);

    let all_zero = on_a_line(&[0.0, 0.0, 3.0]).score(2, &[A, C]);
    let error = all_zero.other_metrics.relative_distance_error.unwrap();
    assert_eq!((error.queries, error.zero_queries), (0, 1));
    assert_eq!(error.mean, None);
}

#[test]
fn under_cosine_a_distance_of_rounding_errors_is_none() {
    // Row 0 has the query's direction; 1 - cos is some 1e-16 and no distance to divide by.
    let line = Line {
        metric: Metric::Cosine,
        base: &[0.3, 0.9, 0.1, 0.1, -0.4, 0.2],
        queries: &[0.1, 0.3],
        dim: 2,
        width: 3,
        relevance: None,
    };
    let found = line.score(2, &[0, 2]).other_metrics;
    let error = found.relative_distance_error.unwrap();
    assert_eq!((error.queries, error.zero_pairs), (1, 1));
    let cos = |x: [f64; 2]| (0.1 * x[0] + 0.3 * x[1]) / (0.1f64.hypot(0.3) * x[0].hypot(x[1]));
    let euclidean = |x| (2.0 * (1.0 - cos(x))).sqrt();
    let expected = euclidean([-0.4, 0.2]) / euclidean([0.1, 0.1]) - 1.0;
    let found = error.mean.unwrap();
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn inner_products_have_neither_ratios_nor_a_place_in_ann_benchmarks() {
    let line = Line {
        metric: Metric::InnerProduct,
        queries: &[1.0],
        ..on_a_line(&[1.0, 2.0, 3.0])
    };
    let found = line.score(2, &[2, 1]).other_metrics;
    let why = found.relative_distance_error.unwrap_err();
    assert_eq!(why, "inner products are no distances");
    let why = found.ann_benchmarks_recall.unwrap_err();
    assert_eq!(why, "ann-benchmarks has no inner_product");
    assert_eq!(found.big_ann_recall.extended_hits, 2);
    assert_eq!(found.mrr, 1.0);
}

fn judged(query: u32, id: u32, score: i32) -> Judgement {
    Judgement { query, id, score }
}

#[test]
fn judgements_give_what_trec_eval_gives() {
    // Query 0: rows 0, 1, 2 of scores 1, 3, 2. Query 1 has none that is relevant, query 2 none at all.
    let relevance = Relevance::new(
        &[
            judged(0, 0, 1),
            judged(0, 1, 3),
            judged(0, 2, 2),
            judged(0, 4, 0),
            judged(1, 0, 0),
        ],
        3,
        6,
    )
    .unwrap();
    let line = Line {
        queries: &[0.0, 0.0, 0.0],
        relevance: Some(&relevance),
        ..on_a_line(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    };
    // Row 4 is judged, row 5 is not; row 0 and 2 come second and third, 2 once more.
    let found = line.score(4, &[E, A, C, C, A, B, C, D, A, B, C, D]);
    let qrels = found.other_metrics.qrels.unwrap();
    assert_eq!(
        (
            qrels.queries,
            qrels.queries_without_relevant,
            qrels.queries_not_judged
        ),
        (1, 1, 1)
    );
    assert_eq!((qrels.relevant, qrels.relevant_found), (3, 2));
    assert_eq!(qrels.first_relevant_at_rank, [0, 1, 0, 0]);
    close(qrels.mrr.unwrap(), 0.5);
    close(qrels.recall.unwrap(), 2.0 / 3.0);
    // 1 / log2(3) + 2 / log2(4) over 3 + 2 / log2(3) + 1 / log2(4).
    let gain = 1.0 / 3f64.log2() + 2.0 / 2.0;
    let ideal = 3.0 + 2.0 / 3f64.log2() + 1.0 / 2.0;
    close(qrels.ndcg.unwrap(), gain / ideal);
    close(qrels.ndcg.unwrap(), 0.342_498_503_184_5);
}

#[test]
fn the_ideal_is_cut_at_k() {
    let relevance = Relevance::new(&[judged(0, 3, 1), judged(0, 4, 1)], 1, 6).unwrap();
    let line = Line {
        relevance: Some(&relevance),
        ..on_a_line(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    };
    let qrels = line.score(1, &[E]).other_metrics.qrels.unwrap();
    close(qrels.ndcg.unwrap(), 1.0);
    close(qrels.recall.unwrap(), 0.5);
}

#[test]
fn without_a_relevant_row_there_is_no_figure() {
    let relevance = Relevance::new(&[judged(0, 3, -1)], 1, 6).unwrap();
    let line = Line {
        relevance: Some(&relevance),
        ..on_a_line(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    };
    let qrels = line.score(1, &[D]).other_metrics.qrels.unwrap();
    assert_eq!(
        (qrels.queries, qrels.ndcg, qrels.mrr, qrels.recall),
        (0, None, None, None)
    );
}

#[test]
fn judgements_of_another_set_are_refused() {
    let error = Relevance::new(&[judged(0, 0, 1), judged(2, 0, 1)], 2, 4).unwrap_err();
    assert_eq!(
        error.to_string(),
        "judgement 1: expected a query below 2, found 2; provide the judgements of this set"
    );
    let error = Relevance::new(&[judged(0, 4, 1)], 2, 4).unwrap_err();
    assert!(error.to_string().contains("a base row below 4, found 4"));
    let error = Relevance::new(&[judged(1, 3, 1), judged(1, 3, 0)], 2, 4).unwrap_err();
    assert!(error.to_string().contains("query 1"), "{error}");
}

/// A base on a line with ties, queries, k, and answers of any kind.
fn any_answers() -> impl Strategy<Value = (Vec<f32>, Vec<f32>, usize, Vec<u32>)> {
    (2usize..25, 1usize..4).prop_flat_map(|(n, queries)| {
        (1..=n.min(12)).prop_flat_map(move |k| {
            let slot = prop_oneof![8 => 0..n as u32, 1 => Just(EMPTY_SLOT)];
            (
                prop::collection::vec((0u8..12).prop_map(f32::from), n),
                prop::collection::vec((0u8..12).prop_map(f32::from), queries),
                Just(k),
                prop::collection::vec(slot, queries * k),
            )
        })
    })
}

proptest! {
    #[test]
    fn figures_are_those_of_their_definitions((base, queries, k, answers) in any_answers()) {
        let line = Line { base: &base, queries: &queries, width: base.len(), ..on_a_line(&[]) };
        let Scored { quality, other_metrics: other, .. } = line.score(k, &answers);
        let order = |q: f32| {
            let mut ids: Vec<u32> = (0..base.len() as u32).collect();
            ids.sort_by(|&a, &b| {
                let far = |id: u32| (base[id as usize] - q).abs();
                far(a).total_cmp(&far(b)).then(a.cmp(&b))
            });
            ids
        };
        let truth: Vec<Vec<u32>> = queries.iter().map(|&q| order(q)).collect();
        let rows: Vec<Vec<u32>> = answers.chunks(k).map(<[u32]>::to_vec).collect();
        for found in &other.k_recall_at_n {
            let columns = found.k as usize;
            let hits: usize = rows.iter().zip(&truth)
                .map(|(answer, truth)| k_recall_at_m_hits(answer, &truth[..columns], k))
                .sum();
            prop_assert_eq!(found.id_hits, hits as u64);
        }
        for found in &other.one_recall_at_r {
            let hits = rows.iter().zip(&truth)
                .filter(|(answer, truth)| one_recall_at_r_hit(answer, truth[0], found.r as usize))
                .count();
            prop_assert_eq!(found.queries_found, hits as u64);
        }
        // P9: monotone in R; the reciprocal rank lies between 1-recall@1 and 1-recall@k.
        prop_assert!(other.one_recall_at_r.is_sorted_by_key(|one| one.queries_found));
        let seen: u64 = other.nearest_at_rank.iter().sum();
        let m = queries.len() as f64;
        prop_assert!(other.mrr <= seen as f64 / m + 1e-12);
        prop_assert!(other.mrr >= other.nearest_at_rank[0] as f64 / m - 1e-12);
        // The rules of others never give less than the strict one where ties are whole.
        prop_assert!(other.big_ann_recall.extended_hits >= quality.hits);
        prop_assert!(other.ann_benchmarks_recall.unwrap().slots_within >= quality.hits);
        // Against exact truth no answer is nearer.
        let error = other.relative_distance_error.unwrap();
        prop_assert_eq!(error.queries + error.short_queries + error.zero_queries, queries.len() as u64);
        if let Some(mean) = error.mean {
            prop_assert!(mean >= 0.0);
        }
    }
}
