//! A steered run: what is not worth its time is a record or comes back to the caller, and never a
//! failure of the library.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Outcome, Record, SkipCause};
use annbench_runner::{BuildShare, Next, PlannedPoint, Steer};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use support::{Lab, fault, installed};

/// Answers from a list, then measures everything.
struct Scripted {
    answers: VecDeque<Next>,
    build: Option<Duration>,
    measured: usize,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Next>) -> Self {
        Self {
            answers: answers.into_iter().collect(),
            build: None,
            measured: 0,
        }
    }
}

impl Steer for Scripted {
    fn next(&mut self, _: &PlannedPoint, _: &[Record]) -> Next {
        self.answers.pop_front().unwrap_or(Next::Measure)
    }

    fn build_share(&mut self) -> Option<BuildShare> {
        self.build.map(|time| BuildShare {
            time,
            because: "it took too long".to_owned(),
        })
    }

    fn measured(&mut self, _: &PlannedPoint) {
        self.measured += 1;
    }
}

fn skip(because: &str) -> Next {
    Next::Skip {
        cause: SkipCause::Recall,
        because: because.to_owned(),
    }
}

fn skipped(because: &str) -> Outcome {
    Outcome::Skipped {
        cause: SkipCause::Recall,
        because: because.to_owned(),
    }
}

#[test]
fn skipped_points_say_why_and_left_ones_come_back_without_a_record() {
    let mut lab = Lab::new();
    let job = lab.plan(
        fault("none", 0),
        (0..4).map(|seed| fault("none", seed)).collect(),
    );
    // Once around before the build, then a point at a time: the third is skipped, the fourth left.
    let ahead = [Next::Measure, skip("early"), Next::Measure, Next::Measure];
    let mut steer =
        Scripted::new(
            ahead
                .into_iter()
                .chain([Next::Measure, skip("late"), Next::Leave]),
        );
    let left: Vec<String> = lab
        .try_steered(&job, &installed(), &AtomicBool::new(false), &mut steer)
        .unwrap();
    assert_eq!(left, [job.points[3].point_id.clone()]);
    assert_eq!(steer.measured, 1);
    let outcome = |position: usize| {
        let searches = lab.searches();
        let mut found = searches
            .iter()
            .filter(|s| s.point_id == job.points[position].point_id);
        found.next().map(|search| search.outcome.clone())
    };
    assert_eq!(outcome(0), Some(Outcome::Ok));
    assert_eq!(outcome(1), Some(skipped("early")));
    assert_eq!(outcome(2), Some(skipped("late")));
    assert_eq!(outcome(3), None);
}

#[test]
fn nothing_is_built_for_points_that_nobody_would_measure() {
    let mut lab = Lab::new();
    let job = lab.plan(fault("abort", 0), vec![fault("none", 0), fault("none", 1)]);
    let mut steer = Scripted::new([skip("no"), Next::Leave]);
    let left = lab
        .try_steered(&job, &installed(), &AtomicBool::new(false), &mut steer)
        .unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(lab.builds().len(), 0);
}

#[test]
fn a_build_beyond_its_share_is_skipped_and_not_failed() {
    let mut lab = Lab::new();
    let job = lab.plan(fault("hang", 0), vec![fault("none", 0)]);
    let mut steer = Scripted::new([]);
    steer.build = Some(Duration::from_millis(200));
    lab.try_steered(&job, &installed(), &AtomicBool::new(false), &mut steer)
        .unwrap();
    let build = lab.builds().pop().unwrap();
    let no_time = Outcome::Skipped {
        cause: SkipCause::Budget,
        because: "it took too long".to_owned(),
    };
    assert_eq!(build.outcome, no_time);
    let search = lab.searches().pop().unwrap();
    assert_eq!(search.outcome, no_time);
}

#[test]
fn a_build_that_fails_when_points_are_repeated_hides_nothing_of_them() {
    let mut lab = Lab::new();
    let job = lab.plan(fault("none", 0), vec![fault("none", 0), fault("none", 1)]);
    lab.try_run(&job, &installed(), &AtomicBool::new(false), &mut |_| {})
        .unwrap();
    let mut broken = job.clone();
    broken.spec.params = fault("abort", 0);
    lab.try_run(&broken, &installed(), &AtomicBool::new(false), &mut |_| {})
        .unwrap();
    assert_eq!(lab.builds().len(), 2);
    assert!(lab.searches().iter().all(|s| s.outcome == Outcome::Ok));
    // That a build failed is not hidden by a run without time either.
    let failing = lab.plan(fault("abort", 1), vec![fault("none", 0)]);
    lab.try_run(&failing, &installed(), &AtomicBool::new(false), &mut |_| {})
        .unwrap();
    let before = lab.records().len();
    let mut steer = Scripted::new([skip("later")]);
    lab.try_steered(&failing, &installed(), &AtomicBool::new(false), &mut steer)
        .unwrap();
    assert_eq!(lab.records().len(), before);
}

#[test]
fn a_skip_neither_repeats_itself_nor_hides_what_is_known() {
    let mut lab = Lab::new();
    let job = lab.plan(fault("none", 0), vec![fault("abort", 0), fault("none", 0)]);
    lab.try_run(&job, &installed(), &AtomicBool::new(false), &mut |_| {})
        .unwrap();
    let before = lab.records().len();
    for _ in 0..2 {
        let mut steer = Scripted::new([skip("later"), skip("later")]);
        lab.try_steered(&job, &installed(), &AtomicBool::new(false), &mut steer)
            .unwrap();
    }
    assert_eq!(
        lab.records().len(),
        before,
        "failed and ok stay what they are"
    );
    let other = lab.plan(fault("none", 0), vec![fault("none", 7)]);
    for _ in 0..2 {
        let mut steer = Scripted::new([skip("later")]);
        lab.try_steered(&other, &installed(), &AtomicBool::new(false), &mut steer)
            .unwrap();
    }
    assert_eq!(lab.records().len(), before + 1, "said once");
}
