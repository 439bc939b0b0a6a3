//! The engine against the naive definition: sort everything by (distance, id), keep k.

#![allow(clippy::unwrap_used)]

use annbench_core::{BitRows, ElementType, Metric, Rows, SetRows, Vectors, distance};
use annbench_exact::{ExactError, Flat, Neighbors, search};
use half::f16;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

fn u8s(values: &[u8], dim: usize) -> Vectors<'_> {
    Vectors::U8(Rows::new(values, dim).unwrap())
}

/// The metrics that vectors of `element` can have.
fn metrics(element: ElementType) -> Vec<Metric> {
    let mut metrics = Metric::ALL.to_vec();
    metrics.retain(|metric| metric.is_defined_on(element));
    metrics
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn naive(base: Vectors<'_>, queries: Vectors<'_>, metric: Metric, k: usize) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    for q in 0..queries.n() {
        let mut row: Vec<(f64, u32)> = (0..base.n())
            .map(|i| (distance(metric, queries.row(q), base.row(i)), i as u32))
            .collect();
        row.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap().then(a.1.cmp(&b.1)));
        all.extend(row[..k].iter().map(|&(d, id)| (d.to_bits(), id)));
    }
    all
}

fn pairs(found: &Neighbors) -> Vec<(u64, u32)> {
    found
        .distances()
        .iter()
        .map(|d| d.to_bits())
        .zip(found.ids().iter().copied())
        .collect()
}

