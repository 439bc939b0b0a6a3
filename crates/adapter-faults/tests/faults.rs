//! Every fault becomes a record with its cause, and nothing else is lost.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_core::wire::Stage;
use annbench_results::{Outcome, Record};
use std::sync::atomic::AtomicBool;
use support::{K, Lab, QUERIES, fault, fault_of, installed, short_limits, verdict};

/// What a fault must become.
const SEARCH_FAULTS: [(&str, &str); 18] = [
    ("abort", "failed: SIGABRT"),
    ("segfault", "failed: SIGSEGV"),
    ("panic", "failed: panic"),
    ("exit_zero", "failed: exit 0"),
    ("hang", "failed: timeout"),
    ("eat_memory", "failed: out of memory"),
    ("library_error", "failed: library error"),
    ("garbage_frame", "failed: protocol"),
    ("half_frame", "failed: protocol"),
    ("stdout_megabyte", "ok"),
    ("duplicate_ids", "ok"),
    ("ids_out_of_range", "failed: invalid answer"),
    ("negative_ids", "failed: invalid answer"),
    ("too_few", "ok"),
    ("too_many", "ok"),
    ("grandchild", "ok"),
    ("stale_reply", "failed: protocol"),
    ("orphan_eats_memory", "failed: out of memory"),
];

/// Processes with a mark of this test process, by name.
fn left_behind() -> Vec<String> {
    let mark = format!("ANNBENCH_WORKER_MARK={}-", std::process::id());
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|process| {
            std::fs::read(process.path().join("environ"))
                .is_ok_and(|e| String::from_utf8_lossy(&e).contains(&mark))
        })
        .map(|process| std::fs::read_to_string(process.path().join("comm")).unwrap_or_default())
        .filter(|name| name.trim() == "sleep")
        .collect()
}

#[test]
fn every_search_fault_becomes_a_record_and_the_other_points_survive() {
    let mut lab = Lab::new();
    let (mut patient, mut hanging) = (Vec::new(), Vec::new());
    for (number, (name, _)) in SEARCH_FAULTS.iter().enumerate() {
        let points = if *name == "hang" {
            &mut hanging
        } else {
            &mut patient
        };
        points.push(fault(name, 0));
        points.push(fault("none", number as i64));
    }
    lab.run(fault("none", 0), patient);
    lab.limits = short_limits();
    lab.run(fault("none", 0), hanging);

    let records = lab.searches();
    assert_eq!(records.len(), 2 * SEARCH_FAULTS.len());
    let mut found = Vec::new();
    for record in &records {
        let name = fault_of(record);
        if name == "none" {
            assert_eq!(record.outcome, Outcome::Ok);
            assert_eq!(record.quality.as_ref().unwrap().recall_mean, 1.0);
        } else {
            found.push((name, verdict(&record.outcome)));
        }
    }
    let mut expected: Vec<(String, String)> = SEARCH_FAULTS
        .iter()
        .map(|&(name, verdict)| (name.to_owned(), verdict.to_owned()))
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);

    let quality = |name: &str| {
        let record = records.iter().find(|r| fault_of(r) == name).unwrap();
        record.quality.clone().unwrap()
    };
    let slots = (K * QUERIES) as u64;
    let duplicates = quality("duplicate_ids");
    assert_eq!(duplicates.duplicates, slots - QUERIES as u64);
    assert_eq!(duplicates.hits, QUERIES as u64);
    assert_eq!(quality("ids_out_of_range").invalid, slots);
    assert_eq!(quality("negative_ids").invalid, slots);
    assert_eq!(quality("too_few").short, slots - QUERIES as u64);
    assert_eq!(quality("too_many").over_returned, 3 * QUERIES as u64);
    assert_eq!(quality("too_many").recall_mean, 1.0);

    // The worker's last words are kept, and a megabyte of prints became 4 KiB at most.
    let failure = |name: &str| match &records
        .iter()
        .find(|r| fault_of(r) == name)
        .unwrap()
        .outcome
    {
        Outcome::Failed(failure) => failure.clone(),
        other => panic!("{name}: {other:?}"),
    };
    assert!(
        failure("panic")
            .message
            .contains("this panic was asked for")
    );
    assert!(
        failure("panic")
            .stderr_tail
            .contains("this panic was asked for")
    );
    assert!(
        failure("library_error")
            .message
            .contains("this error was asked for")
    );
    assert!(records.iter().all(|r| match &r.outcome {
        Outcome::Failed(f) => f.stage == Stage::Search && f.stderr_tail.len() <= 3 * 4096,
        _ => true,
    }));
    assert_eq!(left_behind(), Vec::<String>::new());
    // Another test's may be on its way out just now.
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while zombies("sleep") > 0 && std::time::Instant::now() < patience {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(zombies("sleep"), 0);
}

