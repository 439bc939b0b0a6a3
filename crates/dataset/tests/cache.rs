//! A cache that cannot be written: what needs it is refused with the path and a next step, what does
//! not opens all the same.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{Catalogue, Dataset, DatasetError, Entry, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use support::*;

const N: usize = 2_000;
const M: usize = 3;
const DIM: usize = 4;

/// Where a child of this test finds the set that it is to open.
const ROOT: &str = "ANNBENCH_TEST_ROOT";

/// A set that needs a copy, or one that does not.
fn set(fixture: &Fixture, format: &str) -> Entry {
    for (file, rows) in [("base", N), ("queries", M)] {
        let body = floats(&widen(&bytes(rows * DIM, rows as u64)));
        let content = match format {
            "fbin" => flat(rows, DIM, &body),
            _ => texmex(DIM, 4 * DIM, &body),
        };
        fixture.write("set", file, &content);
    }
    fixture.yaml(
        "set",
        &format!(
            "metric: l2\nelement: f32\ndim: {DIM}\n\
             base: {{ file: base, format: {format}, rows: {N} }}\n\
             queries: {{ file: queries, format: {format}, rows: {M} }}\n"
        ),
    )
}

/// The refusal of a set that needs the cache, after one that does not has opened with notes.
fn refusal(fixture: &Fixture) -> String {
    let dataset = fixture.open(&set(fixture, "fbin")).unwrap();
    let notes = dataset.notes().join("\n");
    assert_words(&notes, &["fingerprint", "remembered", ".cache"]);
    let truth = dataset.truth(5, &fixture.options()).unwrap();
    assert_words(truth.not_kept().unwrap(), &["cannot", ".cache", "; "]);
    fixture.refusal(&set(fixture, "fvecs"))
}

#[test]
fn a_file_in_its_place() {
    let fixture = Fixture::new();
    // This fails for every user, root included.
    std::fs::write(fixture.root().join(".cache"), b"").unwrap();
    let refusal = refusal(&fixture);
    assert_words(
        &refusal,
        &[
            "cannot create the cache directory",
            ".cache/flat",
            "move it away",
        ],
    );
}

#[test]
fn a_link_to_nothing_in_its_place() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.root().join(".cache")).unwrap();
    for kind in ["flat", "facts", "truth"] {
        symlink("gone", fixture.root().join(".cache").join(kind)).unwrap();
    }
    let refusal = refusal(&fixture);
    assert_words(
        &refusal,
        &[
            "cannot create the cache directory",
            ".cache/flat",
            "move away",
        ],
    );
}

/// Where nobody may make a directory, root included.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_written() {
    let fixture = Fixture::new();
    symlink("/sys", fixture.root().join(".cache")).unwrap();
    let refusal = refusal(&fixture);
    assert_words(&refusal, &["cannot create the cache directory", ".cache"]);
    let steps = ["give this user access", "where this user may write"];
    assert!(steps.iter().any(|next| refusal.contains(next)), "{refusal}");
}

#[test]
fn a_directory_in_place_of_a_copy() {
    let fixture = Fixture::new();
    let entry = set(&fixture, "fvecs");
    fixture.open(&entry).unwrap();
    let flat = fixture.root().join(".cache/flat");
    for item in std::fs::read_dir(&flat).unwrap() {
        let path = item.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "fbin") {
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
        }
    }
    let refusal = fixture.refusal(&entry);
    assert_words(
        &refusal,
        &["cannot write", ".cache/flat", ".fbin", "move it away"],
    );
}

/// Runs `test` of this file, which is ignored otherwise, in a process of its own, prepared by the
/// words of the shell in `first`.
fn in_child(root: &Path, test: &str, first: &str) {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("{first} exec \"$0\" {test} --exact --ignored"))
        .arg(std::env::current_exe().unwrap())
        .env(ROOT, root)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

/// Opens the set of the parent; nothing where there is none. No fixture is made: it would need a
/// temporary folder.
fn open_of_parent(then: impl FnOnce(Result<Dataset, DatasetError>, &OpenOptions<'_>)) {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    let options = OpenOptions {
        accept_checksum: false,
        narrow: false,
        pool: &pool.build().unwrap(),
        watch: &|_| ControlFlow::Continue(()),
    };
    let entry = Catalogue::new(Path::new(&root)).entry("set").unwrap();
    then(Dataset::open(&entry, &options), &options);
}

#[test]
fn a_full_disk() {
    let fixture = Fixture::new();
    set(&fixture, "fvecs");
    // A limit on the size of files stands in for the disk; without the signal, writes fail.
    in_child(
        fixture.root(),
        "full_disk_child",
        "trap '' XFSZ; ulimit -f 8;",
    );
    let kept = std::fs::read_dir(fixture.root().join(".cache/flat")).unwrap();
    assert_eq!(kept.count(), 0);
    // Once there is room it goes on.
    fixture.open(&fixture.entry("set").unwrap()).unwrap();
}

#[test]
#[ignore = "run by a_full_disk"]
fn full_disk_child() {
    open_of_parent(|opened, _| {
        let refusal = opened.unwrap_err().to_string();
        assert_words(
            &refusal,
            &["cannot write", ".cache/flat", ".fbin", "ulimit -f"],
        );
    });
}

/// Opening needs the datasets' own cache only.
#[test]
fn no_folder_for_temporary_files() {
    let fixture = Fixture::new();
    set(&fixture, "fvecs");
    in_child(
        fixture.root(),
        "no_temporary_folder_child",
        "export TMPDIR=/nowhere/at/all;",
    );
}

#[test]
#[ignore = "run by no_folder_for_temporary_files"]
fn no_temporary_folder_child() {
    open_of_parent(|opened, options| {
        assert!(tempfile::tempdir().is_err());
        let truth = opened.unwrap().truth(5, options).unwrap();
        assert_eq!(truth.not_kept(), None);
    });
}
