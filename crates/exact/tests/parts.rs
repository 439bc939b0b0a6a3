//! Parts of a base joined, and rows of a base asked about all others.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{Metric, Rows, Vectors, distance};
use annbench_exact::{Certified, ExactError, Flat, JoinError, Level, Part, Path, certify, join};
use proptest::prelude::*;
use std::ops::ControlFlow;
use support::{count_ids, leave_one_out};

const METRICS: [Metric; 3] = [Metric::L2, Metric::InnerProduct, Metric::Cosine];

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap()
}

fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn floats(values: &[f32], dim: usize) -> Vectors<'_> {
    Vectors::F32(Rows::new(values, dim).unwrap())
}

fn u8s(values: &[u8], dim: usize) -> Vectors<'_> {
    Vectors::U8(Rows::new(values, dim).unwrap())
}

fn i8s(values: &[i8], dim: usize) -> Vectors<'_> {
    Vectors::I8(Rows::new(values, dim).unwrap())
}

/// Values of which few are distinct, so that ties cross the edges of parts.
fn values(n: usize, seed: u32, distinct: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 24) % distinct) as u8
        })
        .collect()
}

fn parts(
    base: Vectors<'_>,
    queries: Vectors<'_>,
    metric: Metric,
    k: usize,
    cuts: &[usize],
    path: Path,
) -> Vec<Part> {
    let mut edges = [&[0, base.n()], cuts].concat();
    edges.sort_unstable();
    edges.dedup();
    edges
        .windows(2)
        .map(|edge| {
            let (first, rows) = (edge[0], edge[1] - edge[0]);
            let flat = Flat::new(base.slice(first..edge[1]), metric, &pool()).unwrap();
            let flat = flat.on_path(path);
            let found = flat.certify(queries, k.min(rows), &pool(), &go_on).unwrap();
            Part { first, rows, found }
        })
        .collect()
}

/// Everything that must be the same bit for bit.
fn truth(found: &Certified) -> Vec<(Vec<u32>, Vec<u64>, String)> {
    (0..found.neighbors().queries())
        .map(|q| {
            let (ids, distances) = found.neighbors().row(q);
            let next = found.next(q).map(|c| (c.distance.to_bits(), c.id));
            (
                ids.to_vec(),
                distances.iter().map(|d| d.to_bits()).collect(),
                format!("{:?} {next:?}", found.proofs()[q].status),
            )
        })
        .collect()
}

/// A search that goes on from one edge to the next.
fn step_by_step(
    base: Vectors<'_>,
    queries: Vectors<'_>,
    metric: Metric,
    k: usize,
    cuts: &[usize],
    (path, level): (Path, Level),
) -> Certified {
    let mut edges = [&[0, base.n()], cuts].concat();
    edges.sort_unstable();
    edges.dedup();
    let mut found: Option<Certified> = None;
    for edge in edges.windows(2) {
        let flat = Flat::new(base.slice(edge[0]..edge[1]), metric, &pool()).unwrap();
        let flat = flat.on_path(path).at_level(level).unwrap();
        let k = k.min(edge[1]);
        found = Some(match found {
            None => flat.certify(queries, k, &pool(), &go_on).unwrap(),
            Some(before) => {
                let whole = base.slice(0..edge[1]);
                flat.certify_after(&before, whole, queries, k, &pool(), &go_on)
                    .unwrap()
            }
        });
    }
    found.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn joined_parts_are_the_whole(
        dim in 1usize..40, n in 1usize..400, k in 1usize..30, seed: u32,
        distinct in prop_oneof![Just(2u32), Just(256)],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)
    ) {
        let k = k.min(n);
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(n)).collect();
        let (base, asked) = (values(n * dim, seed, distinct), values(9 * dim, !seed, distinct));
        let widen = |v: &[u8]| v.iter().map(|&b| f32::from(b) / 7.0).collect::<Vec<_>>();
        let (wide_base, wide_asked) = (widen(&base), widen(&asked));
        let signed = |v: &[u8]| v.iter().map(|&b| b as i8).collect::<Vec<_>>();
        let (signed_base, signed_asked) = (signed(&base), signed(&asked));
        // Far from the origin, where rounding decides much.
        let far = |v: &[f32]| v.iter().map(|&v| v + 1e4).collect::<Vec<_>>();
        let (far_base, far_asked) = (far(&wide_base), far(&wide_asked));
        let sets = [
            (u8s(&base, dim), u8s(&asked, dim)),
            (i8s(&signed_base, dim), i8s(&signed_asked, dim)),
            (floats(&wide_base, dim), floats(&wide_asked, dim)),
            (floats(&far_base, dim), floats(&far_asked, dim)),
        ];
        for (base, asked) in sets {
            for metric in METRICS {
                let whole = certify(base, asked, metric, k, &pool(), &go_on).unwrap();
                for path in [Path::Shortlist, Path::FullScan] {
                    let parts = parts(base, asked, metric, k, &cuts, path);
                    let joined = join(&parts, base, asked, metric, k).unwrap();
                    prop_assert_eq!(truth(&joined), truth(&whole));
                    for q in 0..9 {
                        // Rows outside of a full scan are proved to be no nearer than the last of it.
                        let (_, distances) = joined.neighbors().row(q);
                        let slack = joined.proofs()[q].outside - distances[k - 1];
                        prop_assert!(slack >= 0.0 || path == Path::Shortlist);
                    }
                }
                for level in Level::available() {
                    for path in [Path::Shortlist, Path::FullScan] {
                        let way = (path, level);
                        let stepped = step_by_step(base, asked, metric, k, &cuts, way);
                        prop_assert_eq!(truth(&stepped), truth(&whole), "{:?} {}", way, metric);
                    }
                }
            }
        }
    }

    #[test]
    fn others_are_all_rows_but_oneself(
        dim in 1usize..20, n in 2usize..300, k in 1usize..20, seed: u32,
        distinct in prop_oneof![Just(1u32), Just(2), Just(256)]
    ) {
        let k = k.min(n - 1);
        let base = values(n * dim, seed, distinct);
        let wide: Vec<f32> = base.iter().map(|&b| f32::from(b) / 7.0).collect();
        for base in [u8s(&base, dim), floats(&wide, dim)] {
            for metric in METRICS {
                let flat = Flat::new(base, metric, &pool()).unwrap();
                let found = leave_one_out(&flat, base, 0..n, k, &pool()).unwrap();
                for y in 0..n {
                    let mut row: Vec<(f64, u32)> = (0..n)
                        .filter(|&x| x != y)
                        .map(|x| (distance(metric, base.row(y), base.row(x)), x as u32))
                        .collect();
                    row.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap().then(a.1.cmp(&b.1)));
                    let expected: Vec<u32> = row[..k].iter().map(|c| c.1).collect();
                    prop_assert_eq!(&found[y * k..(y + 1) * k], &expected[..]);
                }
                let counts = flat.occurrences(k, &pool(), &go_on).unwrap();
                prop_assert_eq!(counts.iter().map(|&c| c as usize).sum::<usize>(), n * k);
                prop_assert_eq!(counts, count_ids(&found, n));
                let some = leave_one_out(&flat, base, n / 3..n, k, &pool()).unwrap();
                prop_assert_eq!(&some[..], &found[n / 3 * k..]);
            }
        }
    }
}

