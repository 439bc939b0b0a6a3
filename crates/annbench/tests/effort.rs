//! A run that is told how much it may cost: what is not measured is a record that says why, and the
//! same command without the limit measures it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Outcome, Record, RunRecords, SearchRecord};
use std::collections::BTreeMap;
use support::{Bench, QUICK_CAMPAIGN};

/// The first rows of 400 scanned: recall is about their share, and each step costs several times the
/// last.
const ROWS: &str = "adapter: calibration\n\
    groups:\n  \
      base: { search: { searcher: exact, rows: [4, 40, 200, 300, 400] } }\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("configs/sweep.yaml", ROWS);
    bench.write("configs/campaign.yaml", QUICK_CAMPAIGN);
    bench
}

fn run(bench: &Bench, more: &[&str]) -> String {
    let run = [
        "run",
        "configs/campaign.yaml",
        "--out",
        "run",
        "--skip-selftest",
    ];
    bench.answer(&[&run[..], more].concat())
}

/// The latest records by the number of rows.
fn by_rows(bench: &Bench) -> BTreeMap<i64, SearchRecord> {
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let searches = run.latest_searches().into_iter();
    searches
        .map(|search| {
            let rows = match search.identity.search_params.get("rows") {
                Some(annbench_core::ParamValue::Int(rows)) => *rows,
                other => panic!("{other:?}"),
            };
            (rows, search.clone())
        })
        .collect()
}

fn because(search: &SearchRecord) -> &str {
    match &search.outcome {
        Outcome::Skipped { because, .. } => because,
        other => panic!("expected a skipped point, found {other:?}"),
    }
}

#[test]
fn points_beyond_the_recall_are_skipped_say_so_and_can_be_had_later() {
    let bench = bench();
    let table = run(&bench, &["--stop-at-recall", "0.3"]);
    assert!(table.contains("3/0/0/2"), "{table}");
    let records = by_rows(&bench);
    for rows in [4, 40, 200] {
        assert_eq!(records[&rows].outcome, Outcome::Ok);
    }
    for rows in [300, 400] {
        let why = because(&records[&rows]);
        assert!(why.contains("was reached at rows=200"), "{why}");
        assert!(why.contains("at rows=40"), "{why}");
        assert!(why.contains("--stop-at-recall"), "{why}");
    }
    // A plan of the same knows it already.
    let plan = |more: &[&str]| {
        let plan = ["plan", "configs/campaign.yaml", "--out", "run"];
        bench.answer(&[&plan[..], more].concat())
    };
    let planned = plan(&["--stop-at-recall", "0.3"]);
    assert!(
        planned.contains("0 to search, 0 refused, 3 finished, 2 beyond --stop-at-recall"),
        "{planned}"
    );
    assert!(plan(&[]).contains("2 to search"), "{planned}");
    // The same command adds nothing, another measures them.
    let lines = std::fs::read_to_string(bench.path("run/records.jsonl")).unwrap();
    run(&bench, &["--stop-at-recall", "0.3"]);
    let again = std::fs::read_to_string(bench.path("run/records.jsonl")).unwrap();
    assert_eq!(again.lines().count(), lines.lines().count() + 1, "one run");
    run(&bench, &[]);
    assert!(by_rows(&bench).values().all(|s| s.outcome == Outcome::Ok));
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let asked: Vec<Option<f64>> = run
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Run(run) => Some(run.stop_at_recall),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [Some(0.3), Some(0.3), None]);
}

#[test]
fn what_a_budget_does_not_reach_is_recorded_and_measured_by_the_same_command_later() {
    let bench = bench();
    let table = run(&bench, &["--budget", "1ns"]);
    assert!(table.contains("0/0/0/5"), "{table}");
    let records = by_rows(&bench);
    assert_eq!(records.len(), 5);
    for search in records.values() {
        assert_eq!(
            because(search),
            "the budget of 1ns was spent before its turn"
        );
    }
    run(&bench, &["--budget", "1h"]);
    assert!(by_rows(&bench).values().all(|s| s.outcome == Outcome::Ok));
    // First, middle and last before the rest.
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let order: Vec<String> = run
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Search(search) if search.outcome == Outcome::Ok => {
                Some(search.identity.search_params.get("rows")?.to_string())
            }
            _ => None,
        })
        .collect();
    assert_eq!(order, ["4", "200", "400", "40", "300"]);
}

#[test]
fn a_dry_run_tells_what_a_budget_reaches_and_measures_nothing() {
    let bench = bench();
    let dry = |more: &[&str]| run(&bench, &[&["--dry-run"], more].concat());
    let unknown = dry(&["--budget", "1h"]);
    assert!(unknown.contains("1 build, 5 searches"), "{unknown}");
    assert!(
        unknown.contains("how long 1 of the builds take, or their searches, is unknown"),
        "{unknown}"
    );
    assert!(
        unknown.contains("a budget of 1h reaches an unknown part"),
        "{unknown}"
    );
    assert!(!bench.path("run").exists(), "nothing is written");
    run(&bench, &[]);
    // Another folder, so that nothing in it is finished; what was measured beside it tells the time.
    let plan = [
        "run",
        "configs/campaign.yaml",
        "--out",
        "other",
        "--dry-run",
    ];
    let known = bench.answer(&[&plan[..], &["--budget", "1h"]].concat());
    assert!(
        known.contains("5 searches of 2 repetitions, about"),
        "{known}"
    );
    assert!(
        known.contains("a budget of 1h reaches about 5 of the searches, self-test"),
        "{known}"
    );
    let short = bench.answer(&[&plan[..], &["--budget", "1ns"]].concat());
    assert!(
        short.contains("a budget of 1ns reaches about 0 of the searches"),
        "{short}"
    );
}

#[test]
fn limits_that_mean_nothing_are_refused() {
    let bench = bench();
    for (flag, value, expected) in [
        ("--budget", "30", "expected a number and a unit"),
        ("--budget", "0s", "expected more than no time at all"),
        (
            "--stop-at-recall",
            "99",
            "expected a recall above 0 and at most 1",
        ),
        (
            "--stop-at-recall",
            "0",
            "expected a recall above 0 and at most 1",
        ),
        (
            "--stop-at-recall",
            "NaN",
            "expected a recall above 0 and at most 1",
        ),
        (
            "--stop-at-recall",
            "high",
            "expected a recall above 0 and at most 1",
        ),
    ] {
        let complaint = bench.complaint(&["run", "configs/campaign.yaml", flag, value], 2);
        assert!(complaint.contains(expected), "{flag} {value}: {complaint}");
    }
}
