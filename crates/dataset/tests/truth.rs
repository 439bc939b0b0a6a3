//! Shipped truth is checked, computed truth is kept.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{Vectors, distance};
use annbench_dataset::{Dataset, DatasetError, Entry, Refutation, TruthOrigin};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use support::*;

const N: usize = 400;
const M: usize = 40;
const DIM: usize = 6;
const WIDTH: usize = 10;

fn body(metric: &str, rest: &str) -> String {
    format!(
        "metric: {metric}\nelement: u8\ndim: {DIM}\n\
         base: {{ file: base, format: u8bin, rows: {N} }}\n\
         queries: {{ file: queries, format: u8bin, rows: {M} }}\n{rest}"
    )
}

const SHIPPED: &str = "truth: { file: truth, format: ibin, width: 10 }\n";

fn write_vectors(fixture: &Fixture) {
    fixture.write("set", "base", &flat(N, DIM, &bytes(N * DIM, 1)));
    fixture.write("set", "queries", &flat(M, DIM, &bytes(M * DIM, 2)));
}

fn naive(base: Vectors<'_>, queries: Vectors<'_>, dataset: &Dataset, k: usize) -> Vec<u32> {
    (0..queries.n())
        .flat_map(|q| {
            let mut row: Vec<(f64, u32)> = (0..base.n())
                .map(|i| {
                    let d = distance(dataset.metric(), queries.row(q), base.row(i));
                    (d, i as u32)
                })
                .collect();
            row.sort_by(|a, b| a.partial_cmp(b).unwrap());
            row.truncate(k);
            row.into_iter().map(|(_, id)| id)
        })
        .collect()
}

fn true_ids(fixture: &Fixture) -> Vec<u32> {
    write_vectors(fixture);
    let dataset = fixture.open(&fixture.yaml("set", &body("l2", ""))).unwrap();
    naive(
        dataset.base().vectors(),
        dataset.queries().vectors(),
        &dataset,
        WIDTH,
    )
}

fn with_ids(fixture: &Fixture, ids: &[u32]) -> Entry {
    fixture.write("set", "truth", &flat(M, WIDTH, &words(ids)));
    fixture.yaml("set", &body("l2", SHIPPED))
}

#[test]
fn computed_truth_is_exact_for_every_metric_and_kept() {
    for metric in ["l2", "inner_product", "cosine"] {
        let fixture = Fixture::new();
        write_vectors(&fixture);
        let dataset = fixture
            .open(&fixture.yaml("set", &body(metric, "")))
            .unwrap();
        assert!(dataset.shipped_truth().is_none());
        let heard = AtomicU64::new(0);
        let mut options = fixture.options();
        let watch = |_: annbench_dataset::Progress<'_>| {
            heard.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        options.watch = &watch;
        let truth = dataset.truth(7, &options).unwrap();
        assert_eq!(truth.origin(), TruthOrigin::Computed);
        assert_eq!((truth.queries(), truth.width()), (M, 100));
        let expected = naive(
            dataset.base().vectors(),
            dataset.queries().vectors(),
            &dataset,
            100,
        );
        assert_eq!(truth.ids(), expected, "{metric}");
        assert_eq!(truth.not_kept(), None);
        assert!(heard.swap(0, Ordering::Relaxed) > 0);

        let again = fixture
            .open(dataset.entry())
            .unwrap()
            .truth(100, &options)
            .unwrap();
        assert_eq!(again, truth);
        assert_eq!(heard.load(Ordering::Relaxed), 0, "it was computed again");
    }
}

#[test]
fn kept_truth_of_other_contents_is_not_used() {
    let fixture = Fixture::new();
    write_vectors(&fixture);
    let entry = fixture.yaml("set", &body("l2", ""));
    let first = fixture.open(&entry).unwrap();
    let before = first.truth(5, &fixture.options()).unwrap();
    let mut base = bytes(N * DIM, 1);
    base[..DIM].fill(0);
    fixture.write("set", "base", &flat(N, DIM, &base));
    let second = fixture.open(&entry).unwrap();
    let after = second.truth(5, &fixture.options()).unwrap();
    assert_ne!(before.fingerprint(), after.fingerprint());
    let expected = naive(
        second.base().vectors(),
        second.queries().vectors(),
        &second,
        100,
    );
    assert_eq!(after.ids(), expected);
}

