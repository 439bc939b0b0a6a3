//! P1–P10 of recall, and P11 and P16 of its mean.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::{EMPTY_SLOT, Metric, Rows, Vectors, distance};
use annbench_results::*;
use common::{canonical_order, cleaned, score, score_with};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A query: distances of n rows with many ties, k, and an answer with repeats, empty slots and
/// foreign ids.
#[derive(Clone, Debug)]
struct Case {
    distances: Vec<f64>,
    k: usize,
    answer: Vec<u32>,
}

fn slot(n: usize) -> impl Strategy<Value = u32> {
    prop_oneof![
        8 => 0..n as u32,
        1 => n as u32..n as u32 + 3,
        1 => Just(EMPTY_SLOT),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    (1usize..9).prop_flat_map(|n| {
        (
            prop::collection::vec((0u8..5).prop_map(f64::from), n),
            1..=n,
            prop::collection::vec(slot(n), 0..12),
        )
            .prop_map(|(distances, k, answer)| Case {
                distances,
                k,
                answer,
            })
    })
}

/// The same with a half-width, and distances a fraction of it apart.
fn banded_case() -> impl Strategy<Value = (Case, f64)> {
    (case(), prop::collection::vec(0u8..4, 9), 0u8..4).prop_map(|(mut case, jitter, width)| {
        for (d, j) in case.distances.iter_mut().zip(jitter) {
            *d += f64::from(j) / 16.0;
        }
        (case, f64::from(width) / 16.0)
    })
}

/// All valid true top-k sets, as bit masks: every strictly nearer row, the rest from the tie band.
fn valid_sets(distances: &[f64], k: usize, half_width: f64) -> Vec<u32> {
    let order = canonical_order(distances);
    let d_k = distances[order[k - 1] as usize];
    let mask = |keep: &dyn Fn(f64) -> bool| {
        distances
            .iter()
            .enumerate()
            .filter(|&(_, &d)| keep(d))
            .fold(0u32, |mask, (i, _)| mask | 1 << i)
    };
    let strict = mask(&|d| d < d_k - half_width);
    let allowed = strict | mask(&|d| (d - d_k).abs() <= half_width);
    (0..1u32 << distances.len())
        .filter(|set| set.count_ones() as usize == k)
        .filter(|set| set & strict == strict && set & !allowed == 0)
        .collect()
}

fn mask_of(ids: &[u32]) -> u32 {
    ids.iter().fold(0, |mask, &id| mask | 1 << id)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn p1_hits_lie_between_0_and_k((case, t) in banded_case()) {
        let s = score_with(&case.answer, case.k, &case.distances, t);
        prop_assert!(s.hits as usize <= case.k);
        let returned = case.answer.len().min(case.k);
        prop_assert_eq!(
            cleaned(&case.answer, case.k, case.distances.len()).len()
                + (s.duplicates + s.invalid + s.short) as usize,
            case.k
        );
        prop_assert_eq!(s.over_returned as usize, case.answer.len() - returned);
    }

    #[test]
    fn p2_all_hits_exactly_for_a_valid_set((case, t) in banded_case()) {
        let s = score_with(&case.answer, case.k, &case.distances, t);
        let kept = cleaned(&case.answer, case.k, case.distances.len());
        let valid = valid_sets(&case.distances, case.k, t).contains(&mask_of(&kept));
        prop_assert_eq!(s.hits as usize == case.k, valid);
    }

    #[test]
    fn p3_order_and_names_do_not_matter(
        case in case(),
        shuffle in any::<prop::sample::Index>(),
        shift in 0usize..8,
        scale in prop::sample::select(vec![0.25, 2.0, 1024.0]),
    ) {
        let n = case.distances.len();
        let s = score(&case.answer, case.k, &case.distances);

        let mut turned = case.answer.clone();
        let first = turned.len().min(case.k);
        if first > 0 {
            turned[..first].rotate_left(shuffle.index(first));
            turned[..first].reverse();
        }
        prop_assert_eq!(score(&turned, case.k, &case.distances), s);

        let rename = |id: u32| ((id as usize + shift) % n) as u32;
        let renamed: Vec<u32> = case
            .answer
            .iter()
            .map(|&id| if (id as usize) < n { rename(id) } else { id })
            .collect();
        let mut moved = vec![0.0; n];
        for (id, &d) in case.distances.iter().enumerate() {
            moved[rename(id as u32) as usize] = d;
        }
        prop_assert_eq!(score(&renamed, case.k, &moved).hits, s.hits);

        let scaled: Vec<f64> = case.distances.iter().map(|d| d * scale).collect();
        prop_assert_eq!(score(&case.answer, case.k, &scaled), s);
    }

    #[test]
    fn p4_repeats_and_foreign_ids_add_nothing(
        case in case(),
        foreign in 0u32..3,
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
    ) {
        let n = case.distances.len();
        let room: Vec<u32> = case.answer.iter().copied().take(case.k - 1).collect();
        let s = score(&room, case.k, &case.distances).hits;
        let mut appended = room.clone();
        appended.push(n as u32 + foreign);
        prop_assert_eq!(score(&appended, case.k, &case.distances).hits, s);
        if !room.is_empty() {
            let mut repeated = room.clone();
            repeated.push(room[from.index(room.len())]);
            prop_assert_eq!(score(&repeated, case.k, &case.distances).hits, s);
            let mut replaced = room.clone();
            replaced[at.index(room.len())] = room[from.index(room.len())];
            prop_assert!(score(&replaced, case.k, &case.distances).hits <= s);
        }
    }

    #[test]
    fn p5_truncating_never_helps((case, t) in banded_case(), keep in 0usize..12) {
        let s = score_with(&case.answer, case.k, &case.distances, t);
        let cut = &case.answer[..keep.min(case.answer.len())];
        let fewer = score_with(cut, case.k, &case.distances, t);
        prop_assert!(fewer.hits <= s.hits);
        prop_assert!(fewer.hits as usize <= cut.len());
    }

    #[test]
    fn p6_hits_are_the_best_over_all_valid_sets((case, t) in banded_case()) {
        let s = score_with(&case.answer, case.k, &case.distances, t);
        let kept = cleaned(&case.answer, case.k, case.distances.len());
        let best = valid_sets(&case.distances, case.k, t)
            .iter()
            .map(|set| (set & mask_of(&kept)).count_ones())
            .max();
        prop_assert_eq!(Some(s.hits), best);

        let order = canonical_order(&case.distances);
        let d_k = case.distances[order[case.k - 1] as usize];
        let tied_outside = order[case.k..]
            .iter()
            .filter(|&&id| (case.distances[id as usize] - d_k).abs() <= t)
            .count();
        prop_assert!(s.id_hits <= s.hits);
        prop_assert!(s.hits as usize <= s.id_hits as usize + tied_outside);
        prop_assert_eq!(s.beats_truth, 0);
        prop_assert_eq!(
            s.used_tolerance,
            s.hits != score(&case.answer, case.k, &case.distances).hits
        );
    }

    #[test]
    fn p7_id_hits_and_misses_make_k(case in case()) {
        let s = score(&case.answer, case.k, &case.distances);
        let kept = cleaned(&case.answer, case.k, case.distances.len());
        let missed = canonical_order(&case.distances)[..case.k]
            .iter()
            .filter(|id| !kept.contains(id))
            .count();
        prop_assert_eq!(s.id_hits as usize + missed, case.k);
    }

    #[test]
    fn p8_hits_change_no_faster_than_the_answer(
        (case, t) in banded_case(),
        other in prop::collection::vec(0u32..9, 0..12),
    ) {
        let n = case.distances.len();
        let (a, b) = (cleaned(&case.answer, case.k, n), cleaned(&other, case.k, n));
        let only = |x: &[u32], y: &[u32]| x.iter().filter(|id| !y.contains(id)).count();
        let hits = |r: &[u32]| score_with(r, case.k, &case.distances, t).hits;
        prop_assert!(
            hits(&a).abs_diff(hits(&b)) as usize <= only(&a, &b).max(only(&b, &a))
        );
    }
}

/// A small set of integer vectors, many of them equally far.
#[derive(Clone, Debug)]
struct Set {
    dim: usize,
    base: Vec<f32>,
    queries: Vec<f32>,
    k: usize,
    ids: Vec<u32>,
}

fn set() -> impl Strategy<Value = Set> {
    (1usize..5, 2usize..10, 1usize..8).prop_flat_map(|(dim, n, m)| {
        let value = || (-3i8..4).prop_map(f32::from);
        (1..=n).prop_flat_map(move |k| {
            (
                prop::collection::vec(value(), n * dim),
                prop::collection::vec(value(), m * dim),
                prop::collection::vec(slot(n), m * k),
            )
                .prop_map(move |(base, queries, ids)| Set {
                    dim,
                    base,
                    queries,
                    k,
                    ids,
                })
        })
    })
}

fn score_set(set: &Set, metric: Metric) -> Result<Scored, ScoreError> {
    let base = Vectors::F32(Rows::new(&set.base, set.dim).unwrap());
    let queries = Vectors::F32(Rows::new(&set.queries, set.dim).unwrap());
    let (mut truth_ids, mut truth_distances) = (Vec::new(), Vec::new());
    for q in 0..queries.n() {
        let all: Vec<f64> = (0..base.n())
            .map(|i| distance(metric, queries.row(q), base.row(i)))
            .collect();
        let order = canonical_order(&all);
        truth_distances.extend(order.iter().map(|&id| all[id as usize]));
        truth_ids.extend(order);
    }
    let scoring = ScoringSet {
        metric,
        base,
        queries,
        truth_ids: &truth_ids,
        truth_distances: &truth_distances,
        truth_width: base.n(),
        max_base_norm: 100.0,
        strata: &[],
        relevance: None,
    };
    let answers = Answers {
        k: set.k,
        ids: &set.ids,
        returned: &vec![set.k as u32; queries.n()],
        invalid_count: 0,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    score_answers(&pool, &scoring, &answers)
}

/// A set with at least ten rows, and answers of all of them.
fn wide_set() -> impl Strategy<Value = Set> {
    (1usize..4, 10usize..24, 1usize..5).prop_flat_map(|(dim, n, m)| {
        let value = || (-9i8..10).prop_map(f32::from);
        (
            prop::collection::vec(value(), n * dim),
            prop::collection::vec(value(), m * dim),
            prop::collection::vec(slot(n), m * n),
        )
            .prop_map(move |(base, queries, ids)| Set {
                dim,
                base,
                queries,
                k: n,
                ids,
            })
    })
}

/// The first `k` entries of each answer, as if no more had been asked for.
fn cut(set: &Set, k: usize) -> Set {
    let rows = set.ids.chunks_exact(set.k);
    Set {
        ids: rows.flat_map(|row| &row[..k]).copied().collect(),
        k,
        ..set.clone()
    }
}

proptest! {
    /// As records hold them, of more and more entries of the same answers.
    #[test]
    fn p9_named_recalls_grow_with_what_is_looked_at(set in wide_set()) {
        let mut found_before: [u64; 2] = [0, 0];
        let mut nearest_before: Vec<u64> = Vec::new();
        for n in 1..=set.k {
            let scored = score_set(&cut(&set, n), Metric::L2).unwrap();
            let (quality, other) = (&scored.quality, &scored.other_metrics);
            let ks: Vec<u64> = other.k_recall_at_n.iter().map(|found| found.k).collect();
            let expected: &[u64] = if n < 10 { &[1] } else { &[1, 10] };
            prop_assert_eq!(&ks, expected);
            for (found, before) in other.k_recall_at_n.iter().zip(&mut found_before) {
                prop_assert_eq!(found.n, n as u64);
                let slots = found.k.min(found.n) * other.scored_queries;
                prop_assert!(*before <= found.id_hits && found.id_hits <= slots);
                prop_assert_eq!(found.recall, found.id_hits as f64 / (found.k * other.scored_queries) as f64);
                *before = found.id_hits;
                if found.k == found.n {
                    prop_assert_eq!(found.id_hits, quality.id_hits, "k-recall@k is recall by ids");
                }
            }
            // One entry more adds its rank and changes no other: 1-recall@R grows with R, and is the same
            // however many entries are asked for.
            prop_assert_eq!(&other.nearest_at_rank[..n - 1], &nearest_before[..]);
            for found in &other.one_recall_at_r {
                let within: u64 = other.nearest_at_rank[..found.r as usize].iter().sum();
                prop_assert_eq!(found.queries_found, within);
            }
            prop_assert!(other.one_recall_at_r.is_sorted_by_key(|found| found.queries_found));
            let all: u64 = other.nearest_at_rank.iter().sum();
            prop_assert_eq!(all, other.k_recall_at_n[0].id_hits, "1-recall@n");
            nearest_before.clone_from(&other.nearest_at_rank);
        }
    }
}

/// What P10 forbids to assert: recall@k rises and falls with k, and 1-recall@K may be below
/// K-recall@K.
#[test]
fn p10_recall_is_not_monotone_in_k() {
    let line = Set {
        dim: 1,
        base: vec![0.0, 1.0, 2.0, 3.0, 4.0, 9.0],
        queries: vec![0.0],
        k: 4,
        ids: vec![0, 3, 2, 5],
    };
    let recall = |k| {
        score_set(&cut(&line, k), Metric::L2)
            .unwrap()
            .quality
            .recall_mean
    };
    assert_eq!((recall(1), recall(2)), (1.0, 0.5));
    assert!(recall(3) > recall(2) && recall(4) > recall(3));
    let without_the_nearest = Set {
        ids: vec![1, 2, 3, 5],
        ..line
    };
    let scored = score_set(&without_the_nearest, Metric::L2).unwrap();
    assert_eq!(scored.other_metrics.k_recall_at_n[0].recall, 0.0);
    assert_eq!(scored.quality.recall_mean, 0.75);
}

fn map_all(set: &Set, f: impl Fn(usize, f32) -> f32) -> Set {
    let map = |v: &[f32]| {
        v.iter()
            .enumerate()
            .map(|(i, &x)| f(i % set.dim, x))
            .collect()
    };
    Set {
        base: map(&set.base),
        queries: map(&set.queries),
        ..set.clone()
    }
}

proptest! {
    #[test]
    fn p3_moving_or_scaling_the_space_changes_nothing(
        set in set(),
        shift in -8i8..9,
        power in -3i32..4,
    ) {
        let hits = |set: &Set| score_set(set, Metric::L2).map(|s| s.hits).unwrap();
        let before = hits(&set);
        prop_assert_eq!(&hits(&map_all(&set, |j, x| x + f32::from(shift) + j as f32)), &before);
        prop_assert_eq!(&hits(&map_all(&set, |_, x| x * 2f32.powi(power))), &before);
        prop_assert_eq!(&hits(&map_all(&set, |j, x| if j % 2 == 0 { -x } else { x })), &before);
        let mut turned = set.clone();
        for v in [&mut turned.base, &mut turned.queries] {
            v.chunks_mut(set.dim).for_each(<[f32]>::reverse);
        }
        prop_assert_eq!(&hits(&turned), &before);
    }

    #[test]
    fn p11_and_p16_the_mean_is_a_mean_of_integers(set in set(), cut in any::<prop::sample::Index>()) {
        let whole = score_set(&set, Metric::L2).unwrap();
        let (q, k) = (&whole.quality, set.k as f64);
        let m = whole.hits.len();
        let hits: Vec<u32> = whole.hits.iter().map(|h| h.unwrap()).collect();
        prop_assert_eq!(q.hits, hits.iter().map(|&h| u64::from(h)).sum::<u64>());
        prop_assert_eq!(q.recall_mean, q.hits as f64 / (m * set.k) as f64);
        prop_assert!(q.recall_min <= q.recall_p05 && q.recall_min <= q.recall_mean);
        // P16 without a rounding error: mk - hits >= |{r < 1}|.
        let imperfect = hits.iter().filter(|&&h| (h as usize) < set.k).count() as u64;
        prop_assert!((m * set.k) as u64 - q.hits >= imperfect);
        prop_assert_eq!(q.perfect_share, (m as u64 - imperfect) as f64 / m as f64);
        // P11: two strata of the queries.
        let cut = cut.index(m);
        if cut > 0 {
            let part = |range: std::ops::Range<usize>| {
                let part = Set {
                    queries: set.queries[range.start * set.dim..range.end * set.dim].to_vec(),
                    ids: set.ids[range.start * set.k..range.end * set.k].to_vec(),
                    ..set.clone()
                };
                score_set(&part, Metric::L2).unwrap().quality
            };
            let (a, b) = (part(0..cut), part(cut..m));
            prop_assert_eq!(a.hits + b.hits, q.hits);
            let weighted = (a.recall_mean * cut as f64 + b.recall_mean * (m - cut) as f64) / m as f64;
            prop_assert!((weighted - q.recall_mean).abs() < 1e-12 * k.max(1.0));
        }
    }

    #[test]
    fn scoring_agrees_with_the_naive_reading_in_every_metric(set in set()) {
        for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
            let scored = match score_set(&set, metric) {
                Ok(scored) => scored,
                Err(ScoreError::Empty { queries, undefined }) => {
                    prop_assert!(metric == Metric::Cosine && queries == undefined);
                    continue;
                }
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            };
            let base = Vectors::F32(Rows::new(&set.base, set.dim).unwrap());
            let queries = Vectors::F32(Rows::new(&set.queries, set.dim).unwrap());
            for (q, hits) in scored.hits.iter().enumerate() {
                let zero = set.queries[q * set.dim..(q + 1) * set.dim].iter().all(|&x| x == 0.0);
                prop_assert_eq!(hits.is_none(), zero && metric == Metric::Cosine);
                let all: Vec<f64> = (0..base.n())
                    .map(|i| distance(metric, queries.row(q), base.row(i)))
                    .collect();
                // Far above rounding, far below the spacing of these integers' distances.
                let t = if metric == Metric::Cosine { 1e-12 } else { 0.0 };
                let naive = naive_hits(&set.ids[q * set.k..(q + 1) * set.k], set.k, &all, t);
                if let Some(hits) = *hits {
                    prop_assert_eq!(hits as usize, naive, "query {} under {}", q, metric);
                }
            }
            let distinct: BTreeSet<_> = scored.hits.iter().flatten().collect();
            prop_assert_eq!(
                distinct.first().map(|&&h| f64::from(h) / set.k as f64),
                Some(scored.quality.recall_min)
            );
        }
    }
}

fn naive_hits(answer: &[u32], k: usize, distances: &[f64], t: f64) -> usize {
    let kept = cleaned(answer, k, distances.len());
    let order = canonical_order(distances);
    let d_k = distances[order[k - 1] as usize];
    let strict = |id: &&u32| distances[**id as usize] < d_k - t;
    let tied = |id: &&u32| (distances[**id as usize] - d_k).abs() <= t;
    let s = order.iter().filter(strict).count();
    kept.iter().filter(strict).count() + kept.iter().filter(tied).count().min(k - s)
}
