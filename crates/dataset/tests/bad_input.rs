//! What is wrong with files is said with file, place, expected, found and next step.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{DatasetError, Entry, FileState};
use support::*;

const N: usize = 20;
const M: usize = 3;
const DIM: usize = 4;

fn body(element: &str, format: &str, files: &str) -> String {
    format!(
        "metric: l2\nelement: {element}\ndim: {DIM}\n\
         base: {{ file: base, format: {format}, rows: {N} }}\n\
         queries: {{ file: queries, format: {format}, rows: {M} }}\n{files}"
    )
}

fn sound(format: &str, rows: usize) -> Vec<u8> {
    let narrow = bytes(rows * DIM, rows as u64);
    let wide = floats(&widen(&narrow));
    match format {
        "u8bin" => flat(rows, DIM, &narrow),
        "fbin" => flat(rows, DIM, &wide),
        "bvecs" => texmex(DIM, DIM, &narrow),
        _ => texmex(DIM, 4 * DIM, &wide),
    }
}

fn element(format: &str) -> &'static str {
    if format == "u8bin" || format == "bvecs" {
        "u8"
    } else {
        "f32"
    }
}

/// A set of that format, sound but for its base.
fn with_base(fixture: &Fixture, format: &str, base: &[u8]) -> Entry {
    fixture.write("set", "base", base);
    fixture.write("set", "queries", &sound(format, M));
    fixture.yaml("set", &body(element(format), format, ""))
}

#[test]
fn truncated_and_over_long_files() {
    for format in ["u8bin", "fbin", "bvecs", "fvecs"] {
        let fixture = Fixture::new();
        let whole = sound(format, N);
        fixture.open(&with_base(&fixture, format, &whole)).unwrap();

        let refusal = fixture.refusal(&with_base(&fixture, format, &whole[..whole.len() - 3]));
        assert_words(
            &refusal,
            &[
                "downloads/set/base",
                "size",
                "truncated",
                "download it again",
            ],
        );
        let refusal = fixture.refusal(&with_base(&fixture, format, &whole[..6]));
        assert_words(&refusal, &["base", "truncated"]);
        fixture.refusal(&with_base(&fixture, format, &[]));

        let longer = [&whole[..], &whole[whole.len() - 4..]].concat();
        let refusal = fixture.refusal(&with_base(&fixture, format, &longer));
        assert_words(&refusal, &["size", "bytes"]);

        let more_rows = sound(format, N + 1);
        let refusal = fixture.refusal(&with_base(&fixture, format, &more_rows));
        assert_words(&refusal, &["20 rows of 4", "21"]);
    }
}

#[test]
fn headers_that_lie() {
    let fixture = Fixture::new();
    let whole = sound("fbin", N);
    for (n, dim) in [
        (N as u32 + 5, 4),
        (20, 5),
        (0, 4),
        (20, 0),
        (u32::MAX, u32::MAX),
        (1 << 30, 4),
    ] {
        let mut lying = whole.clone();
        lying[..8].copy_from_slice(&words(&[n, dim]));
        let refusal = fixture.refusal(&with_base(&fixture, "fbin", &lying));
        assert_words(
            &refusal,
            &["downloads/set/base", "expected", "found", "rows of"],
        );
    }
}

#[test]
fn rows_of_an_fvecs_that_differ() {
    let fixture = Fixture::new();
    let mut uneven = sound("fvecs", N);
    let row = 4 + 4 * DIM;
    uneven[7 * row..7 * row + 4].copy_from_slice(&words(&[3]));
    let refusal = fixture.refusal(&with_base(&fixture, "fvecs", &uneven));
    assert_words(&refusal, &["row 7", "expected 4", "found 3"]);
}

