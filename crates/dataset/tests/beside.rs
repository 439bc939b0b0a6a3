//! Judgements, range truth and metadata that an entry declares: what an opened dataset gives of them.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{
    AuditDepth, Catalogue, DatasetError, Entry, FileState, Judged, Rule, audit,
};
use support::*;

const VECTORS: &str = "metric: l2\nelement: f32\ndim: 2\n\
    base: { file: base.fbin, format: fbin, rows: 3 }\n\
    queries: { file: q.fbin, format: fbin, rows: 2 }\n";

fn fbin(rows: u32, values: &[f32]) -> Vec<u8> {
    [words(&[rows, 2]), floats(values)].concat()
}

/// An entry with `more`, and its vectors.
fn entry(fixture: &Fixture, more: &str) -> Entry {
    fixture.write("s", "base.fbin", &fbin(3, &[0., 0., 1., 0., 0., 3.]));
    fixture.write("s", "q.fbin", &fbin(2, &[0.25, 0., 0., 2.]));
    fixture.yaml("s", &format!("{VECTORS}{more}"))
}

const QRELS: &str = "qrels: { file: test.tsv, query_ids: q.txt, base_ids: docs.txt }\n";

fn write_qrels(fixture: &Fixture, lines: &str) {
    fixture.write("s", "q.txt", b"q-one\nq-two\n");
    fixture.write("s", "docs.txt", b"d7\nd8\nd9\n");
    let text = format!("query-id\tcorpus-id\tscore\n{lines}");
    fixture.write("s", "test.tsv", text.as_bytes());
}

#[test]
fn judgements_are_of_the_rows_of_the_set() {
    let fixture = Fixture::new();
    let entry = entry(&fixture, QRELS);
    write_qrels(&fixture, "q-two\td9\t2\nq-one\td8\t1\nq-two\td7\t0\n");
    let judged = fixture.open(&entry).unwrap().judgements().unwrap().unwrap();
    let one = |query, id, score| Judged { query, id, score };
    assert_eq!(judged, [one(0, 1, 1), one(1, 0, 0), one(1, 2, 2)]);
}

#[test]
fn a_set_without_them_has_none() {
    let fixture = Fixture::new();
    let entry = entry(&fixture, "");
    let dataset = fixture.open(&entry).unwrap();
    assert!(dataset.judgements().unwrap().is_none());
    assert!(dataset.range_truth().unwrap().is_none());
    assert!(dataset.metadata().unwrap().is_none());
}

#[test]
fn a_set_can_be_opened_without_them_and_says_which_are_missing() {
    let fixture = Fixture::new();
    let entry = entry(&fixture, QRELS);
    fixture.write("s", "q.txt", b"a\nb\n");
    let missing = |status: &annbench_dataset::FileStatus| status.state == FileState::Missing;
    let statuses = entry.file_statuses();
    let roles: Vec<_> = statuses
        .iter()
        .filter(|s| missing(s))
        .map(|s| &s.roles[..])
        .collect();
    assert_eq!(roles, [["qrels"], ["names of base rows"]]);
    let dataset = fixture.open(&entry).unwrap();
    let Err(DatasetError::Missing { files, .. }) = dataset.judgements() else {
        panic!("two files are missing");
    };
    let files: Vec<&str> = files.iter().map(|file| &*file.file).collect();
    assert_eq!(files, ["test.tsv", "docs.txt"]);
}

#[test]
fn names_of_another_set_are_refused() {
    let fixture = Fixture::new();
    let entry = entry(&fixture, QRELS);
    write_qrels(&fixture, "q-two\tdX\t2\n");
    let dataset = fixture.open(&entry).unwrap();
    let refusal = || {
        fixture
            .open(&entry)
            .unwrap()
            .judgements()
            .unwrap_err()
            .to_string()
    };
    assert_words(&refusal(), &["test.tsv", "line 2", "docs.txt", "`dX`"]);
    fixture.write("s", "docs.txt", b"d7\nd8\nd9\nd10\n");
    assert_words(&refusal(), &["docs.txt", "3, one for every row", "4"]);
    // What was opened is what is read.
    assert_words(
        &dataset.judgements().unwrap_err().to_string(),
        &["docs.txt"],
    );
}

