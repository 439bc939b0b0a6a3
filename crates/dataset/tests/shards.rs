//! A base in several parquet files.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::Vectors;
use annbench_dataset::{Entry, Shard};
use support::*;

/// Rows of each file.
const N: usize = 40;

fn fixture_bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parquet");
    std::fs::read(format!("{folder}/{name}.parquet")).unwrap()
}

/// The rows of `plain`, with numbers that are `more` than those there: these stand in the file as they
/// are.
fn numbered_from(more: i64) -> Vec<u8> {
    let mut bytes = fixture_bytes("plain");
    let own: Vec<u8> = (0..N as i64)
        .flat_map(|i| ((i * 7 + 3) % 40).to_le_bytes())
        .collect();
    let at = bytes.windows(own.len()).position(|w| w == own).unwrap();
    for (id, place) in (0..N as i64).zip(bytes[at..].chunks_exact_mut(8)) {
        place.copy_from_slice(&((id * 7 + 3) % 40 + more).to_le_bytes());
    }
    bytes
}

fn entry(fixture: &Fixture, files: &str, rows: usize, more: &str) -> Entry {
    let yaml = format!(
        "metric: l2\nelement: f32\ndim: 5\n\
         base: {{ files: [{files}], format: parquet, dataset: emb, rows: {rows}{more} }}\n\
         queries: {{ file: a, format: parquet, dataset: emb, rows: {N} }}\n"
    );
    fixture.yaml("s", &yaml)
}

fn base(fixture: &Fixture, entry: &Entry) -> Vec<f32> {
    match fixture.open(entry).unwrap().base().vectors() {
        Vectors::F32(rows) => rows.data().to_vec(),
        other => panic!("{}", other.element()),
    }
}

/// Row `i` of `plain`.
fn row(i: usize) -> impl Iterator<Item = f32> {
    (0..5).map(move |j| ((i * 7 + j * 3) % 11) as f32 - 2.5)
}

#[test]
fn rows_are_in_the_order_of_the_files_or_of_their_numbers() {
    let fixture = Fixture::new();
    fixture.write("s", "a", &numbered_from(40));
    fixture.write("s", "b", &numbered_from(0));
    let in_files: Vec<f32> = (0..2 * N).flat_map(|i| row(i % N)).collect();
    let unnumbered = entry(&fixture, "a, { file: b, rows: 40 }", 2 * N, "");
    assert_eq!(base(&fixture, &unnumbered), in_files);
    let mut order: Vec<(usize, usize)> = (0..N).map(|i| ((i * 7 + 3) % N, i)).collect();
    order.sort_unstable();
    let by_number: Vec<f32> = order
        .iter()
        .chain(&order)
        .flat_map(|&(_, i)| row(i))
        .collect();
    let numbered = entry(&fixture, "a, b", 2 * N, ", ids: id");
    assert_eq!(base(&fixture, &numbered), by_number);
    let first = entry(&fixture, "a, b", 2 * N, ", ids: id, take_first: 50");
    assert_eq!(base(&fixture, &first), by_number[..50 * 5]);
    // What is written of the entry reads as the entry.
    assert_eq!(
        unnumbered.base.shards[1],
        Shard {
            file: "b".to_owned(),
            rows: Some(40)
        }
    );
    std::fs::write(fixture.root().join("s.yaml"), unnumbered.to_yaml()).unwrap();
    assert_eq!(fixture.entry("s").unwrap(), unnumbered);
}

/// A copy of the set is made anew when any of its files is another.
#[test]
fn a_change_of_the_second_file_is_seen() {
    let fixture = Fixture::new();
    fixture.write("s", "a", &fixture_bytes("plain"));
    fixture.write("s", "b", &fixture_bytes("plain"));
    let entry = entry(&fixture, "a, b", 2 * N, "");
    let before = base(&fixture, &entry);
    let mut other = fixture_bytes("plain");
    let own = floats(&row(0).collect::<Vec<_>>());
    let at = other.windows(20).position(|w| w == own).unwrap();
    other[at..at + 4].copy_from_slice(&77f32.to_le_bytes());
    fixture.write("s", "b", &other);
    let after = base(&fixture, &entry);
    assert_eq!(before[..5 * N], after[..5 * N]);
    assert!(after[5 * N..].contains(&77.0));
}

