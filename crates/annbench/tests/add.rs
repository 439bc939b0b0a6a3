//! `annbench datasets add` as its users meet it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use support::{Bench, DIM, N, QUERIES};

#[test]
fn own_files_become_a_set_that_checks() {
    let bench = Bench::new();
    let files = ["datasets/tiny/base.u8bin", "datasets/tiny/query.u8bin"];
    let add = [&["datasets", "add"][..], &files].concat();
    let complaint = bench.complaint(&add, 2);
    assert!(
        complaint.contains("tiny.yaml") && complaint.contains("--name"),
        "{complaint}"
    );
    let named = [&add[..], &["--name", "mine"]].concat();
    let complaint = bench.complaint(&named, 2);
    assert!(complaint.contains("give --metric"), "{complaint}");
    let answer = bench.answer(&[&named[..], &["--metric", "l2"]].concat());
    let shape = format!("mine: {N} x {DIM} u8 l2, {QUERIES} queries");
    assert!(answer.contains(&shape), "{answer}");
    assert!(answer.contains("`not stated`"), "{answer}");
    // What it ends with works.
    let (_, command) = answer.split_once("check it:  annbench ").unwrap();
    let command: Vec<&str> = command.lines().next().unwrap().split(' ').collect();
    let checked = bench.answer(&command);
    assert!(checked.contains(&shape), "{checked}");
}
