//! `audit-quantiser`: what is shown of a compressed base, and what is refused.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use serde_json::Value;
use support::{Bench, DIM, N, QUERIES};

/// What `audit-quantiser tiny` with these says to programs.
fn audit(bench: &Bench, more: &[&str]) -> Value {
    let arguments = [&["audit-quantiser", "tiny", "--json"], more].concat();
    serde_json::from_str(&bench.answer(&arguments)).unwrap()
}

/// The base of `tiny` as fbin, every component moved by `by` times a number of -1 to 1.
fn write_decoded(bench: &Bench, name: &str, rows: usize, by: f32) {
    let base = std::fs::read(bench.path("datasets/tiny/base.u8bin")).unwrap();
    let mut bytes = Vec::new();
    bytes.extend((rows as u32).to_le_bytes());
    bytes.extend((DIM as u32).to_le_bytes());
    for (i, &value) in base[8..8 + rows * DIM].iter().enumerate() {
        let noise = ((i * 7919) % 2001) as f32 / 1000.0 - 1.0;
        bytes.extend((f32::from(value) + by * noise).to_le_bytes());
    }
    std::fs::write(bench.path(name), bytes).unwrap();
}

#[test]
fn a_base_that_was_not_changed_keeps_every_set() {
    let bench = Bench::new();
    let found = audit(&bench, &["--reconstructed", "datasets/tiny/base.u8bin"]);
    assert_eq!(found["queries"], QUERIES);
    assert_eq!(found["kept_queries"], QUERIES);
    assert_eq!(found["recall_mean"], 1.0);
    // Proven wherever the 10th and the 11th are not equally far: in integers nothing else is lost.
    let queries = found["by_query"].as_array().unwrap();
    for query in queries {
        assert_eq!(query["kappa"], 1.0);
        assert_eq!(query["preserved"], query["gap"].as_f64().unwrap() > 1.0);
    }
    assert_eq!(found["compressed_fingerprint"], found["base_fingerprint"]);
    // As f32 the same but for bounds on rounding errors.
    write_decoded(&bench, "same.fbin", N, 0.0);
    let widened = audit(&bench, &["--reconstructed", "same.fbin"]);
    assert_eq!(widened["preserved_queries"], found["preserved_queries"]);
    // Bytes have no more than the bits of bf16.
    let rounded = audit(&bench, &["--as", "bf16"]);
    assert_eq!(rounded["preserved_queries"], found["preserved_queries"]);
}

#[test]
fn what_is_proven_is_less_than_what_is_kept() {
    let bench = Bench::new();
    write_decoded(&bench, "noisy.fbin", N, 2.0);
    let arguments = [
        "audit-quantiser",
        "tiny",
        "--reconstructed",
        "noisy.fbin",
        "-k",
        "3",
    ];
    let text = bench.answer(&arguments);
    for words in [
        "tiny: 400 rows, l2; k = 3, 50 queries",
        "compressed   noisy.fbin (fbin, f32)",
        "of the queries (",
        "d_(4) / d_(3)",
        "the condition is sufficient",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let found = audit(&bench, &arguments[2..]);
    let number = |key: &str| found[key].as_u64().unwrap();
    assert!(number("preserved_queries") <= number("kept_queries"));
    assert!(0 < number("kept_queries") && number("kept_queries") < QUERIES as u64);
    let first = audit(&bench, &[&arguments[2..], &["--queries", "7"]].concat());
    assert_eq!(
        (&first["queries"], &first["queries_of_set"]),
        (&7.into(), &QUERIES.into())
    );
    assert_eq!(
        first["by_query"].as_array().unwrap()[..],
        found["by_query"].as_array().unwrap()[..7]
    );
}

#[test]
fn files_that_are_not_the_decoded_base_are_refused() {
    let bench = Bench::new();
    write_decoded(&bench, "short.fbin", N - 1, 0.0);
    write_decoded(&bench, "decoded.bin", N, 0.0);
    let complaint = |more: &[&str]| {
        let arguments = [&["audit-quantiser", "tiny"], more].concat();
        bench.complaint(&arguments, 2)
    };
    for (more, said) in [
        (
            &["--reconstructed", "short.fbin"][..],
            "the decoded base of 400 rows",
        ),
        (&["--reconstructed", "decoded.bin"], "say it with --format"),
        (&["--reconstructed", "some.h5"], "with --table"),
        (&["--as", "i8", "-k", "400"], "expected 1 to 399"),
        (&[], "--as <TYPE>"),
        (
            &["--as", "i8", "--reconstructed", "x.fbin"],
            "cannot be used with",
        ),
    ] {
        let found = complaint(more);
        assert!(found.contains(said), "{said} is not in\n{found}");
    }
    let named = ["--reconstructed", "decoded.bin", "--format", "fbin"];
    assert_eq!(audit(&bench, &named)["kept_queries"], QUERIES);

    let entry = Bench::entry("").replace("metric: l2", "metric: inner_product");
    bench.write("datasets/tiny.yaml", &entry);
    let found = complaint(&["--as", "i8"]);
    assert!(
        found.contains("metric inner_product: expected l2 or cosine"),
        "{found}"
    );
}

#[test]
fn queries_without_a_direction_are_left_out() {
    let bench = Bench::new();
    let entry = Bench::entry("").replace("metric: l2", "metric: cosine");
    bench.write("datasets/tiny.yaml", &entry);
    let mut queries = std::fs::read(bench.path("datasets/tiny/query.u8bin")).unwrap();
    queries[8..8 + DIM].fill(0);
    std::fs::write(bench.path("datasets/tiny/query.u8bin"), queries).unwrap();
    let found = audit(&bench, &["--as", "i8"]);
    assert_eq!(
        (&found["queries"], &found["undefined_queries"]),
        (&(QUERIES - 1).into(), &1.into())
    );
}
