//! Range truth, sparse rows and judgements: right values, and every defect with its place.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{IdList, Judged, Qrels, RangeTruth, SparseRows};
use proptest::prelude::*;
use support::*;

fn range(counts: &[u32], ids: &[u32], distances: &[f32]) -> Vec<u8> {
    let head = [counts.len() as u32, ids.len() as u32];
    [words(&head), words(counts), words(ids), floats(distances)].concat()
}

fn sparse(dim: i64, starts: &[i64], columns: &[u32], values: &[f32]) -> Vec<u8> {
    let head = [starts.len() as i64 - 1, dim, columns.len() as i64];
    let longs = head.iter().chain(starts).flat_map(|v| v.to_le_bytes());
    longs.chain(words(columns)).chain(floats(values)).collect()
}

#[test]
fn range_truth_has_as_many_results_as_each_query_has() {
    let fixture = Fixture::new();
    let path = fixture.write(
        "r",
        "t.rangeres",
        &range(&[2, 0, 1], &[4, 1, 9], &[0.5, 2.0, 7.0]),
    );
    let truth = RangeTruth::read(&path, 10).unwrap();
    assert_eq!(truth.queries(), 3);
    assert_eq!(truth.row(0), (&[4u32, 1][..], &[0.5f32, 2.0][..]));
    assert_eq!(truth.row(1), (&[][..], &[][..]));
    assert_eq!(truth.row(2), (&[9][..], &[7.0][..]));
    let refusal = |bytes: &[u8]| {
        let path = fixture.write("r", "bad", bytes);
        RangeTruth::read(&path, 10).unwrap_err().to_string()
    };
    let negative = u32::MAX;
    for (bytes, place) in [
        (vec![1, 2, 3], "header"),
        (range(&[2, 1], &[1, 2, 3], &[0.0; 2]), "48 bytes"),
        (
            range(&[2, 2], &[1, 2, 3], &[0.0; 3]),
            "query 1: expected up to 1",
        ),
        (
            range(&[negative, 4], &[1, 2, 3], &[0.0; 3]),
            "query 0: expected up to 3 results",
        ),
        (range(&[2, 0], &[1, 2, 3], &[0.0; 3]), "2, the sum"),
        (
            range(&[2, 1], &[1, 10, 3], &[0.0; 3]),
            "query 0, result 1: expected an id below 10",
        ),
        (range(&[2, 1], &[1, negative, 3], &[0.0; 3]), "found -1"),
        (range(&[2, 1], &[1, 1, 3], &[0.0; 3]), "id 1 more than once"),
        (
            range(&[2, 1], &[1, 2, 3], &[0.0, f32::NAN, 0.0]),
            "query 0, result 1: expected a finite",
        ),
        (words(&[0, 0]), "0 queries"),
    ] {
        let text = refusal(&bytes);
        // A size is said in bytes: 8 for the header, 4 per query, 8 per result.
        let place = place.replace("48 bytes", "40 bytes");
        assert_words(&text, &[&place]);
    }
}

#[test]
fn sparse_rows_are_those_of_the_file() {
    let fixture = Fixture::new();
    let path = fixture.write(
        "s",
        "x.spmat",
        &sparse(7, &[0, 2, 2, 3], &[6, 0, 3], &[1.0, -2.0, 0.5]),
    );
    let rows = SparseRows::read(&path).unwrap();
    assert_eq!((rows.n(), rows.dim()), (3, 7));
    assert_eq!(rows.row(0), (&[6u32, 0][..], &[1.0f32, -2.0][..]));
    assert_eq!(rows.row(1), (&[][..], &[][..]));
    assert_eq!(rows.row(2), (&[3][..], &[0.5][..]));
    let values = [1.0, 2.0, 3.0];
    let huge = [i64::MAX, i64::MAX, i64::MAX]
        .map(i64::to_le_bytes)
        .concat();
    for (bytes, place) in [
        (vec![0; 23], "header"),
        (huge, "size"),
        (sparse(-1, &[0, 3], &[0, 1, 2], &values), "header"),
        (sparse(7, &[0, 3], &[0, 1, 2], &values[..2]), "60 bytes"),
        (
            sparse(7, &[1, 3], &[0, 1, 2], &values),
            "row 0: expected a start from 0 to 0, found 1",
        ),
        (
            sparse(7, &[0, 2, 1, 3], &[0, 1, 2], &values),
            "row 2: expected a start from 2 to 3, found 1",
        ),
        (
            sparse(7, &[0, 2], &[0, 1, 2], &values),
            "end of the last row",
        ),
        (
            sparse(7, &[0, 3], &[0, 7, 2], &values),
            "row 0, value 1: expected a column below 7, found 7",
        ),
        (
            sparse(7, &[0, 3], &[0, 2, 2], &values),
            "column 2 more than once",
        ),
        (
            sparse(7, &[0, 3], &[0, 1, 2], &[1.0, f32::INFINITY, 0.0]),
            "a finite number",
        ),
    ] {
        let place = place.replace("60 bytes", "64 bytes");
        let path = fixture.write("s", "bad", &bytes);
        assert_words(&SparseRows::read(&path).unwrap_err().to_string(), &[&place]);
    }
}

