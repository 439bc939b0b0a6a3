//! Numbers that are not exactly those of the element type.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{Dataset, DatasetError, Entry, TruthOrigin};
use support::*;

const N: usize = 30;
const M: usize = 4;
const DIM: usize = 3;
const WIDTH: usize = 2;

fn body(element: &str, truth: bool) -> String {
    let truth = if truth {
        format!("truth: {{ file: truth, format: ibin, width: {WIDTH} }}\n")
    } else {
        String::new()
    };
    format!(
        "metric: l2\nelement: {element}\ndim: {DIM}\n\
         base: {{ file: base, format: npy, rows: {N} }}\n\
         queries: {{ file: queries, format: npy, rows: {M} }}\n{truth}"
    )
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn base() -> Vec<f64> {
    bytes(N * DIM, 3)
        .iter()
        .map(|&v| f64::from(v >> 1))
        .collect()
}

fn with_base(fixture: &Fixture, element: &str, base: &[f64]) -> Entry {
    let queries: Vec<f64> = base[..M * DIM]
        .iter()
        .map(|v| v.trunc().clamp(0.0, 9.0))
        .collect();
    fixture.write("set", "base", &npy("<f8", (N, DIM), &doubles(base)));
    fixture.write("set", "queries", &npy("<f8", (M, DIM), &doubles(&queries)));
    fixture.write("set", "truth", &flat(M, WIDTH, &words(&[0, 1].repeat(M))));
    fixture.yaml("set", &body(element, true))
}

fn narrowed(fixture: &Fixture, entry: &Entry) -> Result<Dataset, DatasetError> {
    let mut options = fixture.options();
    options.narrow = true;
    Dataset::open(entry, &options)
}

#[test]
fn a_number_that_the_type_does_not_have_is_refused_or_rounded() {
    for (element, value) in [("f32", 0.1), ("f16", 1.0001), ("i8", 3.25), ("u8", 100.5)] {
        let fixture = Fixture::new();
        let exact = fixture
            .open(&with_base(&fixture, element, &base()))
            .unwrap();
        let before = exact.base_fingerprint().to_owned();
        assert!(exact.shipped_truth().is_some());

        let mut inexact = base();
        inexact[17 * DIM + 2] = value;
        inexact[20 * DIM] = -0.0;
        let entry = with_base(&fixture, element, &inexact);
        let refusal = fixture.refusal(&entry);
        assert_words(
            &refusal,
            &[
                "downloads/set/base",
                "row 17, component 2",
                &format!("exactly a value of {element}"),
                &format!("found {value}, a value of type f64"),
                "--narrow set",
            ],
        );
        settle();
        for _ in 0..2 {
            let rounded = narrowed(&fixture, &entry).unwrap();
            let [part] = rounded.narrowed() else {
                panic!("{:?}", rounded.narrowed());
            };
            assert_eq!((part.role, part.values), ("base", 1));
            assert_eq!(part.file, "base");
            assert_ne!(rounded.base_fingerprint(), before);
            assert!(rounded.shipped_truth().is_none());
            let notes = rounded.notes().join("\n");
            assert_words(
                &notes,
                &["1 of them were rounded", "exact truth is computed"],
            );
            let truth = rounded.truth(WIDTH, &fixture.options()).unwrap();
            assert_eq!(truth.origin(), TruthOrigin::Computed);
        }
        // What was rounded for those who asked is not given to those who did not.
        assert_eq!(fixture.refusal(&entry), refusal);
    }
}

#[test]
fn to_narrow_what_is_exact_changes_nothing() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "u8", &base());
    let exact = fixture.open(&entry).unwrap();
    let same = narrowed(&fixture, &entry).unwrap();
    assert_eq!(same.base_fingerprint(), exact.base_fingerprint());
    assert!(same.narrowed().is_empty() && same.shipped_truth().is_some());
    assert_eq!(same.notes(), exact.notes());
}

#[test]
fn what_is_out_of_range_or_not_finite_is_never_rounded() {
    for (element, value, word) in [
        ("u8", 256.0, "0 to 255"),
        ("u8", -1.0, "0 to 255"),
        ("i8", 200.0, "-128 to 127"),
        ("f16", 65520.0, "-65504 to 65504"),
        ("f32", 1e39, "within"),
        ("f32", f64::NAN, "a finite number"),
        ("u8", f64::INFINITY, "a finite number"),
    ] {
        let fixture = Fixture::new();
        let mut base = base();
        base[29 * DIM + 1] = value;
        let entry = with_base(&fixture, element, &base);
        for refusal in [
            fixture.refusal(&entry),
            narrowed(&fixture, &entry).unwrap_err().to_string(),
        ] {
            assert_words(&refusal, &["row 29, component 1", word]);
            assert!(!refusal.contains("--narrow"), "{refusal}");
        }
    }
}

#[test]
fn rounded_queries_are_told_of() {
    let fixture = Fixture::new();
    with_base(&fixture, "f32", &base());
    let third = vec![1.0 / 3.0; M * DIM];
    fixture.write("set", "queries", &npy("<f8", (M, DIM), &doubles(&third)));
    let entry = fixture.entry("set").unwrap();
    let rounded = narrowed(&fixture, &entry).unwrap();
    let [part] = rounded.narrowed() else {
        panic!("{:?}", rounded.narrowed());
    };
    assert_eq!((part.role, part.values), ("queries", (M * DIM) as u64));
}

#[test]
fn wide_integers_that_no_float_has() {
    let fixture = Fixture::new();
    let mut wide: Vec<i64> = base().iter().map(|&v| v as i64).collect();
    wide[4 * DIM] = (1 << 24) + 1;
    let body: Vec<u8> = wide.iter().flat_map(|v| v.to_le_bytes()).collect();
    with_base(&fixture, "f32", &base());
    fixture.write("set", "base", &npy("<i8", (N, DIM), &body));
    let entry = fixture.entry("set").unwrap();
    let refusal = fixture.refusal(&entry);
    assert_words(
        &refusal,
        &["row 4, component 0", "16777217", "type i64", "--narrow set"],
    );
    assert_eq!(narrowed(&fixture, &entry).unwrap().narrowed()[0].values, 1);
}
