//! Every instruction set's shortlists against the naive definition, and what proofs say.

#![allow(clippy::unwrap_used)]

use annbench_core::{Metric, Rows, Vectors, distance};
use annbench_exact::{Certified, ExactError, Flat, Level, Method, Path, Status, certify};
use half::f16;
use proptest::prelude::*;
use std::ops::ControlFlow;

const METRICS: [Metric; 3] = [Metric::L2, Metric::InnerProduct, Metric::Cosine];

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
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

/// All rows by (distance, id), as bits and ids.
fn naive(base: Vectors<'_>, queries: Vectors<'_>, q: usize, metric: Metric) -> Vec<(u64, u32)> {
    let mut row: Vec<(f64, u32)> = (0..base.n())
        .map(|i| (distance(metric, queries.row(q), base.row(i)), i as u32))
        .collect();
    row.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap().then(a.1.cmp(&b.1)));
    row.into_iter().map(|(d, id)| (d.to_bits(), id)).collect()
}

/// Checks answers and proofs on every level, whatever path the engine takes there.
fn agree(base: Vectors<'_>, queries: Vectors<'_>, k: usize) -> Result<(), TestCaseError> {
    let pools = [pool(1), pool(3)];
    for metric in METRICS {
        let expected: Vec<_> = (0..queries.n())
            .map(|q| naive(base, queries, q, metric))
            .collect();
        for level in Level::available() {
            for path in [Path::Shortlist, Path::FullScan] {
                for pool in &pools {
                    let flat = Flat::new(base, metric, pool).unwrap();
                    let flat = flat.at_level(level).unwrap().on_path(path);
                    let found = flat.certify(queries, k, pool, &go_on).unwrap();
                    for (q, expected) in expected.iter().enumerate() {
                        check(
                            &found,
                            q,
                            expected,
                            k,
                            &format!("{metric} {level:?} {path:?}"),
                        )?;
                    }
                    prop_assert_eq!(
                        &flat.search(queries, k, pool, &go_on).unwrap(),
                        found.neighbors()
                    );
                }
            }
        }
    }
    Ok(())
}

fn check(
    found: &Certified,
    q: usize,
    expected: &[(u64, u32)],
    k: usize,
    what: &str,
) -> Result<(), TestCaseError> {
    let (ids, distances) = found.neighbors().row(q);
    let bits = distances.iter().map(|d| d.to_bits());
    let pairs: Vec<_> = bits.zip(ids.iter().copied()).collect();
    prop_assert_eq!(&pairs[..], &expected[..k], "{} query {}", what, q);
    let next = found.next(q).map(|c| (c.distance.to_bits(), c.id));
    prop_assert_eq!(next, expected.get(k).copied(), "{} next of {}", what, q);
    let proof = found.proofs()[q];
    prop_assert!(proof.shortlist >= (k + 1).min(expected.len()));
    // The rows outside: at best those after the shortlist in the true order.
    if let Some(&(bits, _)) = expected.get(proof.shortlist) {
        let distance = f64::from_bits(bits);
        prop_assert!(
            proof.method == Method::FullScan || proof.outside <= distance,
            "{} query {}: {:?} but {}",
            what,
            q,
            proof,
            distance
        );
    }
    let tied = expected
        .get(k)
        .is_some_and(|next| next.0 == expected[k - 1].0);
    if !tied {
        prop_assert!(
            proof.status != Status::Tied || what.contains("cosine"),
            "{} {:?}",
            what,
            proof
        );
    } else {
        prop_assert!(proof.status != Status::Unique, "{} {:?}", what, proof);
    }
    Ok(())
}

