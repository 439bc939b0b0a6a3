//! A refuted truth is refuted for everyone who used it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_results::*;
use common::{quality, run_record, search};

#[test]
fn one_nearer_answer_marks_every_record_of_that_truth() {
    let earlier = search('a', Outcome::Ok);
    let mut beaten = search('b', Outcome::Ok);
    beaten.quality.as_mut().unwrap().beats_truth = 2;
    beaten.other_quality.insert(
        3,
        Quality {
            beats_truth: 5,
            ..quality()
        },
    );
    let mut other = search('c', Outcome::Ok);
    other.truth.as_mut().unwrap().fingerprint = "another".to_owned();
    other.truth.as_mut().unwrap().origin = TruthOrigin::Computed;
    let truths = [&earlier, &beaten, &other].map(|s| s.truth.clone().unwrap());
    let records = [earlier, beaten, other].map(|s| Record::Search(Box::new(s)));
    let all = Refutations::gather(records.iter().chain([&run_record()]));
    let texts = truths.map(|t| all.status(&t).to_string());
    let refuted = "shipped, refuted (7 answers nearer than its k-th neighbour)";
    assert_eq!(texts, [refuted, refuted, "computed, not refuted"]);
    let mut doubted = common::truth();
    doubted.refuted_by = Some("row 7".to_owned());
    assert!(Refutations::default().status(&doubted).is_refuted());
    assert_eq!(
        all.status(&doubted).to_string(),
        "shipped, refuted (7 answers nearer than its k-th neighbour; row 7)"
    );
    let before = Refutations::gather(&records[..1]);
    assert!(!before.status(&common::truth()).is_refuted());
    assert!(all.status(&common::truth()).is_refuted());
}