/// Size and checksum stand in the entry as those of every other file.
#[test]
fn their_sizes_and_checksums_are_compared_when_the_set_is_opened() {
    let fixture = Fixture::new();
    let sum = "0".repeat(64);
    let files =
        format!("files:\n  test.tsv: {{ sha256: \"{sum}\" }}\n  docs.txt: {{ bytes: 9 }}\n");
    let entry = entry(&fixture, &format!("{QRELS}{files}"));
    write_qrels(&fixture, "");
    assert_words(&fixture.refusal(&entry), &["test.tsv", "SHA-256", &sum]);
    fixture.write("s", "docs.txt", b"d7\nd8\n");
    std::fs::remove_file(fixture.place("s", "test.tsv")).unwrap();
    assert_words(&fixture.refusal(&entry), &["docs.txt", "9 bytes", "6"]);
}

fn rangeres(counts: &[u32], ids: &[u32]) -> Vec<u8> {
    let head = [counts.len() as u32, ids.len() as u32];
    [
        words(&head),
        words(counts),
        words(ids),
        floats(&vec![1.0; ids.len()]),
    ]
    .concat()
}

#[test]
fn range_truth_is_of_the_queries_and_rows_of_the_set() {
    let fixture = Fixture::new();
    let entry = entry(&fixture, "range_truth: { file: gt.rangeres }\n");
    let read = |counts: &[u32], ids: &[u32]| {
        fixture.write("s", "gt.rangeres", &rangeres(counts, ids));
        fixture.open(&entry).unwrap().range_truth()
    };
    let truth = read(&[2, 0], &[2, 0]).unwrap().unwrap();
    assert_eq!((truth.row(0).0, truth.row(1).0), (&[2, 0][..], &[][..]));
    let more = read(&[1, 0, 0], &[2]).unwrap_err().to_string();
    assert_words(
        &more,
        &["gt.rangeres", "queries", "2, those of the set", "found 3"],
    );
    let other = read(&[1, 0], &[3]).unwrap_err().to_string();
    assert_words(&other, &["query 0, result 0", "below 3", "found 3"]);
}

fn spmat(rows: usize, columns: i64) -> Vec<u8> {
    let head = [rows as i64, columns, 0];
    let starts = vec![0i64; rows + 1];
    head.iter()
        .chain(&starts)
        .flat_map(|v| v.to_le_bytes())
        .collect()
}

#[test]
fn metadata_has_the_rows_and_columns_that_the_entry_says() {
    let fixture = Fixture::new();
    let metadata = "metadata: { base: b.spmat, queries: q.spmat, columns: 7 }\n";
    let entry = entry(&fixture, metadata);
    let read = |base: &[u8], queries: &[u8]| {
        fixture.write("s", "b.spmat", base);
        fixture.write("s", "q.spmat", queries);
        fixture.open(&entry).unwrap().metadata()
    };
    let known = read(&spmat(3, 7), &spmat(2, 7)).unwrap().unwrap();
    assert_eq!(
        (known.base.n(), known.queries.n(), known.queries.dim()),
        (3, 2, 7)
    );
    let rows = read(&spmat(2, 7), &spmat(2, 7)).unwrap_err().to_string();
    assert_words(&rows, &["b.spmat", "3 rows of 7", "found 2 of 7"]);
    let columns = read(&spmat(3, 7), &spmat(2, 8)).unwrap_err().to_string();
    assert_words(&columns, &["q.spmat", "2 rows of 7", "found 2 of 8"]);
}

#[test]
fn an_audit_judges_what_is_beside_a_set() {
    let fixture = Fixture::new();
    let verdict = |more: &str| {
        let entry = entry(&fixture, more);
        let audit = audit(&entry, AuditDepth::Full, &fixture.options()).unwrap();
        audit.finding(Rule::Beside).cloned()
    };
    assert_eq!(verdict(""), None);
    let missing = verdict(QRELS).unwrap();
    assert_eq!(missing.verdict.word(), "cannot tell");
    assert_words(missing.verdict.says(), &["test.tsv", "q.txt", "docs.txt"]);
    write_qrels(&fixture, "q-two\td9\t2\n");
    assert_eq!(verdict(QRELS).unwrap().verdict.word(), "holds");
    write_qrels(&fixture, "q-two\tdX\t2\n");
    let wrong = verdict(QRELS).unwrap();
    assert!(wrong.is_violated());
    assert_words(wrong.verdict.says(), &["line 2", "`dX`"]);
}

/// What is written of an entry reads as that entry.
#[test]
fn the_entry_is_written_with_them() {
    let fixture = Fixture::new();
    let more = format!(
        "{QRELS}range_truth: {{ file: gt.rangeres }}\n\
         metadata: {{ base: b.spmat, queries: q.spmat, columns: 7 }}\n"
    );
    let read = entry(&fixture, &more);
    let path = fixture.root().join("s.yaml");
    std::fs::write(&path, read.to_yaml()).unwrap();
    assert_eq!(Catalogue::new(fixture.root()).entry("s").unwrap(), read);
}