#[test]
fn a_bad_file_is_named() {
    let fixture = Fixture::new();
    let plain = fixture_bytes("plain");
    fixture.write("s", "a", &plain);
    let refusal = |name: &str, bytes: &[u8], more: &str| {
        fixture.write("s", name, bytes);
        fixture.refusal(&entry(&fixture, &format!("a, {name}"), 2 * N, more))
    };
    assert_words(
        &refusal("twice", &plain, ", ids: id"),
        &[
            "twice: column `id`, row 0",
            "3 a second time, after row 0 of a",
            "0 to 79 once",
        ],
    );
    assert_words(
        &refusal("beyond", &numbered_from(50), ", ids: id"),
        &["beyond: column `id`", "0 to 79 once", "found 8"],
    );
    assert_words(
        &refusal("narrow", &fixture_bytes("neighbors"), ""),
        &["narrow", "a column `emb`", "`neighbors_id`"],
    );
    assert_words(
        &refusal("f64", &fixture_bytes("f64"), ""),
        &[
            "f64: column `emb`",
            "type f32, as in",
            "found values of type f64",
        ],
    );
    assert_words(
        &refusal("nulls", &fixture_bytes("null"), ""),
        &["nulls: column `emb`", "row 17"],
    );
    assert_words(
        &refusal("cut", &plain[..plain.len() - 9], ""),
        &["cut: footer"],
    );
    let fewer = entry(&fixture, "a, { file: twice, rows: 41 }", 2 * N, "");
    assert_words(&fixture.refusal(&fewer), &["twice", "41 rows", "found 40"]);
    let all = entry(&fixture, "a, twice", 81, "");
    assert_words(
        &fixture.refusal(&all),
        &["81 rows", "80 in 2 files", "a with 40"],
    );
    std::fs::remove_file(fixture.place("s", "twice")).unwrap();
    let missing = fixture.refusal(&all);
    assert_words(&missing, &["twice is missing", "no URL is known"]);
    assert!(!missing.contains("datasets fetch"), "{missing}");
    let wide = fixture.yaml(
        "w",
        &format!(
            "folder: s\nmetric: l2\nelement: f32\ndim: 6\n\
             base: {{ file: a, format: parquet, dataset: emb, rows: {N} }}\n\
             queries: {{ file: a, format: parquet, dataset: emb, rows: {N} }}\n"
        ),
    );
    assert_words(&fixture.refusal(&wide), &["rows of 6 values", "rows of 5"]);
}

#[test]
fn what_is_missing_can_be_fetched_where_a_server_has_it() {
    let fixture = Fixture::new();
    let yaml = format!(
        "metric: l2\nelement: f32\ndim: 5\n\
         base: {{ files: [a, b], format: parquet, dataset: emb, rows: {N} }}\n\
         queries: {{ file: /q, format: parquet, dataset: emb, rows: {N} }}\n\
         files:\n  b: {{ url: \"https://c.example/x/b\", mirrors: [\"https://d.example/b\"] }}\n\
         from: [\"https://a.example/s/\", \"https://b.example/s\"]\n"
    );
    let entry = fixture.yaml("s", &yaml);
    let facts = |file: &str| {
        let facts = entry.facts(file);
        (facts.url, facts.mirrors)
    };
    let text = |text: &str| text.to_owned();
    assert_eq!(
        facts("a"),
        (
            Some(text("https://a.example/s/a")),
            vec![text("https://b.example/s/a")]
        )
    );
    assert_eq!(
        facts("b"),
        (
            Some(text("https://c.example/x/b")),
            vec![text("https://d.example/b")]
        )
    );
    assert_eq!(facts("/q"), (None, vec![]));
    assert_words(
        &fixture.refusal(&entry),
        &[
            "https://a.example/s/a",
            "no URL is known",
            "`annbench datasets fetch s`",
        ],
    );
    std::fs::write(fixture.root().join("s.yaml"), entry.to_yaml()).unwrap();
    assert_eq!(fixture.entry("s").unwrap(), entry);
}