#[test]
fn damaged_kept_truth_is_computed_again() {
    let fixture = Fixture::new();
    write_vectors(&fixture);
    let dataset = fixture.open(&fixture.yaml("set", &body("l2", ""))).unwrap();
    let first = dataset.truth(5, &fixture.options()).unwrap();
    let kept = dataset.truth_dir(100).join("ids-100-400.npy");
    let whole = std::fs::read(&kept).unwrap();
    let mut swapped = whole.clone();
    let last = swapped.len() - 4;
    swapped[last..].copy_from_slice(&words(&[0]));
    let mut zeroed = whole.clone();
    zeroed[last - 4_000..].fill(0);
    let mut turned = whole.clone();
    turned[last..].copy_from_slice(&words(&[N as u32]));
    let mut times = 0;
    let mut again = || {
        assert_eq!(dataset.truth(5, &fixture.options()).unwrap(), first);
        assert_eq!(std::fs::read(&kept).unwrap(), whole);
        times += 1;
        let notes = dataset.later_notes();
        assert_eq!(notes.len(), times);
        assert_words(&notes[times - 1], &["kept truth", "computed again"]);
        assert_eq!(dataset.truth(5, &fixture.options()).unwrap(), first);
        assert_eq!(dataset.later_notes().len(), times);
    };
    for damaged in [
        &whole[..whole.len() - 4],
        &swapped[..],
        &zeroed[..],
        &turned[..],
        b"",
    ] {
        std::fs::write(&kept, damaged).unwrap();
        again();
    }
    let facts = dataset.truth_dir(100).join("piece.json");
    let text = std::fs::read_to_string(&facts).unwrap();
    for damaged in [
        &text[..text.len() / 2],
        &text.replace("\"l2\"", "\"cosine\""),
    ] {
        std::fs::write(&facts, damaged).unwrap();
        again();
    }
}

#[test]
fn k_beyond_the_base_or_the_shipped_width_is_refused() {
    let fixture = Fixture::new();
    let ids = true_ids(&fixture);
    let dataset = fixture.open(&with_ids(&fixture, &ids)).unwrap();
    let options = fixture.options();
    assert_eq!(dataset.truth(WIDTH, &options).unwrap().width(), WIDTH);
    let narrow = dataset.truth(WIDTH + 1, &options).unwrap_err();
    assert!(matches!(narrow, DatasetError::NarrowTruth { .. }));
    assert_words(
        &narrow.to_string(),
        &["k = 11", "10 neighbours", "leave `truth` out"],
    );
    let large = dataset.truth(N + 1, &options).unwrap_err();
    assert_words(&large.to_string(), &["k = 401", "400 base rows"]);
}

#[test]
fn ids_that_no_row_has_are_refused() {
    let fixture = Fixture::new();
    let ids = true_ids(&fixture);
    for value in [N as u32, 49_999, u32::MAX] {
        let mut wrong = ids.clone();
        wrong[3 * WIDTH + 4] = value;
        let refusal = fixture.refusal(&with_ids(&fixture, &wrong));
        let value = value.to_string();
        assert_words(
            &refusal,
            &[
                "truth",
                "query 3, position 4",
                "from 0 to 399",
                &value,
                "another base",
            ],
        );
    }
    // The same with negative ids of an ivecs file.
    let mut wrong = ids;
    wrong[0] = -1i32 as u32;
    fixture.write("set", "truth", &texmex(WIDTH, 4 * WIDTH, &words(&wrong)));
    let entry = fixture.yaml(
        "set",
        &body("l2", "truth: { file: truth, format: ivecs, width: 10 }\n"),
    );
    assert_words(
        &fixture.refusal(&entry),
        &["query 0, position 0", "found -1"],
    );
}

#[test]
fn ids_that_repeat_are_refused() {
    let fixture = Fixture::new();
    let mut ids = true_ids(&fixture);
    ids[5 * WIDTH] = ids[5 * WIDTH + 9];
    let refusal = fixture.refusal(&with_ids(&fixture, &ids));
    assert_words(&refusal, &["query 5", "10 different ids", "more than once"]);
}

