//! W14, and what must hold of any compression: kappa is at least 1, and what is proven kept is kept.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use annbench_core::{Metric, Rows, Vectors};
use annbench_results::*;
use proptest::prelude::*;
use std::ops::ControlFlow;

/// The range of exact ratios.
fn range(pairs: &[(f64, f64)]) -> RatioRange {
    let mut range = RatioRange::default();
    for &(exact, compressed) in pairs {
        range.add(Ratio {
            exact,
            exact_error: 0.0,
            compressed,
            compressed_error: 0.0,
        });
    }
    range
}

fn exactly(d: f64) -> (f64, f64) {
    (d, 0.0)
}

#[test]
fn w14_a_gap_above_kappa_keeps_the_set() {
    let pairs = [(1.0, 1.6), (1.5, 1.5), (3.0, 3.0), (6.0, 6.0)];
    let found = range(&pairs);
    assert_eq!(found.kappa(), Some(1.6));
    // k = 2: 3 / 1.5 = 2 > 1.6; k = 1: 1.5 / 1 is not, and the order of the two did change.
    assert!(found.preserves(exactly(1.5), exactly(3.0)));
    assert!(!found.preserves(exactly(1.0), exactly(1.5)));
    let identity = range(&[(1.0, 1.0), (1.5, 1.5)]);
    assert_eq!(identity.kappa(), Some(1.0));
    assert!(identity.preserves(exactly(1.0), exactly(1.5)));
}

#[test]
fn w14_the_condition_is_strict() {
    // kappa 2, and a gap of exactly 2: a tie after compression would be possible.
    let found = range(&[(1.0, 2.0), (2.0, 2.0)]);
    assert!(!found.preserves(exactly(1.0), exactly(2.0)));
}

#[test]
fn a_distance_of_zero_has_no_ratio() {
    // It stays at 0: any a and b hold for it.
    let stays = range(&[(0.0, 0.0), (1.0, 1.0), (3.0, 3.0)]);
    assert_eq!(stays.kappa(), Some(1.0));
    assert!(stays.preserves(exactly(0.0), exactly(1.0)));
    // It moves away, or another moves onto the query.
    for moved in [
        range(&[(0.0, 0.1), (1.0, 1.0)]),
        range(&[(1.0, 0.0), (3.0, 3.0)]),
    ] {
        assert_eq!(moved.kappa(), Some(f64::INFINITY));
        assert!(!moved.preserves(exactly(1.0), exactly(100.0)));
    }
    assert_eq!(range(&[(0.0, 0.0)]).kappa(), None);
    assert!(!range(&[(0.0, 0.0)]).preserves(exactly(0.0), exactly(0.0)));
}

#[test]
fn errors_of_distances_count_against_the_proof() {
    let row = |exact_error, compressed_error| {
        let mut range = RatioRange::default();
        range.add(Ratio {
            exact: 1.0,
            exact_error,
            compressed: 1.0,
            compressed_error,
        });
        range
    };
    let found = row(0.1, 0.1);
    // 1.1 / 0.9 over 0.9 / 1.1.
    let expected = (1.1 / 0.9) / (0.9 / 1.1);
    assert!((found.kappa().unwrap() - expected).abs() < 1e-12);
    assert!(!found.preserves((1.0, 0.1), (1.6, 0.1)));
    assert!(found.preserves((1.0, 0.1), (2.0, 0.1)));
    // What cannot be told from 0 has no bound.
    assert_eq!(row(1.0, 0.0).kappa(), Some(f64::INFINITY));
    assert_eq!(row(0.0, 1.0).kappa(), Some(f64::INFINITY));
}

#[derive(Clone, Debug)]
struct Set {
    dim: usize,
    base: Vec<f32>,
    queries: Vec<f32>,
    decoded: Vec<f32>,
}

