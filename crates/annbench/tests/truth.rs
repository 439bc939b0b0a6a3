//! `annbench truth` as its users meet it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use support::{Bench, DIM, N, QUERIES};

fn sha256(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("sha256"));
    let word = line.unwrap().split_whitespace().nth(1).unwrap();
    assert_eq!(word.len(), 64, "{text}");
    word.to_owned()
}

#[test]
fn pieces_join_into_the_truth_of_the_whole() {
    let bench = Bench::new();
    let whole = bench.answer(&["truth", "compute", "tiny"]);
    assert!(
        whole.contains("tiny: 100 nearest of 400 rows to each of 50 queries, l2"),
        "{whole}"
    );
    assert!(
        whole.contains("50 of 50 queries, by 50 full scan"),
        "{whole}"
    );
    std::fs::remove_dir_all(bench.path("datasets/.cache/truth")).unwrap();
    for rows in ["0..150", "150..151", "151..400"] {
        let arguments = [
            "truth", "compute", "tiny", "--rows", rows, "--out", rows, "-k", "100",
        ];
        let part = bench.answer(&arguments);
        assert!(part.contains("part only"), "{part}");
    }
    let some = bench.complaint(&["truth", "join", "tiny", "0..150", "150..151"], 2);
    assert!(some.contains("found rows 0 to 151"), "{some}");
    let gap = bench.complaint(&["truth", "join", "tiny", "0..150", "151..400"], 2);
    assert!(
        gap.contains("expected rows from 150 on") && gap.contains("leave no gap"),
        "{gap}"
    );
    let joined = bench.answer(&["truth", "join", "tiny", "151..400", "0..150", "150..151"]);
    assert_eq!(sha256(&joined), sha256(&whole));
    assert!(
        joined.contains("kept in     datasets/.cache/truth/"),
        "{joined}"
    );
    // What was joined is what is used.
    let checked = bench.answer(&["datasets", "check", "tiny"]);
    assert!(checked.contains("computed"), "{checked}");
    let document = bench.answer(&["truth", "compute", "tiny", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["sha256"], sha256(&whole));
    assert_eq!(document["whole"], true);
    assert_eq!(document["method"]["full_scan"], QUERIES);
}

#[test]
fn a_sample_is_declared_and_needs_a_folder() {
    let bench = Bench::new();
    let arguments = ["truth", "compute", "tiny", "--queries", "7"];
    let refused = bench.complaint(&arguments, 2);
    assert!(refused.contains("--out"), "{refused}");
    let answer = bench.answer(&[&arguments[..], &["--out", "some"]].concat());
    assert!(
        answer.contains("sample      7 of 50 queries, drawn at random: not the truth of the set"),
        "{answer}"
    );
    assert!(!bench.path("datasets/.cache/truth").exists());
    let other = bench.complaint(&["truth", "compute", "tiny", "--out", "some"], 2);
    assert!(
        other.contains("50 of the queries") && other.contains("name another"),
        "{other}"
    );
}

#[test]
fn shipped_neighbours_are_audited_query_by_query() {
    let bench = Bench::new();
    let none = bench.complaint(&["truth", "audit", "tiny"], 2);
    assert!(none.contains("no `truth`"), "{none}");
    // Right ones, written by the command itself.
    bench.answer(&[
        "datasets", "convert", "tiny", "--to", "u8bin", "--out", "c", "--truth", "10",
    ]);
    let right = bench.answer(&["truth", "audit", "c/tiny-u8bin.yaml"]);
    assert!(
        right.contains("every shipped neighbour is right"),
        "{right}"
    );

    bench.write_truth(3);
    let output = bench.run(&["truth", "audit", "tiny"]);
    assert_eq!(output.status.code(), Some(1));
    let wrong = String::from_utf8(output.stdout).unwrap();
    assert!(
        wrong.contains("the first: query 0, neighbour 1 is at"),
        "{wrong}"
    );
    let document = bench.run(&["truth", "audit", "tiny", "--json"]).stdout;
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    let at = document["at"].as_array().unwrap();
    assert_eq!(at.len(), 2, "at 1 and 10: {document}");
    let counted = ["same", "other_ties", "wrong"].map(|what| at[1][what].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), QUERIES as u64);
    assert_eq!(counted[2], QUERIES as u64);

    // What was proved now judges all queries whenever the set is opened, not a sample.
    let output = bench.run(&["datasets", "check", "tiny"]);
    assert_eq!(output.status.code(), Some(1));
    let checked = String::from_utf8(output.stdout).unwrap();
    assert!(checked.to_lowercase().contains("refuted"), "{checked}");
}

#[test]
fn slices_of_another_machine_are_placed() {
    let bench = Bench::new();
    let base = std::fs::read(bench.path("datasets/tiny/base.u8bin")).unwrap();
    let queries = std::fs::read(bench.path("datasets/tiny/query.u8bin")).unwrap();
    for (name, rows) in [("low", 0..100), ("high", 100..N)] {
        std::fs::create_dir_all(bench.path(&format!("datasets/{name}"))).unwrap();
        let mut slice = (rows.len() as u32).to_le_bytes().to_vec();
        slice.extend((DIM as u32).to_le_bytes());
        slice.extend(&base[8 + rows.start * DIM..8 + rows.end * DIM]);
        let place = |file: &str| bench.path(&format!("datasets/{name}/{file}"));
        std::fs::write(place("base.u8bin"), slice).unwrap();
        std::fs::write(place("query.u8bin"), &queries).unwrap();
        let entry = Bench::entry("").replace("name: tiny", &format!("name: {name}"));
        let entry = entry.replace(&format!("rows: {N} "), &format!("rows: {} ", rows.len()));
        bench.write(&format!("datasets/{name}.yaml"), &entry);
        let out = format!("{name}-piece");
        bench.answer(&["truth", "compute", name, "--out", &out]);
    }
    let whole = bench.answer(&["truth", "compute", "tiny"]);
    let placed = ["truth", "join", "tiny", "low-piece@0", "high-piece@100"];
    let joined = bench.answer(&placed);
    assert_eq!(sha256(&joined), sha256(&whole));
    let elsewhere = ["truth", "join", "tiny", "low-piece@1", "high-piece@100"];
    let refused = bench.complaint(&elsewhere, 2);
    assert!(
        refused.contains("low-piece") && refused.contains("fingerprint"),
        "{refused}"
    );
}

#[test]
fn records_and_reports_say_of_how_many_queries_the_truth_is_proved() {
    let bench = Bench::calibrated();
    let table = bench.answer(&support::RUN);
    assert!(
        table.contains("computed by annbench over the whole base · proved for every query"),
        "{table}"
    );
    let records = std::fs::read_to_string(bench.path("run/records.jsonl")).unwrap();
    assert!(records.contains("\"proved_queries\":50"), "{records}");
}
