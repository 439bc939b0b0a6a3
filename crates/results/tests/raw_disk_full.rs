//! A disk that is full while raw files are written. Alone in its binary: the limit on file sizes that
//! stands in for the disk belongs to the whole process.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;
#[path = "common/file_limit.rs"]
mod file_limit;

use annbench_core::npy;
use annbench_results::*;
use common::{search, search_record};
use file_limit::limit_file_size;
use std::fs;
use std::path::Path;

fn folders(raw: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(raw)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_point_without_its_raw_files_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join(RAW_DIR);
    let mut store = Store::create_or_open(dir.path()).unwrap();
    let ids: Vec<u32> = (0..10_000).collect();
    let shape = [1000, 10];

    let (first, second) = ("a".repeat(64), "b".repeat(64));
    let draft = store.begin_raw().unwrap();
    npy::write(&draft.path().join("ids-0.npy"), &shape, &ids).unwrap();
    let place = store.place_raw(draft, &first).unwrap();
    let Record::Search(mut record) = search_record('a', Outcome::Ok) else {
        panic!("no search record");
    };
    record.measured = Some(common::measured(&place));
    store.append(&Record::Search(record)).unwrap();
    let whole = fs::read(dir.path().join(RECORDS_FILE)).unwrap();

    // Room for a part of the ids.
    let draft = store.begin_raw().unwrap();
    limit_file_size(Some(8192));
    let written = npy::write(&draft.path().join("ids-0.npy"), &shape, &ids);
    limit_file_size(None);
    assert_eq!(
        written.unwrap_err().kind(),
        std::io::ErrorKind::FileTooLarge
    );
    assert_eq!(folders(&raw), [first.clone(), "partial-1".to_owned()]);
    drop(draft);
    assert_eq!(
        folders(&raw),
        std::slice::from_ref(&first),
        "the half-written draft went"
    );
    assert_eq!(fs::read(dir.path().join(RECORDS_FILE)).unwrap(), whole);
    let kept: (Vec<usize>, Vec<u32>) =
        npy::read(&dir.path().join(&place).join("ids-0.npy")).unwrap();
    assert_eq!(kept, (shape.to_vec(), ids.clone()));

    // A draft that went missing cannot be placed; the run goes on all the same.
    let draft = store.begin_raw().unwrap();
    fs::remove_dir_all(draft.path()).unwrap();
    let error = store.place_raw(draft, &second).unwrap_err().to_string();
    assert!(error.contains("partial-2: cannot sync"), "{error}");
    assert!(error.contains("run the same command again"), "{error}");

    let draft = store.begin_raw().unwrap();
    npy::write(&draft.path().join("ids-0.npy"), &shape, &ids).unwrap();
    assert_eq!(
        store.place_raw(draft, &second).unwrap(),
        format!("{RAW_DIR}/{second}")
    );
    let mut measured = search('b', Outcome::Ok);
    measured.measured = Some(common::measured(&format!("{RAW_DIR}/{second}")));
    store.append(&Record::Search(Box::new(measured))).unwrap();
    drop(store);
    let store = Store::create_or_open(dir.path()).unwrap();
    assert_eq!(store.opening(), &Opening::default());
    assert_eq!(store.records().len(), 2);
    assert_eq!(folders(&raw), [first, second]);
}