fn one_by_one(
    base: Vectors<'_>,
    queries: Vectors<'_>,
    metric: Metric,
    k: usize,
) -> Vec<(u64, u32)> {
    let flat = Flat::new(base, metric, &pool(1)).unwrap();
    let mut searcher = flat.searcher(k).unwrap();
    (0..queries.n())
        .flat_map(|q| {
            searcher
                .search(queries.row(q))
                .unwrap()
                .iter()
                .map(|c| (c.distance.to_bits(), c.id))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Every row has `k` slots, each with an id of its own.
fn assert_full(found: &Neighbors, queries: usize, k: usize) {
    assert_eq!((found.queries(), found.k()), (queries, k));
    for q in 0..queries {
        let mut ids = found.row(q).0.to_vec();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), k, "query {q}: distinct ids of k = {k}");
    }
}

fn agree(base: Vectors<'_>, queries: Vectors<'_>, k: usize) -> Result<(), TestCaseError> {
    for metric in metrics(base.element()) {
        let expected = naive(base, queries, metric, k);
        for threads in [1, 3] {
            let found = search(base, queries, metric, k, &pool(threads), &go_on).unwrap();
            assert_full(&found, queries.n(), k);
            prop_assert_eq!(pairs(&found), expected.clone(), "{} batch", metric);
        }
        prop_assert_eq!(
            one_by_one(base, queries, metric, k),
            expected,
            "{} single",
            metric
        );
    }
    Ok(())
}

/// Rows drawn from few distinct ones, so that ties and duplicates abound.
fn clustered(dim: usize, n: usize) -> impl Strategy<Value = Vec<u8>> {
    let centres = prop::collection::vec(prop::collection::vec(any::<u8>(), dim), 1..5);
    (
        centres,
        prop::collection::vec((any::<prop::sample::Index>(), 0u8..2), n),
    )
        .prop_map(move |(centres, picks)| {
            picks
                .iter()
                .flat_map(|(pick, shift)| {
                    let mut row = pick.get(&centres).clone();
                    row[0] = row[0].saturating_add(*shift);
                    row
                })
                .collect()
        })
}

fn case() -> impl Strategy<Value = (usize, usize, Vec<u8>, Vec<u8>)> {
    (1usize..40, 1usize..400, 1usize..9).prop_flat_map(|(dim, n, queries)| {
        (
            Just(dim),
            1..=n.min(30),
            prop_oneof![
                clustered(dim, n).boxed(),
                prop::collection::vec(any::<u8>(), n * dim).boxed()
            ],
            prop::collection::vec(0u8..4, queries * dim),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bytes_agree_with_the_naive_search((dim, k, base, queries) in case()) {
        agree(
            u8s(&base, dim),
            u8s(&queries, dim),
            k,
        )?;
    }

    #[test]
    fn floats_agree_with_the_naive_search(
        (dim, k, base, queries) in case(), offset in prop_oneof![Just(0.0f32), Just(1e4), Just(-3e7)]
    ) {
        // An offset much larger than the spread is where expansions of |q - x|^2 fail.
        let widen = |v: &[u8]| v.iter().map(|&b| f32::from(b) / 7.0 + offset).collect::<Vec<_>>();
        let (base, queries) = (widen(&base), widen(&queries));
        agree(
            floats(&base, dim),
            floats(&queries, dim),
            k,
        )?;
    }

    #[test]
    fn signed_bytes_and_half_precision_agree_with_the_naive_search(
        (dim, k, base, queries) in case()
    ) {
        let signed = |v: &[u8]| v.iter().map(|&b| b as i8).collect::<Vec<_>>();
        let (signed_base, signed_queries) = (signed(&base), signed(&queries));
        let wrap = |v| Vectors::I8(Rows::new(v, dim).unwrap());
        agree(wrap(&signed_base), wrap(&signed_queries), k)?;
        let half = |v: &[u8]| v.iter().map(|&b| f16::from_f32(f32::from(b) / 7.0)).collect();
        let (half_base, half_queries): (Vec<f16>, Vec<f16>) = (half(&base), half(&queries));
        let wrap = |v| Vectors::F16(Rows::new(v, dim).unwrap());
        agree(wrap(&half_base), wrap(&half_queries), k)?;
    }

    #[test]
    fn bits_agree_with_the_naive_search((bytes, k, base, queries) in case(), unused in 0usize..8) {
        let dim = bytes * 8 - unused;
        // The bits after the last component are zero.
        let clean = |v: &[u8]| {
            let mut packed = v.to_vec();
            for row in packed.chunks_mut(bytes) {
                row[bytes - 1] &= 0xff << unused;
            }
            packed
        };
        let (base, queries) = (clean(&base), clean(&queries));
        let wrap = |v| Vectors::Bits(BitRows::new(v, dim).unwrap());
        agree(wrap(&base), wrap(&queries), k)?;
    }

    #[test]
    fn sets_agree_with_the_naive_search(
        base in prop::collection::vec(prop::collection::btree_set(0u32..70, 0..12), 1..300),
        queries in prop::collection::vec(prop::collection::btree_set(0u32..70, 0..12), 1..9),
        k in any::<prop::sample::Index>()
    ) {
        let k = 1 + k.index(base.len());
        let flat = |sets: &[BTreeSet<u32>]| {
            let mut offsets = vec![0u64];
            let mut ids = Vec::new();
            for set in sets {
                ids.extend(set);
                offsets.push(ids.len() as u64);
            }
            (offsets, ids)
        };
        let (base, queries) = (flat(&base), flat(&queries));
        let wrap = |(offsets, ids)| Vectors::Sets(SetRows::new(offsets, ids, 70).unwrap());
        agree(wrap((&base.0, &base.1)), wrap((&queries.0, &queries.1)), k)?;
    }

    #[test]
    fn bytes_and_their_widening_give_the_same_answers((dim, k, base, queries) in case()) {
        let widen = |v: &[u8]| v.iter().map(|&b| f32::from(b)).collect::<Vec<_>>();
        let (wide_base, wide_queries) = (widen(&base), widen(&queries));
        for metric in [Metric::L2, Metric::InnerProduct] {
            let narrow = search(
                u8s(&base, dim),
                u8s(&queries, dim),
                metric, k, &pool(2), &go_on,
            ).unwrap();
            let wide = search(
                floats(&wide_base, dim),
                floats(&wide_queries, dim),
                metric, k, &pool(2), &go_on,
            ).unwrap();
            prop_assert_eq!(narrow, wide);
        }
    }
}

fn floats(values: &[f32], dim: usize) -> Vectors<'_> {
    Vectors::F32(Rows::new(values, dim).unwrap())
}

fn bytes(n: usize, dim: usize) -> Vec<u8> {
    let mut state = 7u32;
    (0..n * dim)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

#[test]
fn a_base_cut_into_many_ranges_gives_the_same_answer() {
    let (base, queries) = (bytes(20_000, 8), bytes(70, 8));
    let base = u8s(&base, 8);
    let queries = u8s(&queries, 8);
    for metric in metrics(base.element()) {
        let one = search(base, queries, metric, 50, &pool(1), &go_on).unwrap();
        let many = search(base, queries, metric, 50, &pool(7), &go_on).unwrap();
        assert_eq!(one, many);
    }
}

/// On a few threads a base of 10,000 rows is cut into ranges of some 1,000 rows.
#[test]
fn k_beyond_the_rows_of_a_range_loses_none() {
    let (n, dim) = (10_000, 4);
    let (base, queries) = (bytes(n, dim), bytes(3, dim));
    let (wide_base, wide_queries): (Vec<f32>, Vec<f32>) = (
        base.iter().map(|&b| f32::from(b) / 7.0).collect(),
        queries.iter().map(|&b| f32::from(b) / 3.0).collect(),
    );
    let sets = [
        (u8s(&base, dim), u8s(&queries, dim)),
        (floats(&wide_base, dim), floats(&wide_queries, dim)),
    ];
    for (base, queries) in sets {
        for metric in metrics(base.element()) {
            let all = naive(base, queries, metric, n);
            for k in [1_025, 3_000, n - 1, n] {
                let expected: Vec<_> = all.chunks(n).flat_map(|row| &row[..k]).copied().collect();
                for threads in [1, 2, 5] {
                    let found = search(base, queries, metric, k, &pool(threads), &go_on).unwrap();
                    assert_full(&found, queries.n(), k);
                    assert!(pairs(&found) == expected, "{metric} {k} on {threads}");
                }
                assert!(one_by_one(base, queries, metric, k) == expected);
            }
        }
    }
}

#[test]
fn identical_rows_come_in_id_order() {
    let base = vec![9u8; 2_000 * 3];
    let base = u8s(&base, 3);
    let queries = u8s(&[1, 2, 3], 3);
    let found = search(base, queries, Metric::L2, 5, &pool(4), &go_on).unwrap();
    assert_eq!(found.row(0), (&[0, 1, 2, 3, 4][..], &[149.0; 5][..]));
}

#[test]
fn a_zero_row_under_cosine_is_at_distance_one() {
    let base = u8s(&[0, 0, 1, 0, 0, 1], 2);
    let queries = u8s(&[2, 0], 2);
    let found = search(base, queries, Metric::Cosine, 3, &pool(1), &go_on).unwrap();
    assert_eq!(found.row(0), (&[1, 0, 2][..], &[0.0, 1.0, 1.0][..]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let base = u8s(&[0; 6], 2);
    let one = pool(1);
    let two_dim = u8s(&[1, 2], 2);
    let three_dim = u8s(&[1, 2, 3], 3);
    let wide = floats(&[1.0, 2.0], 2);
    let run = |queries, k| search(base, queries, Metric::L2, k, &one, &go_on).unwrap_err();
    assert_eq!(run(two_dim, 0), ExactError::NoNeighbors);
    assert_eq!(run(two_dim, 4), ExactError::TooManyNeighbors { k: 4, n: 3 });
    assert_eq!(
        run(three_dim, 1),
        ExactError::Dimension {
            base: 2,
            queries: 3
        }
    );
    assert_eq!(
        run(wide, 1),
        ExactError::Element {
            base: ElementType::U8,
            queries: ElementType::F32
        }
    );
    assert_eq!(
        Flat::new(base, Metric::Hamming, &one).unwrap_err(),
        ExactError::Metric {
            metric: Metric::Hamming,
            element: ElementType::U8
        }
    );
    let flat = Flat::new(base, Metric::L2, &one).unwrap();
    let mut searcher = flat.searcher(1).unwrap();
    assert!(matches!(
        searcher.search(three_dim.row(0)),
        Err(ExactError::Dimension { .. })
    ));
    assert!(matches!(
        searcher.search(wide.row(0)),
        Err(ExactError::Element { .. })
    ));
    // A refused query leaves the searcher usable.
    assert_eq!(searcher.search(two_dim.row(0)).unwrap().len(), 1);
}

#[test]
fn progress_reaches_the_total_and_a_break_cancels() {
    let data = bytes(5_000, 4);
    let base = u8s(&data, 4);
    let last = AtomicU64::new(0);
    let watch = |done: u64, total: u64| {
        assert_eq!(total, 5_000 * 5_000);
        last.fetch_max(done, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    search(base, base, Metric::L2, 1, &pool(2), &watch).unwrap();
    assert_eq!(last.into_inner(), 5_000 * 5_000);

    let stop = |_: u64, _: u64| ControlFlow::Break(());
    assert_eq!(
        search(base, base, Metric::L2, 1, &pool(2), &stop),
        Err(ExactError::Cancelled)
    );
}
