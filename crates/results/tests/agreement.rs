//! Agreement of two searches: counted by hand, refused where it would be something else.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::{EMPTY_SLOT, Metric, npy};
use annbench_results::*;
use common::search;
use proptest::prelude::*;
use std::path::Path;

fn of(k: usize, n: usize, a: &[u32], b: &[u32]) -> Agreement {
    let returned = vec![k as u32; a.len() / k];
    let answers = |ids| Answers {
        k,
        ids,
        returned: &returned,
        invalid_count: 0,
    };
    Agreement::of(n, &answers(a), &answers(b))
}

#[test]
fn sets_are_compared_and_order_plays_no_part() {
    // The same in another order; one of three; none; a repeat and an empty slot.
    let a = [1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 4, EMPTY_SLOT];
    let b = [3, 1, 2, 1, 8, 9, 7, 8, 9, 4, 5, 6];
    let found = of(3, 10, &a, &b);
    assert_eq!(found.queries_by_shared, [1, 2, 0, 1]);
    assert_eq!((found.shared, found.identical_queries), (5, 1));
    assert_eq!((found.short_a, found.short_b), (2, 0));
    assert_eq!(found.mean, 5.0 / 12.0);
    assert_eq!((found.min, found.median), (0.0, 1.0 / 3.0));
    let jaccard = (1.0 + 1.0 / 5.0 + 0.0 + 1.0 / 3.0) / 4.0;
    assert!((found.jaccard_mean.unwrap() - jaccard).abs() < 1e-12);
}

#[test]
fn queries_that_neither_answered_are_counted_and_have_no_jaccard() {
    let found = of(1, 10, &[EMPTY_SLOT], &[EMPTY_SLOT]);
    assert_eq!((found.empty_queries, found.jaccard_mean), (1, None));
    assert_eq!((found.identical_queries, found.mean), (1, 0.0));
}

/// A measured point of two queries whose answers are in `dir`.
fn measured(dir: &Path, digit: char, ids: &[u32]) -> SearchRecord {
    let mut record = search(digit, Outcome::Ok);
    record.identity.build.adapter = "hnsw_rs".to_owned();
    let raw = dir.join(&record.measured.as_ref().unwrap().raw_dir);
    std::fs::create_dir_all(&raw).unwrap();
    npy::write(&raw.join("ids-0.npy"), &[2, 2], ids).unwrap();
    npy::write(&raw.join("returned-0.npy"), &[2], &[2u32, 2]).unwrap();
    let first = &mut record.measured.as_mut().unwrap().report.repetitions[0];
    first.ids_hash = annbench_core::worker::answers_hash(ids, &[2, 2]);
    record
}

fn compare(dir: &Path, a: &SearchRecord, b: &SearchRecord) -> Result<Agreement, String> {
    let point = |record| MeasuredPoint {
        run_dir: dir,
        record,
    };
    agreement(point(a), point(b)).map_err(|error| error.to_string())
}

#[test]
fn what_is_no_agreement_is_refused_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let a = measured(dir, 'a', &[0, 1, 2, 3]);
    let b = measured(dir, 'b', &[1, 0, 2, 1]);
    let found = compare(dir, &a, &b).unwrap();
    assert_eq!((found.shared, found.identical_queries), (3, 1));

    let changed = |change: fn(&mut SearchRecord)| {
        let mut other = b.clone();
        change(&mut other);
        compare(dir, &a, &other).unwrap_err()
    };
    for (found, said) in [
        (
            changed(|b| b.identity.build.adapter = "exact".to_owned()),
            "recall, which `annbench run` computes",
        ),
        (
            changed(|b| b.identity.build.base_fingerprint = "other".to_owned()),
            "fingerprints of the bases: ba5e and other",
        ),
        (
            changed(|b| b.identity.queries_fingerprint = "other".to_owned()),
            "fingerprints of the queries: 9e and other",
        ),
        (
            changed(|b| b.identity.build.metric = Metric::Cosine),
            "metrics: l2 and cosine",
        ),
        (changed(|b| b.identity.k = 1), "k: 2 and 1"),
        (
            changed(|b| (b.measured, b.outcome) = (None, common::failed(Cause::Panic))),
            "has no answers: it is failed; name a point that was measured",
        ),
        (compare(dir, &a, &a).unwrap_err(), "twice: name two points"),
    ] {
        assert!(found.contains(said), "{said} is not in {found}");
        assert!(found.contains("name") || found.contains("run"), "{found}");
    }
    let raw = dir.join(&b.measured.as_ref().unwrap().raw_dir);
    npy::write(&raw.join("ids-0.npy"), &[2, 2], &[0u32, 1, 2, 1]).unwrap();
    let found = compare(dir, &a, &b).unwrap_err();
    assert!(found.contains("that were measured, of hash"), "{found}");
    std::fs::remove_dir_all(raw).unwrap();
    let found = compare(dir, &a, &b).unwrap_err();
    assert!(found.contains("--retry lost"), "{found}");
}

proptest! {
    #[test]
    fn agreement_is_symmetric_and_bounded_by_recalls(
        (k, a, b, truth) in (1usize..6).prop_flat_map(|k| {
            let answers = prop::collection::vec(0u32..12, k * 4);
            let truth = Just((0..12u32).collect::<Vec<_>>()).prop_shuffle();
            (Just(k), answers.clone(), answers, truth)
        })
    ) {
        let (ab, ba) = (of(k, 12, &a, &b), of(k, 12, &b, &a));
        prop_assert_eq!((ab.shared, &ab.queries_by_shared), (ba.shared, &ba.queries_by_shared));
        prop_assert_eq!(ab.jaccard_mean, ba.jaccard_mean);
        prop_assert_eq!((ab.short_a, ab.short_b), (ba.short_b, ba.short_a));
        prop_assert!(ab.min <= ab.p05 && ab.p05 <= ab.median);
        let own = of(k, 12, &a, &a);
        prop_assert_eq!(own.identical_share, 1.0);
        prop_assert_eq!(own.shared + own.short_a, (4 * k) as u64);
        // Both have so much of any set of k rows, so that they share what exceeds k.
        let truth = &truth[..k];
        let of_truth: Vec<u32> = truth.repeat(4);
        let (with_a, with_b) = (of(k, 12, &a, &of_truth), of(k, 12, &b, &of_truth));
        prop_assert!(ab.shared + (4 * k) as u64 >= with_a.shared + with_b.shared);
    }
}