#[test]
fn truth_of_another_size_is_refused() {
    let fixture = Fixture::new();
    let ids = true_ids(&fixture);
    let entry = with_ids(&fixture, &ids);
    let whole = flat(M, WIDTH, &words(&ids));
    for cut in [whole.len() - 1, 9, 5, 0] {
        fixture.write("set", "truth", &whole[..cut]);
        assert_words(&fixture.refusal(&entry), &["truth", "truncated"]);
    }
    fixture.write("set", "truth", &flat(M - 1, WIDTH, &words(&ids[WIDTH..])));
    assert_words(&fixture.refusal(&entry), &["40 queries of 10", "39 of 10"]);
    fixture.write("set", "truth", &flat(M, WIDTH - 5, &words(&ids[..M * 5])));
    assert_words(&fixture.refusal(&entry), &["40 queries of 10", "40 of 5"]);
    let mut lying = whole;
    lying[..8].copy_from_slice(&words(&[u32::MAX, u32::MAX]));
    fixture.write("set", "truth", &lying);
    assert_words(&fixture.refusal(&entry), &["4294967295 queries"]);
}

#[test]
fn stale_truth_is_refuted_with_evidence() {
    let fixture = Fixture::new();
    let mut ids = true_ids(&fixture);
    let clean = fixture.open(&with_ids(&fixture, &ids)).unwrap();
    let shipped = clean.shipped_truth().unwrap();
    assert_eq!((shipped.sampled_queries(), shipped.refuted()), (32, None));
    // Query 0 loses its true third neighbour to a row that is none of its neighbours.
    let row = &mut ids[..WIDTH];
    let lost = row[2];
    row[2] = (0..N as u32).find(|id| !row.contains(id)).unwrap();
    let entry = with_ids(&fixture, &ids);
    for _ in 0..2 {
        let dataset = fixture.open(&entry).unwrap();
        let refuted = dataset.shipped_truth().unwrap().refuted().unwrap();
        assert_eq!((refuted.query, refuted.k, refuted.id), (0, 3, lost));
        assert!(refuted.distance < refuted.truth_distance);
        let query = dataset.queries().vectors().row(0);
        let x = dataset.base().vectors().row(lost as usize);
        assert_eq!(refuted.distance, distance(dataset.metric(), query, x));
    }
}

/// Of the truth of an entry: what its sample found, before and after `spoil` has changed what is
/// remembered of it, and the notes of the second time.
fn checked_twice(
    fixture: &Fixture,
    entry: &Entry,
    spoil: impl Fn(&mut serde_json::Value),
) -> ([(usize, Option<Refutation>); 2], String) {
    let verdict = |dataset: &Dataset| {
        let truth = dataset.shipped_truth().unwrap();
        (truth.sampled_queries(), truth.refuted())
    };
    let before = verdict(&fixture.open(entry).unwrap());
    let kept: Vec<_> = std::fs::read_dir(fixture.root().join(".cache/truth"))
        .unwrap()
        .map(|item| item.unwrap().path())
        .collect();
    for path in &kept {
        let text = std::fs::read_to_string(path).unwrap();
        let mut sealed: serde_json::Value = serde_json::from_str(&text).unwrap();
        spoil(&mut sealed["facts"]);
        // With a seal that fits, as another version might have written it.
        let key = path.file_stem().unwrap().to_str().unwrap();
        let text = format!("annbench cache 1\n{key}\n{}", sealed["facts"]);
        sealed["seal"] = blake3::hash(text.as_bytes()).to_hex()[..32].into();
        std::fs::write(path, sealed.to_string()).unwrap();
    }
    let again = fixture.open(entry).unwrap();
    let whole = fixture.open(entry).unwrap();
    assert_eq!(verdict(&whole), before);
    assert_eq!(whole.notes(), [""; 0]);
    ([before, verdict(&again)], again.notes().join("\n"))
}

