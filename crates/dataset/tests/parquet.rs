//! Parquet files as pyarrow writes them.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::Vectors;
use annbench_dataset::{Dataset, Entry};
use proptest::prelude::*;
use support::*;

const N: usize = 40;
const DIM: usize = 5;

fn fixture_bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parquet");
    std::fs::read(format!("{folder}/{name}.parquet")).unwrap()
}

fn value(i: usize, j: usize) -> f32 {
    ((i * 7 + j * 3) % 11) as f32 - 2.5
}

/// The base in `wild`, with more keys; queries and truth are sound.
fn entry(fixture: &Fixture, name: &str, element: &str, more: &str) -> Entry {
    fixture.yaml(
        name,
        &format!(
            "folder: made\nmetric: l2\nelement: {element}\ndim: {DIM}\n\
             base: {{ file: wild, format: parquet, dataset: emb, rows: {N}{more} }}\n\
             queries: {{ file: wild, format: parquet, dataset: emb, rows: {N}{more} }}\n"
        ),
    )
}

fn rows(set: &Dataset) -> Vec<f32> {
    match set.base().vectors() {
        Vectors::F32(rows) => rows.data().to_vec(),
        other => panic!("{}", other.element()),
    }
}

/// Rows in the order of the file, and in that of their ids.
fn expected(by_id: bool, shift: f32) -> Vec<f32> {
    let mut rows: Vec<(usize, usize)> = (0..N)
        .map(|i| (if by_id { (i * 7 + 3) % N } else { i }, i))
        .collect();
    rows.sort_unstable();
    rows.iter()
        .flat_map(|&(_, i)| (0..DIM).map(move |j| value(i, j) + shift))
        .collect()
}

#[test]
fn every_way_of_writing_reads_as_the_same_rows() {
    let fixture = Fixture::new();
    let mut fingerprints = Vec::new();
    for (name, shift) in [
        ("snappy", 0.0),
        ("plain", 0.0),
        ("gzip_v2", 0.0),
        ("zstd_fixed", 0.0),
        ("split", 0.0),
        ("f64", 0.0),
        ("ints", 2.5),
    ] {
        fixture.write("made", "wild", &fixture_bytes(name));
        for (by_id, more) in [(false, ""), (true, ", ids: id")] {
            let set = fixture
                .open(&entry(&fixture, &format!("{name}-{by_id}"), "f32", more))
                .unwrap();
            assert_eq!(rows(&set), expected(by_id, shift), "{name} {by_id}");
            if by_id && shift == 0.0 {
                fingerprints.push(set.base_fingerprint().to_owned());
            }
        }
        let first = entry(
            &fixture,
            &format!("{name}-first"),
            "f32",
            ", take_first: 18, ids: id",
        );
        let set = fixture.open(&first).unwrap();
        assert_eq!(rows(&set), expected(true, shift)[..18 * DIM], "{name}");
    }
    // The same as that of a plain flat file with these rows.
    let flat_rows = flat(N, DIM, &floats(&expected(true, 0.0)));
    fixture.write("flat", "base", &flat_rows);
    let flat = fixture.yaml(
        "flat",
        &format!(
            "metric: l2\nelement: f32\ndim: {DIM}\nbase: {{ file: base, format: fbin, rows: {N} }}\n\
             queries: {{ file: base, format: fbin, rows: {N} }}\n"
        ),
    );
    let own = fixture.open(&flat).unwrap();
    assert!(
        fingerprints
            .iter()
            .all(|found| found == own.base_fingerprint())
    );
    assert_eq!(fingerprints.len(), 6);
}

