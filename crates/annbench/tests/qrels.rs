//! Judgements of relevance that an entry names are scored beside recall.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use std::fmt::Write;
use support::{Bench, N, QUERIES, RUN};

/// `tiny` with judgements: of query 0 row 0, of query 1 nothing relevant, of the others nothing.
fn judged() -> Bench {
    let bench = Bench::calibrated();
    let names = |what: &str, n: usize| {
        (0..n).fold(String::new(), |mut text, i| {
            let _ = writeln!(text, "{what}{i}");
            text
        })
    };
    bench.write("datasets/tiny/q.txt", &names("q", QUERIES));
    bench.write("datasets/tiny/docs.txt", &names("d", N));
    bench.write(
        "datasets/tiny/test.tsv",
        "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t0\n",
    );
    let more = "qrels: { file: test.tsv, query_ids: q.txt, base_ids: docs.txt }\n";
    bench.write("datasets/tiny.yaml", &Bench::entry(more));
    bench
}

#[test]
fn judgements_are_scored_under_a_name_of_their_own() {
    let bench = judged();
    bench.answer(&RUN);
    let run = annbench_results::RunRecords::open(&bench.path("run")).unwrap();
    let searches = run.latest_searches();
    let exact = searches.iter().find(|s| s.group == "exact").unwrap();
    let qrels = exact
        .other_metrics
        .as_ref()
        .unwrap()
        .qrels
        .as_ref()
        .unwrap();
    assert_eq!((qrels.queries, qrels.relevant), (1, 1));
    assert_eq!(qrels.queries_without_relevant, 1);
    assert_eq!(qrels.queries_not_judged, QUERIES as u64 - 2);
    let text = bench.answer(&["explain", &exact.point_id, "run"]);
    assert!(text.contains("against qrels         nDCG@5 "), "{text}");
    assert_eq!(
        bench.answer(&["rescore", "run", "--check"]),
        "run: 3 points scored again, 0 changed\n"
    );
}

#[test]
fn a_set_whose_judgements_are_missing_is_searched_without_them() {
    let bench = judged();
    std::fs::remove_file(bench.path("datasets/tiny/test.tsv")).unwrap();
    let output = bench.run(&RUN);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("nothing is scored against judgements of relevance"),
        "{said}"
    );
}

#[test]
fn judgements_of_other_rows_stop_a_run() {
    let bench = judged();
    bench.write(
        "datasets/tiny/test.tsv",
        "query-id\tcorpus-id\tscore\nq0\tsomething\t1\n",
    );
    let complaint = bench.complaint(&RUN, 2);
    assert!(complaint.contains("line 2"), "{complaint}");
}
