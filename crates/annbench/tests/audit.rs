//! Datasets are judged, and what is wrong with them stops a run unless it is accepted by name.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Record, RunRecords};
use support::{Bench, DIM, RUN};

/// Makes the first row of the base the first query.
fn take_the_first_query_from_the_base(bench: &Bench) {
    let base = std::fs::read(bench.path("datasets/tiny/base.u8bin")).unwrap();
    let path = bench.path("datasets/tiny/query.u8bin");
    let mut queries = std::fs::read(&path).unwrap();
    queries[8..8 + DIM].copy_from_slice(&base[8..8 + DIM]);
    std::fs::write(&path, queries).unwrap();
}

#[test]
fn an_audit_tells_rules_and_ends_with_one_where_one_is_violated() {
    let bench = Bench::new();
    take_the_first_query_from_the_base(&bench);
    let output = bench.run(&["datasets", "audit", "tiny"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "queries_held_out       VIOLATED     1 of 50 queries (2.0 %) are rows of the base: query 0 is \
         row 0",
        "truth_exact            cannot tell",
        "finite                 holds",
        "no recall means what it seems to while these are: queries_held_out",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let output = bench.run(&["datasets", "audit", "tiny", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let audit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(audit["dataset"], "tiny");
    let findings = audit["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 17);
    let held_out = findings
        .iter()
        .find(|finding| finding["rule"] == "queries_held_out")
        .unwrap();
    assert_eq!(held_out["verdict"], "violated");
    assert_eq!(held_out["measured"]["queries"], 1);
    assert!(held_out["evidence"].is_string() && held_out["next"].is_string());
    // What cannot be opened cannot be judged.
    std::fs::remove_file(bench.path("datasets/tiny/base.u8bin")).unwrap();
    bench.complaint(&["datasets", "audit", "tiny"], 2);
}

#[test]
fn a_violated_rule_stops_a_run_and_an_acceptance_is_on_every_result_and_plot() {
    let bench = Bench::calibrated();
    take_the_first_query_from_the_base(&bench);
    let complaint = bench.complaint(&RUN, 2);
    for words in [
        "queries_held_out is violated: 1 of 50 queries",
        "--accept-violation tiny:queries_held_out",
    ] {
        assert!(complaint.contains(words), "{complaint}");
    }
    assert!(!bench.path("run/records.jsonl").exists(), "measured first");
    for (given, words) in [
        ("tiny:held_out", "queries_held_out"),
        ("tinny:queries_held_out", "did you mean `tiny`"),
        (
            "tiny:metric_matches",
            "--accept-violation tiny:queries_held_out",
        ),
    ] {
        let complaint = bench.complaint(&[&RUN[..], &["--accept-violation", given]].concat(), 2);
        assert!(complaint.contains(words), "{complaint}");
    }
    let accepting = ["--accept-violation", "tiny:queries_held_out"];
    let table = bench.answer(&[&RUN[..], &accepting].concat());
    let said = "queries_held_out is violated: 1 of 50 queries";
    assert!(table.contains(said), "{table}");
    let run = RunRecords::open(&bench.path("run")).unwrap();
    for search in run.latest_searches() {
        assert_eq!(search.accepted_violations.len(), 1);
        assert!(search.accepted_violations[0].contains(said));
    }
    let invocation = run.records.iter().find_map(|record| match record {
        Record::Run(run) => Some(run),
        _ => None,
    });
    let invocation = invocation.unwrap();
    assert_eq!(invocation.accepted_violations, ["tiny:queries_held_out"]);
    let command = &invocation.command;
    assert!(command.contains(&accepting.join(" ")), "{command}");
    let report = std::fs::read_dir(bench.path("run/report")).unwrap();
    let mut plots = 0;
    for item in report {
        let path = item.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&text);
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => {
                plots += 1;
                assert!(text.contains("queries_held_out"), "{}", path.display());
            }
            Some("csv") => assert!(text.contains(said), "{}", path.display()),
            _ => {}
        }
    }
    assert_eq!(plots, 5);
    let point = &run.latest_searches()[0].point_id;
    let explained = bench.answer(&["explain", point, "run"]);
    assert!(explained.contains(said), "{explained}");
}
