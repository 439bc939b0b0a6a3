//! The form of the records: changing it makes earlier runs unreadable, so it is pinned here.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_results::*;
use common::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn every_kind() -> Vec<Record> {
    let mut rich = search('a', Outcome::Ok);
    rich.other_quality.insert(1, quality());
    rich.other_metrics = Some(other_metrics());
    rich.speed.as_mut().unwrap().service_latency.push(Latency {
        mean_ns: 1.5,
        p50_ns: 1,
        p95_ns: 2,
        p99_ns: 3,
        p999_ns: 4,
        max_ns: 5,
    });
    let mut records = vec![run_record(), build_record(), Record::Search(Box::new(rich))];
    records.push(search_record(
        'b',
        Outcome::Rejected {
            reason: "k > n".to_owned(),
        },
    ));
    records.push(search_record(
        'c',
        Outcome::Skipped {
            cause: SkipCause::Build,
            because: "the build failed".to_owned(),
        },
    ));
    let causes = [
        Cause::Exit { code: 3 },
        Cause::Signal {
            signal: 6,
            name: "SIGABRT".to_owned(),
        },
        Cause::OutOfMemory {
            limit_bytes: 1 << 29,
            observed_bytes: Some(1 << 29),
        },
        Cause::Timeout { limit_ns: 1 },
        Cause::Panic,
        Cause::LibraryError,
        Cause::Protocol,
        Cause::InvalidAnswer,
        Cause::Io,
    ];
    records.extend(causes.map(|cause| search_record('d', failed(cause))));
    records
}

fn repository_file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// To change the form on purpose, replace the golden file by the lines that this prints.
#[test]
fn records_are_written_as_they_always_were() {
    let written: String = every_kind()
        .iter()
        .map(|record| serde_json::to_string(record).unwrap() + "\n")
        .collect();
    let golden = repository_file("tests/golden/records.jsonl");
    assert!(written == golden, "the form changed; now:\n{written}");
}

#[test]
fn records_of_the_golden_form_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let golden = repository_file("tests/golden/records.jsonl");
    std::fs::write(dir.path().join(RECORDS_FILE), golden).unwrap();
    assert_eq!(RunRecords::open(dir.path()).unwrap().records, every_kind());
}

/// Names of all fields but those that are data: parameters, thread variables and the like.
fn field_names(value: &Value, names: &mut BTreeSet<String>) {
    const KEYED_BY_DATA: [&str; 9] = [
        "config_texts",
        "environment",
        "adapters",
        "descriptor",
        "build_params",
        "search_params",
        "other_quality",
        "thread_env",
        "affinity",
    ];
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                names.insert(name.clone());
                if !KEYED_BY_DATA.contains(&name.as_str()) {
                    field_names(inner, names);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|v| field_names(v, names)),
        _ => {}
    }
}

#[test]
fn the_readme_names_every_field() {
    let mut names = BTreeSet::new();
    for record in every_kind() {
        field_names(&serde_json::to_value(record).unwrap(), &mut names);
    }
    assert!(names.len() > 100, "{}", names.len());
    let readme = repository_file("../../results/README.md");
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !readme.contains(&format!("`{name}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "results/README.md does not name {missing:?}"
    );
}