#[test]
fn judgements_are_about_the_rows_of_the_set() {
    let fixture = Fixture::new();
    let text = |name: &str, text: &str| fixture.write("q", name, text.as_bytes());
    let queries = IdList::read(&text("queries", "q1\nq2\n"), 2).unwrap();
    let base = IdList::read(&text("base", "doc-7\r\nMED-10\nx"), 3).unwrap();
    assert_eq!((base.row("MED-10"), base.row("MED")), (Some(1), None));
    let head = "query-id\tcorpus-id\tscore\n";
    let read = |lines: &str| Qrels::read(&text("qrels.tsv", &format!("{head}{lines}")));
    let judged = read("q2\tdoc-7\t1\nq1\tx\t2\nq1\tMED-10\t0\n")
        .unwrap()
        .resolve(&queries, &base)
        .unwrap();
    let one = |query, id, score| Judged { query, id, score };
    assert_eq!(judged, [one(0, 1, 0), one(0, 2, 2), one(1, 0, 1)]);
    let refusal = |lines: &str| {
        let read = read(lines).and_then(|qrels| qrels.resolve(&queries, &base));
        read.unwrap_err().to_string()
    };
    assert_words(
        &refusal("q1\tx\t1\nq3\tx\t1\n"),
        &["line 3", "queries", "`q3`"],
    );
    assert_words(&refusal("q1\ty\t1\n"), &["line 2", "`y`"]);
    assert_words(
        &refusal("q1\tx\t1\nq1\tx\t0\n"),
        &["line 3", "after line 2"],
    );
    assert_words(
        &refusal("q1 0 x 1\n"),
        &["line 2", "three fields", "1 fields"],
    );
    assert_words(&refusal("q1\tx\t0.5\n"), &["line 2", "whole number"]);
    let other = Qrels::read(&text("qrels.tsv", "q1\tx\t1\n")).unwrap_err();
    assert_words(&other.to_string(), &["line 1", "query-id"]);
    for (names, n, place) in [
        ("a\na\n", 2, "row 0 already"),
        ("a\n", 2, "one for every row"),
        ("a\n\nb", 3, "line 2"),
    ] {
        let error = IdList::read(&text("names", names), n).unwrap_err();
        assert_words(&error.to_string(), &[place]);
    }
    let path = fixture.write("q", "names", &[b'a', 0xff]);
    assert_words(
        &IdList::read(&path, 1).unwrap_err().to_string(),
        &["byte 1", "UTF-8"],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..120),
        prop::collection::vec(prop_oneof![Just(0u32), Just(1), Just(2), any::<u32>()], 0..24).prop_map(|v| words(&v)),
        "(query-id\tcorpus-id\tscore\n)?[ab\t\n1-]{0,40}".prop_map(String::into_bytes),
    ]) {
        thread_local! { static FIXTURE: Fixture = Fixture::new(); }
        FIXTURE.with(|fixture| {
            let path = fixture.write("any", "wild", &bytes);
            let _ = RangeTruth::read(&path, 3);
            let _ = SparseRows::read(&path);
            let list = IdList::read(&path, 2);
            if let (Ok(list), Ok(qrels)) = (&list, Qrels::read(&path)) {
                let _ = qrels.resolve(list, list);
            }
        });
    }
}
