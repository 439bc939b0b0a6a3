//! What stops a run: the user, and a file that is no longer what was looked at.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_runner::{Event, Installed, RunError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Lab, fault, installed};

#[test]
fn an_interrupt_ends_the_worker_and_leaves_no_record_of_the_unfinished_point() {
    let mut lab = Lab::new();
    lab.limits.search_ns = 600_000_000_000;
    let job = lab.plan(fault("none", 0), vec![fault("none", 0), fault("hang", 0)]);
    let interrupted = AtomicBool::new(false);
    let ended = lab.try_run(&job, &installed(), &interrupted, &mut |event| {
        if matches!(&event, Event::Searching { point } if point.contains("hang")) {
            interrupted.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(ended, Err(RunError::Interrupted)), "{ended:?}");
    assert_eq!(lab.searches().len(), 1);
    let raw = std::fs::read_dir(lab.run_dir().join("raw")).unwrap();
    assert_eq!(raw.count(), 1);
}

/// Runs three points and touches `file` when the first is done: the run must stop, naming the file,
/// with that one point in its records.
fn change_after_the_first_point(lab: &mut Lab, installed: &Installed, file: &Path) {
    let points = (0..3).map(|number| fault("none", number)).collect();
    let job = lab.plan(fault("none", 0), points);
    let ended = lab.try_run(&job, installed, &AtomicBool::new(false), &mut |event| {
        if matches!(event, Event::PointDone { .. }) {
            replace(file);
        }
    });
    match ended {
        Err(RunError::Changed { path }) => assert_eq!(path, file),
        other => panic!("{other:?}"),
    }
    assert_eq!(lab.verdicts(), ["ok"]);
}

/// Another file with the same bytes and times in its place.
fn replace(file: &Path) {
    let copy = file.with_extension("copy");
    std::fs::copy(file, &copy).unwrap();
    let found = std::fs::metadata(file).unwrap();
    let times = std::fs::FileTimes::new()
        .set_accessed(found.accessed().unwrap())
        .set_modified(found.modified().unwrap());
    let opened = std::fs::File::options().append(true).open(&copy).unwrap();
    opened.set_times(times).unwrap();
    drop(opened);
    std::fs::rename(&copy, file).unwrap();
}

#[test]
fn a_dataset_that_is_replaced_during_a_run_stops_it() {
    let mut lab = Lab::new();
    let base = lab.made.subject().facts.given[0].base.path.clone();
    change_after_the_first_point(&mut lab, &installed(), &base);
}

#[test]
fn an_adapter_that_is_replaced_during_a_run_stops_it() {
    let mut lab = Lab::new();
    let mut copy = installed();
    copy.path = lab.run_dir().with_file_name("annbench-adapter-faults");
    std::fs::copy(installed().path, &copy.path).unwrap();
    change_after_the_first_point(&mut lab, &copy, &copy.path);
}
