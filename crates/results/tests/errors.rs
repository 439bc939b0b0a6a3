//! What an error says when it is printed with its causes: each thing once, and what to do.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::npy;
use annbench_results::*;
use common::chain;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left")
}

fn unreadable() -> MeasuredError {
    MeasuredError::Raw(npy::read::<u32>(Path::new("/nowhere/ids.npy")).unwrap_err())
}

#[test]
fn a_cause_is_told_once() {
    let errors: [Box<dyn std::error::Error>; 3] = [
        Box::new(StoreError::Io {
            operation: "append a record",
            path: PathBuf::from("records.jsonl"),
            cause: refused(),
        }),
        Box::new(MeasuredError::Score {
            repetition: 0,
            cause: ScoreError::Empty {
                queries: 3,
                undefined: 3,
            },
        }),
        Box::new(RescoreError::Dataset(Arc::new(NoDataset::Unavailable {
            dataset: "tiny".to_owned(),
            cause: Box::new(refused()),
        }))),
    ];
    let cause = unreadable();
    assert_eq!(chain(&cause).matches("No such file").count(), 1);
    assert!(cause.next_step().contains("--retry lost"));
    let texts = ["no space left", "nothing to score"];
    for error in errors {
        let said = chain(&*error);
        let told: usize = texts.iter().map(|text| said.matches(text).count()).sum();
        assert_eq!(told, 1, "{said}");
        assert!(said.contains("; "), "no next step: {said}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_told_once_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Store::create_or_open(&file).unwrap_err();
    let said = chain(&error);
    assert_eq!(said, error.to_string());
    assert!(
        said.starts_with(&format!(
            "{}: cannot create the directory: ",
            file.join(RAW_DIR).display()
        )),
        "{said}"
    );
    assert!(said.ends_with("or remove what is there"), "{said}");
    let error = RunRecords::open(Path::new("/nowhere")).unwrap_err();
    assert!(chain(&error).ends_with("give the --out of a run"));
}