/// Children of this process that are called `name` and have ended without being collected.
fn zombies(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|children| {
            let children = children.split_whitespace().map(str::to_owned);
            children.collect::<Vec<_>>()
        })
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.contains(&format!("({name}) Z"))
        })
        .count()
}

#[test]
fn every_build_fault_becomes_a_record_and_its_points_say_why_they_were_skipped() {
    let mut lab = Lab::new();
    let patient = lab.limits.clone();
    for (name, expected) in [
        ("abort", "failed: SIGABRT"),
        ("segfault", "failed: SIGSEGV"),
        ("panic", "failed: panic"),
        ("exit_zero", "failed: exit 0"),
        ("hang", "failed: timeout"),
        ("eat_memory", "failed: out of memory"),
        ("library_error", "failed: library error"),
        ("half_frame", "failed: protocol"),
    ] {
        lab.limits = if name == "hang" {
            short_limits()
        } else {
            patient.clone()
        };
        lab.run(fault(name, 0), vec![fault("none", 0), fault("none", 1)]);
        let build = lab.builds().pop().unwrap();
        let outcome = &build.outcome;
        assert_eq!(verdict(outcome), expected, "{name}: {outcome:?}");
        let skipped: Vec<_> = lab
            .searches()
            .into_iter()
            .filter(|r| r.identity.build.build_params == fault(name, 0))
            .collect();
        assert_eq!(skipped.len(), 2, "{name}");
        for record in skipped {
            match &record.outcome {
                Outcome::Skipped { because, .. } => assert!(because.contains("build"), "{because}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_the_library_refuses_at_the_build_is_refused_for_all_its_points() {
    let mut lab = Lab::new();
    lab.run(
        fault("refusal", 0),
        vec![fault("none", 0), fault("none", 1)],
    );
    let rejected = Outcome::Rejected {
        reason: "not these vectors".to_owned(),
    };
    assert_eq!(lab.builds().pop().unwrap().outcome, rejected);
    let searches = lab.searches();
    assert_eq!(searches.len(), 2);
    assert!(searches.iter().all(|search| search.outcome == rejected));
}

#[test]
fn refused_points_are_records_without_a_build() {
    let mut lab = Lab::new();
    let points = vec![fault("no_such_fault", 0), fault("none", 0)];
    let mut job = lab.plan(fault("none", 0), points);
    job.points[1].refused = Some("the sweep says no".to_owned());
    lab.try_run(&job, &installed(), &AtomicBool::new(false), &mut |_| {})
        .unwrap();
    let all = lab.records();
    assert!(all.iter().all(|r| matches!(r, Record::Search(_))));
    let reasons: Vec<String> = lab
        .searches()
        .into_iter()
        .map(|record| match record.outcome {
            Outcome::Rejected { reason } => reason,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(reasons.len(), 2);
    assert!(
        reasons.iter().any(|r| r == "the sweep says no"),
        "{reasons:?}"
    );
    assert!(
        reasons.iter().any(|r| r.contains("no_such_fault")),
        "{reasons:?}"
    );
}

#[test]
fn a_reported_allocation_failure_is_out_of_memory() {
    let mut lab = Lab::new();
    let points = vec![fault("allocation_error", 0), fault("none", 0)];
    lab.run(fault("none", 0), points);
    assert_eq!(lab.verdicts(), ["failed: out of memory", "ok"]);
}
