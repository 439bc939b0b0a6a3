//! `annbench datasets convert` as its users meet it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use support::{Bench, DIM, N};

#[test]
fn a_converted_set_checks_as_the_same_set() {
    let bench = Bench::new();
    let convert = ["datasets", "convert", "tiny", "--to"];
    let with = |more: &[&'static str]| [&convert[..], more].concat();
    let answer = bench.answer(&with(&["npy", "--out", "converted", "--truth", "5"]));
    let checked = bench.answer(&["datasets", "check", "converted/tiny-npy.yaml"]);
    let fingerprint = |text: &str| {
        let line = text.lines().find(|line| line.contains("base fingerprint"));
        line.unwrap().split_whitespace().last().unwrap().to_owned()
    };
    let own = bench.answer(&["datasets", "check", "tiny"]);
    assert_eq!(fingerprint(&answer), fingerprint(&own));
    assert_eq!(fingerprint(&checked), fingerprint(&own));
    assert!(answer.contains("100 neighbours"), "{answer}");
    assert!(checked.contains("shipped; ids checked"), "{checked}");
    let bytes = std::fs::read(bench.path("converted/base.npy")).unwrap();
    assert_eq!(bytes.len(), 128 + N * DIM);

    let occupied = bench.complaint(&with(&["fbin", "--out", "converted"]), 2);
    assert!(
        occupied.contains("converted: expected a folder"),
        "{occupied}"
    );
    let unknown = bench.complaint(&with(&["parquet", "--out", "x"]), 2);
    assert!(unknown.contains("fvecs, bvecs, fbin"), "{unknown}");
    let negative = bench.complaint(&with(&["i8bin", "--out", "x"]), 2);
    assert!(
        negative.contains("a value of i8, found") && negative.contains("nothing was written"),
        "{negative}"
    );
    assert!(!bench.path("x").exists());
}

#[test]
fn wrong_neighbours_are_not_handed_on() {
    let bench = Bench::new();
    bench.write_truth(3);
    let arguments = ["datasets", "convert", "tiny", "--to", "fbin", "--out", "o"];
    let complaint = bench.complaint(&arguments, 2);
    assert!(complaint.contains("--without-truth"), "{complaint}");
    let answer = bench.answer(&[&arguments[..], &["--without-truth"]].concat());
    assert!(answer.contains("truth                none"), "{answer}");
}
