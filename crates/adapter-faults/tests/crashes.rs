//! After a crash the rest goes on, and what was built is not built again where it can be loaded.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::Outcome;
use support::{Lab, fault};

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
    assert_ne!(builds[0].build_id, builds[1].build_id);
    for record in lab.searches() {
        assert_eq!(record.outcome, Outcome::Ok);
        assert_eq!(record.build_id.as_ref(), Some(&builds[1].build_id));
    }
}
