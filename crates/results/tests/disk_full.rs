//! A disk that is full in the middle of a record. Alone in its binary: the limit on file sizes that
//! stands in for the disk belongs to the whole process.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;
#[path = "common/file_limit.rs"]
mod file_limit;

use annbench_results::*;
use common::search_record;
use file_limit::limit_file_size;
use std::fs;

#[test]
fn nothing_earlier_is_lost_and_the_run_goes_on_once_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(RECORDS_FILE);
    let mut store = Store::create_or_open(dir.path()).unwrap();
    let first = search_record('a', Outcome::Ok);
    let second = search_record('b', Outcome::Ok);
    store.append(&first).unwrap();
    let whole = fs::read(&path).unwrap();

    // Room for a part of the second line.
    limit_file_size(Some(whole.len() as u64 + 100));
    let appended = store.append(&second);
    let rewritten = store.replace_records(vec![first.clone(), second.clone()]);
    limit_file_size(None);

    let error = appended.unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("{}: cannot append a record", path.display())),
        "{error}"
    );
    assert!(
        error.contains("make room and run the same command again"),
        "{error}"
    );
    assert!(rewritten.is_err());
    assert_eq!(
        fs::read(&path).unwrap(),
        whole,
        "the torn beginning is cut off"
    );
    assert_eq!(store.records(), std::slice::from_ref(&first));

    store.append(&second).unwrap();
    drop(store);
    let store = Store::create_or_open(dir.path()).unwrap();
    assert_eq!(store.records(), [first, second]);
    assert_eq!(store.opening(), &Opening::default());
}
