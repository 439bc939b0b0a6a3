//! Every fault becomes a record with its cause, and nothing else is lost.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_core::wire::Stage;
use annbench_results::{Cause, Outcome, Record, SearchRecord, Store, latest_searches};
use annbench_runner::{RequestError, RunError, Worker, WorkerSettings, thread_variables};
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Made, fault, installed, limits, measure, plan, run, short_limits};

/// What a fault must become: the words of its outcome and cause.
fn verdict(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(failure) => match &failure.cause {
            Cause::Signal { name, .. } => format!("failed: {name}"),
            Cause::Exit { code } => format!("failed: exit {code}"),
            cause => format!("failed: {}", cause.word()),
        },
        other => other.word().to_owned(),
    }
}

const SEARCH_FAULTS: [(&str, &str); 16] = [
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
];

fn searches(store: &Store) -> Vec<SearchRecord> {
    latest_searches(store.records())
        .into_iter()
        .cloned()
        .collect()
}

fn fault_of(record: &SearchRecord) -> String {
    record
        .identity
        .search_params
        .get("fault")
        .unwrap()
        .to_string()
}

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
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
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
    for (points, limits) in [(patient, limits()), (hanging, short_limits())] {
        let job = plan(&subject, &measure, fault("none", 0), points);
        let interrupted = AtomicBool::new(false);
        run(&mut store, &job, &subject, &measure, &limits, &interrupted).unwrap();
    }

    let records = searches(&store);
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
    let slots = (support::K * support::QUERIES) as u64;
    let duplicates = quality("duplicate_ids");
    assert_eq!(duplicates.duplicates, slots - support::QUERIES as u64);
    assert_eq!(duplicates.hits, support::QUERIES as u64);
    assert_eq!(quality("ids_out_of_range").invalid, slots);
    assert_eq!(quality("negative_ids").invalid, slots);
    assert_eq!(quality("too_few").short, slots - support::QUERIES as u64);
    assert_eq!(
        quality("too_many").over_returned,
        3 * support::QUERIES as u64
    );
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

#[test]
fn every_build_fault_becomes_a_record_and_its_points_say_why_they_were_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
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
        let points = vec![fault("none", 0), fault("none", 1)];
        let job = plan(&subject, &measure, fault(name, 0), points);
        let limits = if name == "hang" {
            short_limits()
        } else {
            limits()
        };
        let interrupted = AtomicBool::new(false);
        run(&mut store, &job, &subject, &measure, &limits, &interrupted).unwrap();
        let Some(Record::Build(build)) = store
            .records()
            .iter()
            .rev()
            .find(|record| matches!(record, Record::Build(_)))
        else {
            panic!("{name} left no build record");
        };
        assert_eq!(
            verdict(&build.outcome),
            expected,
            "{name}: {:?}",
            build.outcome
        );
        let skipped: Vec<_> = searches(&store)
            .into_iter()
            .filter(|r| r.identity.build.build_params == fault(name, 0))
            .collect();
        assert_eq!(skipped.len(), 2, "{name}");
        for record in skipped {
            match &record.outcome {
                Outcome::Skipped { because } => assert!(because.contains("build"), "{because}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn refused_points_are_records_without_a_build() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let mut job = plan(
        &subject,
        &measure,
        fault("none", 0),
        vec![fault("no_such_fault", 0), fault("none", 0)],
    );
    job.points[1].refused = Some("the sweep says no".to_owned());
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
    run(
        &mut store,
        &job,
        &subject,
        &measure,
        &limits(),
        &AtomicBool::new(false),
    )
    .unwrap();
    assert!(
        store
            .records()
            .iter()
            .all(|r| matches!(r, Record::Search(_)))
    );
    let reasons: Vec<String> = searches(&store)
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
fn an_interrupt_ends_the_worker_and_leaves_no_record_of_the_unfinished_point() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let job = plan(
        &subject,
        &measure,
        fault("none", 0),
        vec![fault("none", 0), fault("hang", 0)],
    );
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
    let interrupted = AtomicBool::new(false);
    let mut limits = limits();
    limits.search_ns = 600_000_000_000;
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(1));
            interrupted.store(true, Ordering::Relaxed);
        });
        run(&mut store, &job, &subject, &measure, &limits, &interrupted)
    });
    assert!(matches!(ended, Err(RunError::Interrupted)), "{ended:?}");
    assert_eq!(searches(&store).len(), 1);
    assert!(
        std::fs::read_dir(folder.path().join("run/raw"))
            .unwrap()
            .count()
            == 1
    );
}