#[test]
fn a_remembered_refutation_is_evidence_or_is_found_again() {
    let mut spoilt = true_ids(&Fixture::new());
    // The third of the sampled queries: there are 40, and 32 are searched.
    let row = &mut spoilt[2 * WIDTH..3 * WIDTH];
    let lost = row[4];
    row[4] = (0..N as u32).find(|id| !row.contains(id)).unwrap();
    let kept = row[0];
    let other = (0..N).find(|id| !spoilt[2 * WIDTH..3 * WIDTH].contains(&(*id as u32)));
    let other = other.filter(|&id| id != lost as usize).unwrap_or(N - 1);
    for evidence in [
        [M, 4, lost as usize],
        [2, WIDTH, lost as usize],
        [2, 4, N],
        // Rows in range that are no evidence: one of the truth's own, and one that is far away.
        [2, 4, kept as usize],
        [2, 0, other],
    ] {
        let fixture = Fixture::new();
        write_vectors(&fixture);
        let entry = with_ids(&fixture, &spoilt);
        let ([before, again], notes) = checked_twice(&fixture, &entry, |facts| {
            assert_eq!(facts["refuted"], serde_json::json!([2, 4, lost]));
            facts["refuted"] = serde_json::json!(evidence);
        });
        let (searched, refutation) = before;
        assert_eq!((searched, refutation.unwrap().id), (3, lost));
        assert_eq!(again, before, "{evidence:?}");
        assert_words(&notes, &["does not hold", "checked again"]);
    }
}

#[test]
fn a_remembered_check_of_fewer_queries_is_none() {
    let ids = true_ids(&Fixture::new());
    let fixture = Fixture::new();
    write_vectors(&fixture);
    let entry = with_ids(&fixture, &ids);
    let ([before, again], notes) =
        checked_twice(&fixture, &entry, |facts| facts["searched"] = 5.into());
    assert_eq!(before, (32, None));
    assert_eq!(again, before);
    assert_words(&notes, &["checked again"]);
}

#[test]
fn evidence_is_a_row_that_the_truth_does_not_have() {
    // Rows 0 and 1 are equally near to the query; the truth has the second of them only.
    let fixture = Fixture::new();
    fixture.write("set", "base", &flat(4, 1, &[1, 1, 5, 9]));
    fixture.write("set", "queries", &flat(1, 1, &[0]));
    fixture.write("set", "truth", &flat(1, 2, &words(&[1, 2])));
    let entry = fixture.yaml(
        "set",
        "metric: l2\nelement: u8\ndim: 1\n\
         base: { file: base, format: u8bin, rows: 4 }\n\
         queries: { file: queries, format: u8bin, rows: 1 }\n\
         truth: { file: truth, format: ibin, width: 2 }\n",
    );
    let dataset = fixture.open(&entry).unwrap();
    let refuted = dataset.shipped_truth().unwrap().refuted().unwrap();
    let shown = (refuted.k, refuted.id, refuted.distance);
    assert_eq!(shown, (2, 0, 1.0));
    assert_eq!(refuted.truth_distance, 25.0);
}

#[test]
fn zero_queries_under_cosine_are_named() {
    let fixture = Fixture::new();
    let mut queries = bytes(M * DIM, 2);
    queries[3 * DIM..4 * DIM].fill(0);
    let mut base = bytes(N * DIM, 1);
    base[..2 * DIM].fill(0);
    fixture.write("set", "base", &flat(N, DIM, &base));
    fixture.write("set", "queries", &flat(M, DIM, &queries));
    let cosine = fixture
        .open(&fixture.yaml("set", &body("cosine", "")))
        .unwrap();
    assert_eq!(cosine.undefined_queries(), [3]);
    assert_words(
        &cosine.notes().join("\n"),
        &[
            "base rows that are zero",
            "2 of 400",
            "distance 1",
            "queries that are zero",
            "1 of 40",
            "left out of recall",
        ],
    );
    let truth = cosine.truth(3, &fixture.options()).unwrap();
    assert_eq!(truth.row(3).0[..3], [0, 1, 2]);
    let l2 = fixture.open(&fixture.yaml("set", &body("l2", ""))).unwrap();
    assert!(l2.undefined_queries().is_empty());
    assert!(l2.notes().is_empty());
}

#[test]
fn queries_that_are_all_zero_under_cosine_are_refused() {
    let fixture = Fixture::new();
    fixture.write("set", "base", &flat(N, DIM, &bytes(N * DIM, 1)));
    fixture.write("set", "queries", &flat(M, DIM, &[0; M * DIM]));
    let refusal = fixture.refusal(&fixture.yaml("set", &body("cosine", "")));
    let words = [
        "downloads/set/queries",
        "direction",
        "40, all of them zero",
        "nothing could be scored",
    ];
    assert_words(&refusal, &words);
    for metric in ["l2", "inner_product"] {
        fixture
            .open(&fixture.yaml("set", &body(metric, "")))
            .unwrap();
    }
}
