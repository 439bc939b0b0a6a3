//! After a crash the rest goes on, and what was built is not built again where it can be loaded.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Outcome, SaveOutcome};
use annbench_runner::Event;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use support::{Lab, fault, installed};

#[test]
fn after_a_crash_an_adapter_that_saves_is_built_once() {
    let mut lab = Lab::new();
    let points = vec![
        fault("abort", 0),
        fault("none", 0),
        fault("abort", 1),
        fault("none", 1),
    ];
    lab.run(fault("slow_build", 0), points);
    assert_eq!(lab.builds()[0].saved, Some(SaveOutcome::Saved));
    let loaded: Vec<bool> = lab.builds().iter().map(|build| build.loaded).collect();
    assert_eq!(loaded, [false, true, true]);
    assert_eq!(
        lab.verdicts(),
        ["failed: SIGABRT", "ok", "failed: SIGABRT", "ok"]
    );
}

#[test]
fn a_worker_that_dies_while_saving_costs_a_build_and_no_point() {
    let mut lab = Lab::new();
    let points = vec![fault("none", 0), fault("none", 1)];
    lab.run(fault("abort_in_save", 0), points);
    let builds = lab.builds();
    assert_eq!(builds.len(), 2);
    assert!(builds.iter().all(|build| build.outcome == Outcome::Ok));
    let Some(SaveOutcome::Failed { reason }) = &builds[0].saved else {
        panic!("{:?}", builds[0].saved);
    };
    assert!(reason.contains("SIGABRT"), "{reason}");
    assert_eq!(builds[1].saved, None);
    assert_ne!(builds[0].build_id, builds[1].build_id);
    for record in lab.searches() {
        assert_eq!(record.outcome, Outcome::Ok);
        assert_eq!(record.build_id.as_ref(), Some(&builds[1].build_id));
    }
}

#[test]
fn a_reply_that_nobody_asked_for_costs_a_build_and_no_point() {
    let mut lab = Lab::new();
    let points = vec![fault("extra_reply", 0), fault("none", 0), fault("none", 1)];
    let job = lab.plan(fault("none", 0), points);
    lab.try_run(&job, &installed(), &AtomicBool::new(false), &mut |event| {
        if matches!(&event, Event::PointDone { point, .. } if point.contains("extra_reply")) {
            // Until it has come.
            std::thread::sleep(Duration::from_millis(500));
        }
    })
    .unwrap();
    assert_eq!(lab.verdicts(), ["ok", "ok", "ok"]);
    assert_eq!(lab.builds().len(), 2);
}