#[test]
fn a_worker_of_another_protocol_and_a_program_that_is_no_adapter_are_told_apart() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let hello = r#"{"number":0,"message":{"reply":"hello","protocol":99,"descriptor":{"adapter":"x","library":"x","library_version":"1","supports":[],"modes":[],"saves":false,"deterministic_build":false,"seeded":false,"build_facts":{},"build_params":[],"search_params":[]}}}"#;
    let octal: String = (hello.len() as u32)
        .to_le_bytes()
        .iter()
        .map(|byte| format!("\\{byte:03o}"))
        .collect();
    let scripts = [
        (
            format!("printf '{octal}%s' '{hello}'; sleep 1"),
            "expected protocol 1, found 99",
        ),
        ("echo this is no adapter; sleep 1".to_owned(), "frame"),
        ("exit 0".to_owned(), "exited with code 0"),
        ("echo sorry >&2; exit 4".to_owned(), "exited with code 4"),
    ];
    for (body, expected) in scripts {
        let mut installed = installed();
        installed.path = folder.path().join("annbench-adapter-x");
        std::fs::write(&installed.path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&installed.path, PermissionsExt::from_mode(0o755)).unwrap();
        let settings = WorkerSettings {
            environment: thread_variables(1),
            memory_limit_bytes: 1 << 30,
        };
        let ended = Worker::start(&installed, &settings, &AtomicBool::new(false));
        match ended.map(|_| ()) {
            Err(RequestError::Ended(failure)) => {
                assert_eq!(failure.stage, Stage::Start);
                assert!(failure.message.contains(expected), "{}", failure.message);
            }
            other => panic!("{body}: {other:?}"),
        }
    }
}

#[test]
fn after_a_crash_an_adapter_that_saves_is_built_once() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let points = vec![
        fault("abort", 0),
        fault("none", 0),
        fault("abort", 1),
        fault("none", 1),
    ];
    let job = plan(&subject, &measure, fault("slow_build", 0), points);
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
    run(
        &mut store,
        &job,
        &subject,
        &measure,
        &limits(),
        &AtomicBool::new(false),
    )
    .unwrap();
    let loaded: Vec<bool> = store
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::Build(build) => Some(build.loaded),
            _ => None,
        })
        .collect();
    assert_eq!(loaded, [false, true, true]);
    let verdicts: Vec<String> = searches(&store)
        .iter()
        .map(|r| verdict(&r.outcome))
        .collect();
    assert_eq!(verdicts, ["failed: SIGABRT", "ok", "failed: SIGABRT", "ok"]);
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
fn a_worker_that_dies_while_saving_costs_a_build_and_no_point() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let points = vec![fault("none", 0), fault("none", 1)];
    let job = plan(&subject, &measure, fault("abort_in_save", 0), points);
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
    let interrupted = AtomicBool::new(false);
    run(
        &mut store,
        &job,
        &subject,
        &measure,
        &limits(),
        &interrupted,
    )
    .unwrap();
    let builds: Vec<(String, Outcome)> = store
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::Build(build) => Some((build.build_id.clone(), build.outcome.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(builds.len(), 2);
    assert!(builds.iter().all(|(_, outcome)| *outcome == Outcome::Ok));
    assert_ne!(builds[0].0, builds[1].0);
    for record in searches(&store) {
        assert_eq!(record.outcome, Outcome::Ok);
        assert_eq!(record.build_id.as_ref(), Some(&builds[1].0));
    }
}

#[test]
fn a_reported_allocation_failure_is_out_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let points = vec![fault("allocation_error", 0), fault("none", 0)];
    let job = plan(&subject, &measure, fault("none", 0), points);
    let mut store = Store::create_or_open(&folder.path().join("run")).unwrap();
    let interrupted = AtomicBool::new(false);
    run(
        &mut store,
        &job,
        &subject,
        &measure,
        &limits(),
        &interrupted,
    )
    .unwrap();
    let verdicts: Vec<String> = searches(&store)
        .iter()
        .map(|r| verdict(&r.outcome))
        .collect();
    assert_eq!(verdicts, ["failed: out of memory", "ok"]);
}
