//! `annbench datasets strata` as its users meet it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use serde_json::Value;
use support::{Bench, N, QUERIES};

fn document(bench: &Bench, more: &[&str]) -> Value {
    let arguments = [
        &["datasets", "strata", "tiny", "-k", "5", "--json"][..],
        more,
    ];
    serde_json::from_str(&bench.answer(&arguments.concat())).unwrap()
}

#[test]
fn strata_tell_counts_and_how_hard_the_queries_are() {
    let bench = Bench::new();
    let counted = document(&bench, &[]);
    assert_eq!(counted["asked_rows"], N);
    assert_eq!(counted["budget"], 5.0);
    let hardness = &counted["hardness"];
    assert_eq!(hardness["queries"], QUERIES);
    for measure in ["lid", "expansion", "relative_contrast", "d1_percentile"] {
        let spread = &hardness[measure]["Ok"];
        let at = |name: &str| spread[name].as_f64().unwrap();
        let values = [
            at("lowest"),
            at("quarter"),
            at("median"),
            at("three_quarters"),
            at("highest"),
        ];
        assert!(values.is_sorted(), "{measure}: {spread}");
        assert!(values[0] >= 0.0 && values[0] < values[4], "{measure}");
    }
    // Queries drawn as the base is are in its midst.
    let median = hardness["d1_percentile"]["Ok"]["median"].as_f64().unwrap();
    assert!((20.0..80.0).contains(&median), "{median}");
    let text = bench.answer(&["datasets", "strata", "tiny", "-k", "5"]);
    for words in [
        "exact counts over 400 rows",
        "relative contrast",
        "d_10 / d_5",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn an_estimate_says_what_it_was_made_of() {
    let bench = Bench::new();
    let estimated = document(&bench, &["--sample", "100", "--count-k", "40"]);
    assert_eq!(estimated["counted_k"], 40);
    assert_eq!(estimated["asked_rows"], 100);
    assert_eq!(estimated["budget"], 10.0);
    let text = bench.answer(&[
        "datasets",
        "strata",
        "tiny",
        "-k",
        "5",
        "--sample",
        "100",
        "--count-k",
        "40",
    ]);
    assert!(
        text.contains("estimated from the 40 nearest of 100 rows drawn from 400; 10.0 to a row"),
        "{text}"
    );
    let refused = bench.complaint(
        &["datasets", "strata", "tiny", "-k", "5", "--sample", "100"],
        2,
    );
    for words in ["1.25 to a base row", "28.7 %", "count more neighbours"] {
        assert!(refused.contains(words), "{refused}");
    }
    let alone = ["datasets", "strata", "tiny", "--count-k", "40"];
    assert!(bench.complaint(&alone, 2).contains("--sample"));
}