#[test]
fn files_named_for_another_format() {
    let formats = ["u8bin", "fbin", "bvecs", "fvecs"];
    for said in formats {
        for is in formats.into_iter().filter(|&is| is != said) {
            let fixture = Fixture::new();
            let refusal = fixture.refusal(&with_base(&fixture, said, &sound(is, N)));
            assert_words(&refusal, &[said, is, "looks like"]);
        }
        let fixture = Fixture::new();
        for (content, words) in [
            (
                &b"\x1f\x8b\x08 and so on, compressed"[..],
                ["gzip", "unpacked"],
            ),
            (
                b"<!DOCTYPE html><h1>404 Not Found</h1>",
                ["HTML", "download"],
            ),
            (b"\x89HDF\r\n\x1a\n\0\0\0\0\0\0\0\0", ["HDF5", said]),
        ] {
            assert_words(
                &fixture.refusal(&with_base(&fixture, said, content)),
                &words,
            );
        }
    }
}

#[test]
fn values_that_are_not_finite() {
    for (value, word) in [
        (f32::NAN, "NaN"),
        (f32::INFINITY, "inf"),
        (f32::NEG_INFINITY, "-inf"),
    ] {
        for format in ["fbin", "fvecs"] {
            let fixture = Fixture::new();
            let mut values = widen(&bytes(N * DIM, 3));
            values[13 * DIM + 2] = value;
            let base = match format {
                "fbin" => flat(N, DIM, &floats(&values)),
                _ => texmex(DIM, 4 * DIM, &floats(&values)),
            };
            let refusal = fixture.refusal(&with_base(&fixture, format, &base));
            assert_words(&refusal, &["base", "row 13, component 2", "finite", word]);
        }
    }
}

/// Large sets are read in steps of 16 MiB, which need not end with a row.
#[test]
fn a_value_in_a_row_that_two_steps_share() {
    let fixture = Fixture::new();
    let (n, dim) = (1_400_000, 3);
    let row = (16 << 20) / (4 * dim);
    for component in [0, 2] {
        let mut values = vec![1.0f32; n * dim];
        values[row * dim + component] = f32::NAN;
        fixture.write("set", "base", &flat(n, dim, &floats(&values)));
        fixture.write("set", "queries", &flat(1, dim, &floats(&[1.0; 3])));
        let entry = fixture.yaml(
            "set",
            "metric: l2\nelement: f32\ndim: 3\n\
             base: { file: base, format: fbin, rows: 1400000 }\n\
             queries: { file: queries, format: fbin, rows: 1 }\n",
        );
        let place = format!("row {row}, component {component}");
        assert_words(&fixture.refusal(&entry), &[&place]);
    }
}

#[test]
fn base_and_queries_of_different_dimension() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "fbin", &sound("fbin", N));
    fixture.write("set", "queries", &flat(M, 5, &floats(&[0.5; M * 5])));
    let refusal = fixture.refusal(&entry);
    assert_words(&refusal, &["queries", "3 rows of 4", "3 rows of 5"]);
}

#[test]
fn another_checksum_is_refused_or_accepted_by_name() {
    let fixture = Fixture::new();
    let known = |sum: &str| format!("files: {{ base: {{ bytes: 88, sha256: \"{sum}\" }} }}\n");
    let wrong = "0".repeat(64);
    fixture.write("set", "base", &sound("u8bin", N));
    fixture.write("set", "queries", &sound("u8bin", M));
    let entry = fixture.yaml("set", &body("u8", "u8bin", &known(&wrong)));
    settle();
    // The second time the remembered sum is compared.
    for _ in 0..2 {
        let refusal = fixture.refusal(&entry);
        assert_words(
            &refusal,
            &["base", "SHA-256", &wrong, "--accept-checksum set"],
        );
    }
    let mut options = fixture.options();
    options.accept_checksum = true;
    let dataset = annbench_dataset::Dataset::open(&entry, &options).unwrap();
    let [accepted] = dataset.accepted_checksums() else {
        panic!("{:?}", dataset.accepted_checksums());
    };
    assert_eq!((&accepted.file[..], &accepted.expected), ("base", &wrong));
    assert_ne!(accepted.found, wrong);
    let found = &accepted.found;
    assert_eq!(
        accepted.to_string(),
        format!("base: expected sha256 {wrong}, found {found}")
    );

    let entry = fixture.yaml("set", &body("u8", "u8bin", &known(&accepted.found)));
    assert!(
        fixture
            .open(&entry)
            .unwrap()
            .accepted_checksums()
            .is_empty()
    );

    // A changed byte is noticed although the sum was remembered.
    let mut changed = sound("u8bin", N);
    changed[20] ^= 1;
    fixture.write("set", "base", &changed);
    assert_words(&fixture.refusal(&entry), &["SHA-256"]);
}