/// A base on a line, with its lists worked out by hand.
#[test]
fn w7_occurrences_on_a_line() {
    let base = [0.0, 1.0, 3.0, 7.0, 12.0, 13.0, 15.0, 25.0];
    let vectors = floats(&base, 1);
    let flat = Flat::new(vectors, Metric::L2, &pool()).unwrap();
    let found = leave_one_out(&flat, vectors, 0..8, 2, &pool()).unwrap();
    assert_eq!(found, [1, 2, 0, 2, 1, 0, 2, 4, 5, 6, 4, 6, 5, 4, 6, 5]);
    let counts = flat.occurrences(2, &pool(), &go_on).unwrap();
    assert_eq!(counts, [2, 2, 3, 0, 3, 3, 3, 0]);
}

#[test]
fn going_on_from_another_search_is_refused() {
    let base = values(40 * 3, 1, 256);
    let queries = values(5 * 3, 2, 256);
    let (base, queries) = (u8s(&base, 3), u8s(&queries, 3));
    let flat = |rows| Flat::new(base.slice(rows), Metric::L2, &pool()).unwrap();
    let before = flat(0..20).certify(queries, 4, &pool(), &go_on).unwrap();
    let rest = flat(20..40);
    let go = |queries, k| rest.certify_after(&before, base, queries, k, &pool(), &go_on);
    assert!(go(queries, 4).is_ok());
    for refused in [go(queries, 5), go(queries.slice(0..4), 4), go(queries, 3)] {
        assert!(matches!(refused, Err(ExactError::OtherQueries { .. })));
    }
    let larger = rest.certify_after(&before, base.slice(0..10), queries, 4, &pool(), &go_on);
    assert!(matches!(larger, Err(ExactError::RowRange { .. })));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let values = values(20, 1, 9);
    let base = u8s(&values, 2);
    let flat = Flat::new(base, Metric::L2, &pool()).unwrap();
    let others = |k| leave_one_out(&flat, base, 0..10, k, &pool()).unwrap_err();
    assert_eq!(others(0), ExactError::NoNeighbors);
    assert_eq!(others(10), ExactError::TooManyOthers { k: 10, others: 9 });
    let strange = flat.each_others(
        base.slice(0..3),
        &[1, 3, 10],
        1,
        &pool(),
        &go_on,
        &mut |_| {},
    );
    assert_eq!(
        strange,
        Err(ExactError::Id {
            id: 10,
            at: 2,
            n: 10
        })
    );

    let asked = base.slice(0..3);
    let cut = |k| parts(base, asked, Metric::L2, k, &[4], Path::Auto);
    let joined = |parts: &[Part], k| join(parts, base, asked, Metric::L2, k).unwrap_err();
    let n = 10;
    assert_eq!(joined(&cut(2), 0), JoinError::Size { k: 0, n });
    assert_eq!(joined(&cut(2), 11), JoinError::Size { k: 11, n });
    let narrow = |first, needed| JoinError::Narrow {
        first,
        found: 2,
        needed,
    };
    assert_eq!(joined(&cut(2), 3), narrow(0, 3));
    let range = |expected, found| JoinError::Range { expected, found, n };
    assert_eq!(joined(&cut(2)[..1], 2), range(4, 10));
    assert_eq!(joined(&cut(2)[1..], 2), range(0, 4));
    let mut wrong = cut(2);
    wrong[1].rows = 7;
    assert_eq!(joined(&wrong, 2), range(4, 11));
    let fewer = parts(base, base.slice(0..2), Metric::L2, 2, &[4], Path::Auto);
    assert_eq!(
        joined(&fewer, 2),
        JoinError::Queries {
            first: 0,
            found: 2,
            expected: 3
        }
    );
    // Answers of a longer range, said to be of a shorter one.
    let mut wrong = parts(base, asked, Metric::L2, 10, &[], Path::Auto);
    wrong[0].rows = 5;
    let half = join(&wrong, base.slice(0..5), asked, Metric::L2, 5).unwrap_err();
    assert!(matches!(
        half,
        JoinError::Id {
            first: 0,
            rows: 5,
            ..
        }
    ));
}