/// Base and queries of one of the kinds of data that break search: at random, in clusters much
/// narrower than their distances, far from the origin, rich in duplicates, with zero vectors.
fn values(kind: usize, n: usize, dim: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut uniform = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    let centres: Vec<f32> = (0..4 * dim).map(|_| 20.0 * uniform()).collect();
    (0..n)
        .flat_map(|i| {
            (0..dim)
                .map(|c| match kind {
                    0 => uniform(),
                    1 => centres[i % 4 * dim + c] + 1e-3 * uniform(),
                    2 => 300.0 + uniform(),
                    3 => (uniform() * 2.2).round() + centres[i % 3 * dim + c],
                    4 if i % 3 == 0 => 0.0,
                    _ => uniform() * 10f32.powi((i % 9) as i32 - 4),
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn bytes(n: usize, dim: usize, distinct: u32, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    (0..n * dim)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 24) % distinct * (255 / (distinct - 1).max(1))) as u8
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn certified_floats_are_the_naive_ones(
        dim in 1usize..131, n in 1usize..500, queries in 1usize..40, k in 1usize..20,
        kind in 0usize..6, seed: u32
    ) {
        let (base, asked) = (values(kind, n, dim, seed), values(kind, queries, dim, seed ^ 7));
        // Some queries are base rows.
        let asked = [&asked[..], &base[..n.min(3) * dim]].concat();
        agree(floats(&base, dim), floats(&asked, dim), k.min(n))?;
    }

    #[test]
    fn certified_half_precision_is_the_naive_one(
        dim in 1usize..70, n in 1usize..300, k in 1usize..20, kind in 0usize..6, seed: u32
    ) {
        let halve = |v: Vec<f32>| v.into_iter().map(f16::from_f32).collect::<Vec<_>>();
        let (base, asked) = (halve(values(kind, n, dim, seed)), halve(values(kind, 9, dim, !seed)));
        let wrap = |v| Vectors::F16(Rows::new(v, dim).unwrap());
        agree(wrap(&base), wrap(&asked), k.min(n))?;
    }

    #[test]
    fn certified_bytes_are_the_naive_ones(
        dim in 1usize..131, n in 1usize..500, queries in 1usize..40, k in 1usize..20,
        distinct in prop_oneof![Just(2u32), Just(3), Just(256)], seed: u32
    ) {
        let (base, asked) = (bytes(n, dim, distinct, seed), bytes(queries, dim, distinct, !seed));
        agree(u8s(&base, dim), u8s(&asked, dim), k.min(n))?;
        let signed = |v: &[u8]| v.iter().map(|&b| b as i8).collect::<Vec<_>>();
        let (base, asked) = (signed(&base), signed(&asked));
        let wrap = |v| Vectors::I8(Rows::new(v, dim).unwrap());
        agree(wrap(&base), wrap(&asked), k.min(n))?;
    }

    #[test]
    fn widened_bytes_have_the_same_answers_and_ties(
        dim in 1usize..100, n in 20usize..400, k in 1usize..20, seed: u32
    ) {
        let (base, asked) = (bytes(n, dim, 3, seed), bytes(9, dim, 3, !seed));
        let widen = |v: &[u8]| v.iter().map(|&b| f32::from(b)).collect::<Vec<_>>();
        let (wide_base, wide_asked) = (widen(&base), widen(&asked));
        let pool = pool(2);
        for metric in METRICS {
            let narrow = Flat::new(u8s(&base, dim), metric, &pool).unwrap().on_path(Path::Shortlist);
            let narrow = narrow.certify(u8s(&asked, dim), k, &pool, &go_on).unwrap();
            let wide = Flat::new(floats(&wide_base, dim), metric, &pool).unwrap();
            let wide = wide.on_path(Path::Shortlist).certify(floats(&wide_asked, dim), k, &pool, &go_on).unwrap();
            prop_assert_eq!(narrow.neighbors(), wide.neighbors());
            let statuses = |c: &Certified| c.proofs().iter().map(|p| p.status).collect::<Vec<_>>();
            prop_assert_eq!(statuses(&narrow), statuses(&wide));
        }
    }

    /// A row farther than the k-th changes nothing; a copy of the k-th makes a tie.
    #[test]
    fn far_rows_change_nothing_and_copies_tie(
        dim in 2usize..40, n in 30usize..300, k in 1usize..20, seed: u32
    ) {
        let (base, asked) = (values(0, n, dim, seed), values(0, 8, dim, !seed));
        let pool = pool(2);
        let run = |base: &[f32]| {
            let flat = Flat::new(floats(base, dim), Metric::L2, &pool).unwrap().on_path(Path::Shortlist);
            flat.certify(floats(&asked, dim), k, &pool, &go_on).unwrap()
        };
        let before = run(&base);
        let far = [&base[..], &vec![50.0; dim]].concat();
        let with_far = run(&far);
        prop_assert_eq!(with_far.neighbors(), before.neighbors());
        for q in 0..8 {
            let last = before.neighbors().row(q).0[k - 1] as usize;
            let copied = [&base[..], &base[last * dim..(last + 1) * dim]].concat();
            let after = run(&copied);
            prop_assert_eq!(after.proofs()[q].status, Status::Tied);
            prop_assert_eq!(after.neighbors().row(q), before.neighbors().row(q));
        }
    }
}

#[test]
fn large_dimensions_and_several_blocks() {
    for (n, dim, kind) in [
        (700, 960, 0),
        (700, 960, 2),
        (5_000, 33, 1),
        (3_001, 128, 0),
        (40, 4_097, 0),
    ] {
        let (base, asked) = (values(kind, n, dim, 1), values(kind, 33, dim, 2));
        agree(floats(&base, dim), floats(&asked, dim), 10).unwrap();
        let (base, asked) = (bytes(n, dim, 256, 1), bytes(33, dim, 256, 2));
        agree(u8s(&base, dim), u8s(&asked, dim), 10).unwrap();
    }
}

#[test]
fn extreme_bytes_stay_exact_in_every_arithmetic() {
    // More components than the integers hold go another way.
    for dim in [16_384, 16_385, 33_026] {
        let base = [
            vec![255u8; dim],
            vec![0; dim],
            vec![254; dim],
            vec![255; dim],
        ]
        .concat();
        let asked = [vec![255u8; dim], vec![0; dim]].concat();
        agree(u8s(&base, dim), u8s(&asked, dim), 2).unwrap();
        let signed = |v: &[u8]| v.iter().map(|&b| (b ^ 0x80) as i8).collect::<Vec<_>>();
        let (base, asked) = (signed(&base), signed(&asked));
        let wrap = |v| Vectors::I8(Rows::new(v, dim).unwrap());
        agree(wrap(&base), wrap(&asked), 2).unwrap();
    }
}

#[test]
fn floats_at_the_edges_of_their_range_are_certified() {
    let dim = 3;
    for scale in [1e-45f32, 1e-38, 1e-30, 1e-18, 1e15, 1e25, 3e38] {
        let base: Vec<f32> = values(0, 200, dim, 3).iter().map(|v| v * scale).collect();
        let asked: Vec<f32> = values(0, 9, dim, 4).iter().map(|v| v * scale).collect();
        agree(floats(&base, dim), floats(&asked, dim), 5).unwrap();
    }
    // A few wild rows among tame ones, and a wild query.
    let mut base = values(0, 500, dim, 5);
    base[30] = 3e38;
    base[301] = -1e20;
    base[302] = 1e-40;
    let mut asked = values(0, 9, dim, 6);
    asked[4] = 1e30;
    agree(floats(&base, dim), floats(&asked, dim), 5).unwrap();
}

#[test]
fn cancellation_in_f32_does_not_mislead() {
    // In f32 both expansions of |q - x|^2 give 0.
    let base = floats(&[4097.0, 4096.5], 1);
    let asked = floats(&[4096.0], 1);
    for level in Level::available() {
        let pool = pool(1);
        let flat = Flat::new(base, Metric::L2, &pool).unwrap();
        let flat = flat.at_level(level).unwrap().on_path(Path::Shortlist);
        let found = flat.certify(asked, 1, &pool, &go_on).unwrap();
        assert_eq!(found.neighbors().row(0), (&[1][..], &[0.25][..]));
        assert_eq!(found.next(0).unwrap().distance, 1.0);
        assert_eq!(found.proofs()[0].status, Status::Unique);
    }
}

#[test]
fn an_offset_is_noticed_and_overcome() {
    // Unit vectors far from the origin: differences are lost in an f32 expansion about the origin.
    let (n, dim) = (3_000, 32);
    let far = |v: Vec<f32>| v.into_iter().map(|v| v + 1_000.0).collect::<Vec<_>>();
    let (base, asked) = (far(values(0, n, dim, 1)), far(values(0, 40, dim, 2)));
    let pool = pool(1);
    let found = certify(
        floats(&base, dim),
        floats(&asked, dim),
        Metric::L2,
        10,
        &pool,
        &go_on,
    )
    .unwrap();
    for q in 0..40 {
        let expected = naive(floats(&base, dim), floats(&asked, dim), q, Metric::L2);
        check(&found, q, &expected, 10, "offset").unwrap();
    }
    // About the mean they are not, so shortlists stay short.
    assert!(
        found
            .proofs()
            .iter()
            .all(|p| p.method != Method::FullScan && p.shortlist < 100)
    );
}

#[test]
fn what_f64_cannot_tell_apart_is_resolved() {
    let tiny = 2f32.powi(-30);
    let base = [1.0, tiny, 1.0, 0.0, 1.0, 0.0];
    let base = floats(&base, 2);
    let asked = floats(&[0.0, 0.0], 2);
    for path in [Path::Shortlist, Path::FullScan] {
        let status = |k| {
            let flat = Flat::new(base, Metric::L2, &pool(1)).unwrap().on_path(path);
            flat.certify(asked, k, &pool(1), &go_on).unwrap().proofs()[0].status
        };
        assert_eq!(status(1), Status::Resolved);
        assert_eq!(status(2), Status::Tied);
        assert_eq!(status(3), Status::Unique);
    }
}

#[test]
fn an_instruction_set_that_is_not_there_is_refused() {
    let base = u8s(&[0; 6], 2);
    let one = pool(1);
    for level in Level::available() {
        assert!(
            Flat::new(base, Metric::L2, &one)
                .unwrap()
                .at_level(level)
                .is_ok()
        );
    }
    let refused = ExactError::Level {
        level: Level::Portable,
    };
    assert!(refused.to_string().contains("portable"));
}

#[test]
fn a_cancelled_shortlist_search_stops() {
    let base = bytes(5_000, 16, 256, 1);
    let stop = |_: u64, _: u64| ControlFlow::Break(());
    let base = u8s(&base, 16);
    assert_eq!(
        certify(base, base, Metric::L2, 1, &pool(2), &stop),
        Err(ExactError::Cancelled)
    );
}