#[test]
fn a_checksum_of_the_flat_layout_holds_for_every_layout() {
    use sha2::Digest;
    let fixture = Fixture::new();
    let sum: String = sha2::Sha256::digest(sound("fbin", N))
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    fixture.write("set", "base", &sound("fvecs", N));
    fixture.write("set", "queries", &sound("fvecs", M));
    let files = format!("files: {{ base: {{ flat_sha256: \"{sum}\" }} }}\n");
    let entry = fixture.yaml("set", &body("f32", "fvecs", &files));
    fixture.open(&entry).unwrap();
    let wrong = format!(
        "files: {{ base: {{ flat_sha256: \"{}\" }} }}\n",
        "1".repeat(64)
    );
    let entry = fixture.yaml("set", &body("f32", "fvecs", &wrong));
    assert_words(
        &fixture.refusal(&entry),
        &["flat layout", &sum, "--accept-checksum set"],
    );
    let mut options = fixture.options();
    options.accept_checksum = true;
    let dataset = annbench_dataset::Dataset::open(&entry, &options).unwrap();
    let ones = "1".repeat(64);
    assert_eq!(
        dataset.accepted_checksums()[0].to_string(),
        format!("base: expected flat_sha256 {ones}, found {sum}")
    );
}

#[test]
fn a_size_that_the_catalogue_does_not_know() {
    let fixture = Fixture::new();
    fixture.write("set", "base", &sound("u8bin", N));
    fixture.write("set", "queries", &sound("u8bin", M));
    let entry = fixture.yaml(
        "set",
        &body("u8", "u8bin", "files: { base: { bytes: 90 } }\n"),
    );
    assert_words(
        &fixture.refusal(&entry),
        &["size", "90 bytes", "88", "truncated"],
    );
    assert!(matches!(
        entry.file_statuses()[0].state,
        FileState::OtherSize { bytes: 88, .. }
    ));
}

#[test]
fn missing_files_are_listed_with_where_they_belong() {
    let fixture = Fixture::new();
    let files = "files: { base: { url: \"https://example.org/base\" } }\n";
    let entry = fixture.yaml("set", &body("u8", "u8bin", files));
    let refusal = fixture.refusal(&entry);
    assert_words(
        &refusal,
        &[
            "https://example.org/base",
            "downloads/set/base",
            "downloads/set/queries",
            "no URL",
        ],
    );
    assert_eq!(entry.file_statuses()[0].state, FileState::Missing);
    assert!(
        matches!(fixture.open(&entry), Err(DatasetError::Missing { files, .. }) if files.len() == 2)
    );
}

#[test]
fn cancelling_leaves_nothing_half_done() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "fvecs", &sound("fvecs", N));
    let mut options = fixture.options();
    options.watch = &|_| std::ops::ControlFlow::Break(());
    let cancelled = annbench_dataset::Dataset::open(&entry, &options);
    assert!(matches!(cancelled, Err(DatasetError::Cancelled)));
    let kept = std::fs::read_dir(fixture.root().join(".cache/flat")).unwrap();
    assert_eq!(kept.count(), 0);
    fixture.open(&entry).unwrap();
}