#[test]
fn neighbours_are_lists_too() {
    let fixture = Fixture::new();
    fixture.write("made", "wild", &fixture_bytes("snappy"));
    fixture.write("made", "truth", &fixture_bytes("neighbors"));
    for (width, ids) in [(4, ""), (4, ", ids: id")] {
        let set = fixture
            .open(&fixture.yaml(
                "t",
                &format!(
                    "folder: made\nmetric: l2\nelement: f32\ndim: {DIM}\n\
                     base: {{ file: wild, format: parquet, dataset: emb, ids: id, rows: {N} }}\n\
                     queries: {{ file: q, format: fbin, rows: 6 }}\n\
                     truth: {{ file: truth, format: parquet, dataset: neighbors_id, width: {width}{ids} }}\n"
                ),
            ))
            .map_err(|error| error.to_string());
        // Queries first: there are none yet.
        assert!(set.unwrap_err().contains("q is missing"));
    }
    fixture.write(
        "made",
        "q",
        &flat(6, DIM, &floats(&expected(false, 0.0)[..6 * DIM])),
    );
    let set = fixture.open(&fixture.entry("t").unwrap()).unwrap();
    let truth = set.shipped_truth().unwrap();
    for q in 0..6 {
        let mut ids = truth.row(q).0.to_vec();
        ids.sort_unstable();
        let mut own: Vec<u32> = (0..4).map(|k| ((q * 5 + k * 3) % N) as u32).collect();
        own.sort_unstable();
        assert_eq!(ids, own);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let fixture = Fixture::new();
    let refusal = |name: &str, element: &str, more: &str| {
        fixture.write("made", "wild", &fixture_bytes(name));
        fixture.refusal(&entry(&fixture, "bad", element, more))
    };
    assert_words(
        &refusal("null", "f32", ""),
        &["column `emb`, row group 0, page", "row 17", "null"],
    );
    assert_words(
        &refusal("ragged", "f32", ""),
        &["row 17", "with 2 values", "rows of one width"],
    );
    assert_words(
        &refusal("twice", "f32", ", ids: id"),
        &["column `id`", "6 a second time"],
    );
    assert_words(&refusal("lz4", "f32", ""), &["LZ4", "snappy"]);
    assert_words(
        &refusal("plain", "f32", ", ids: number"),
        &["a column `number`", "`id`, `emb`"],
    );
    assert_words(
        &refusal("plain", "u8", ""),
        &["values of type f32", "`element`"],
    );
    fixture.write("made", "wild", b"PAR1 and nothing more");
    assert_words(
        &fixture.refusal(&entry(&fixture, "bad", "f32", "")),
        &["footer", "without its end"],
    );
    fixture.write("made", "wild", b"\x1f\x8b gzip");
    assert_words(
        &fixture.refusal(&entry(&fixture, "bad", "f32", "")),
        &["gzip archive"],
    );
}

/// Each byte changed, and files cut anywhere: rows are read or refused, nothing else.
#[test]
fn damage_never_panics() {
    let fixture = Fixture::new();
    let entry = entry(&fixture, "damaged", "f32", ", ids: id");
    for name in ["snappy", "gzip_v2", "zstd_fixed", "split"] {
        let whole = fixture_bytes(name);
        for at in (0..whole.len()).step_by(11) {
            let mut damaged = whole.clone();
            damaged[at] ^= if at % 2 == 0 { 0xff } else { 0x04 };
            fixture.write("made", "wild", &damaged);
            let _ = fixture.open(&entry);
        }
        for len in (0..whole.len()).step_by(29) {
            fixture.write("made", "wild", &whole[..len]);
            assert!(fixture.open(&entry).is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Footers and pages of anything at all.
    #[test]
    fn arbitrary_footers_never_panic(
        footer in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x15u8), Just(0x19), Just(0x1c), Just(0)], 0..80),
        body in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        thread_local! {
            static MADE: (Fixture, Entry) = {
                let fixture = Fixture::new();
                let entry = entry(&fixture, "wild", "f32", "");
                (fixture, entry)
            };
        }
        let bytes = [b"PAR1", &body[..], &footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat();
        MADE.with(|(fixture, entry)| {
            fixture.write("made", "wild", &bytes);
            let _ = fixture.open(entry);
        });
    }
}