fn audit(metric: Metric, set: &Set, k: usize) -> Result<QuantiserAudit, QuantiserError> {
    let vectors = |values| Vectors::F32(Rows::new(values, set.dim).unwrap());
    let queries = vectors(&set.queries);
    let compressed = CompressedSet {
        metric,
        base: vectors(&set.base),
        queries,
        reconstructed: vectors(&set.decoded),
        queries_given: queries,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    audit_quantiser(&pool, &compressed, k, &|_, _| ControlFlow::Continue(()))
}

#[test]
fn an_audit_tells_proven_from_kept() {
    // Rows at 1, 1.5, 3 and 6; the first decodes to 1.6 and its set of 2 is proven kept, that of 1 is lost.
    let set = Set {
        dim: 1,
        base: vec![1.0, 1.5, 3.0, 6.0],
        queries: vec![0.0],
        decoded: vec![1.6, 1.5, 3.0, 6.0],
    };
    let found = audit(Metric::L2, &set, 2).unwrap();
    assert_eq!(
        (found.queries, found.preserved_queries, found.kept_queries),
        (1, 1, 1)
    );
    let one = found.by_query[0];
    assert!((one.kappa.unwrap() - 1.6).abs() < 1e-6 && one.gap == Some(2.0));
    let found = audit(Metric::L2, &set, 1).unwrap();
    assert_eq!((found.preserved_queries, found.kept_queries), (0, 0));
    assert_eq!((found.hits, found.recall_mean), (0, 0.0));
    // Kept and not proven: 3 / 1.5 is not above what the last row's ratio makes of kappa.
    let set = Set {
        decoded: vec![1.0, 1.5, 3.0, 60.0],
        ..set
    };
    let found = audit(Metric::L2, &set, 2).unwrap();
    assert_eq!((found.preserved_queries, found.kept_queries), (0, 1));
}

#[test]
fn ties_at_the_last_place_are_kept_by_either_row() {
    let set = Set {
        dim: 1,
        base: vec![1.0, 2.0, 2.0],
        queries: vec![0.0],
        decoded: vec![1.0, 2.5, 2.0],
    };
    let found = audit(Metric::L2, &set, 2).unwrap();
    assert_eq!((found.preserved_queries, found.kept_queries), (0, 1));
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let set = Set {
        dim: 1,
        base: vec![1.0, 2.0],
        queries: vec![0.5],
        decoded: vec![1.0, 2.0],
    };
    for (metric, k, said) in [
        (Metric::InnerProduct, 1, "expected l2 or cosine"),
        (Metric::L2, 0, "expected 1 to 1"),
        (Metric::L2, 2, "expected 1 to 1, for the base has 2 rows"),
    ] {
        let error = audit(metric, &set, k).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let short = Set {
        decoded: vec![1.0],
        ..set
    };
    let error = audit(Metric::L2, &short, 1).unwrap_err().to_string();
    assert!(error.contains("found 1 x 1 f32"), "{error}");
    let zero = Set {
        dim: 1,
        base: vec![1.0, 2.0],
        queries: vec![0.0],
        decoded: vec![1.0, 2.0],
    };
    let error = audit(Metric::Cosine, &zero, 1).unwrap_err();
    assert_eq!(error, QuantiserError::Empty { queries: 1 });
}

#[test]
fn an_audit_can_be_cancelled() {
    let values = vec![1.0f32; 8];
    let vectors = Vectors::F32(Rows::new(&values, 1).unwrap());
    let set = CompressedSet {
        metric: Metric::L2,
        base: vectors,
        queries: vectors,
        reconstructed: vectors,
        queries_given: vectors,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let found = audit_quantiser(&pool, &set, 1, &|done, total| {
        assert!(done <= total);
        ControlFlow::Break(())
    });
    assert_eq!(found.unwrap_err(), QuantiserError::Cancelled);
}

/// Ids of the k nearest by (distance, id), and whether the next is as far as the last of them.
fn nearest(distances: &[f64], k: usize) -> (Vec<usize>, bool) {
    let mut ids: Vec<usize> = (0..distances.len()).collect();
    ids.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(a.cmp(&b)));
    let tied = distances[ids[k - 1]] == distances[ids[k]];
    ids.truncate(k);
    ids.sort_unstable();
    (ids, tied)
}

/// A small base with repeats, and what noise of some size makes of it.
fn any_set() -> impl Strategy<Value = (Set, usize)> {
    (1usize..4, 3usize..30, 1usize..6).prop_flat_map(|(dim, n, m)| {
        let noise = prop_oneof![Just(0.0f32), Just(1e-3), Just(0.05), Just(2.0)];
        (
            prop::collection::vec((-8i8..8).prop_map(f32::from), n * dim),
            prop::collection::vec((-8i8..8).prop_map(f32::from), m * dim),
            prop::collection::vec(-1.0f32..1.0, n * dim),
            noise,
            1..n,
        )
            .prop_map(move |(base, queries, moved, noise, k)| {
                let decoded = base.iter().zip(&moved).map(|(x, by)| x + noise * by);
                let decoded = decoded.collect();
                let set = Set {
                    dim,
                    base,
                    queries,
                    decoded,
                };
                (set, k)
            })
    })
}

proptest! {
    #[test]
    fn what_is_proven_kept_is_kept(
        pairs in prop::collection::vec((0u32..60, 0u32..60), 2..20),
        k in any::<prop::sample::Index>(),
    ) {
        // Distances with ties and zeros, compressed in any way at all, or by a little.
        let little: Vec<(f64, f64)> = pairs
            .iter()
            .map(|&(d, by)| (f64::from(d), f64::from(d) * (1.0 + f64::from(by) / 1000.0)))
            .collect();
        let any: Vec<(f64, f64)> = pairs.iter().map(|&(d, c)| (f64::from(d), f64::from(c))).collect();
        for pairs in [little, any] {
            let found = range(&pairs);
            // kappa_ge_one
            prop_assert!(found.kappa().is_none_or(|kappa| kappa >= 1.0));
            let (exact, compressed): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let k = 1 + k.index(exact.len() - 1);
            let mut sorted = exact.clone();
            sorted.sort_by(f64::total_cmp);
            if found.preserves(exactly(sorted[k - 1]), exactly(sorted[k])) {
                // nn_preserved: the set is the one, and no tie leaves another choice.
                prop_assert_eq!(nearest(&compressed, k), (nearest(&exact, k).0, false));
            }
        }
    }

    #[test]
    fn an_audit_of_vectors_keeps_what_it_proves((set, k) in any_set()) {
        for metric in [Metric::L2, Metric::Cosine] {
            // A proof that contradicts what is found is an error.
            let found = match audit(metric, &set, k) {
                Err(QuantiserError::Empty { .. }) => continue,
                found => found.unwrap(),
            };
            prop_assert!(found.preserved_queries <= found.kept_queries);
            for one in &found.by_query {
                prop_assert!(one.kappa.is_none_or(|kappa| kappa >= 1.0));
                prop_assert!(one.gap.is_none_or(|gap| gap >= 1.0));
                prop_assert!(!one.preserved || one.hits as usize == k);
            }
        }
    }

    #[test]
    fn nothing_compressed_keeps_every_set((set, k) in any_set()) {
        // nn_preserved_of_kappa_one: wherever the k-th and the next differ by more than rounding errors.
        let set = Set { decoded: set.base.clone(), ..set };
        let found = audit(Metric::L2, &set, k).unwrap();
        prop_assert_eq!(found.kept_queries, found.queries);
        for one in &found.by_query {
            let apart = one.gap.is_none_or(|gap| gap > 1.0 + 1e-9);
            let next_is_zero = one.gap.is_none() && !one.preserved;
            prop_assert!(one.preserved == apart || next_is_zero);
        }
    }
}
