//! What is no file in place of one: refused by name, and never waited for.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{Catalogue, Entry};
use std::path::Path;
use std::process::Command;
use support::*;

const N: usize = 20;
const DIM: usize = 4;

/// A sound set but for `base`, of which it has none yet.
fn set(fixture: &Fixture, base: &str, format: &str) -> Entry {
    fixture.write("set", "queries", &flat(1, DIM, &[1, 2, 3, 4]));
    fixture.yaml(
        "set",
        &format!(
            "metric: l2\nelement: u8\ndim: {DIM}\n\
             base: {{ file: {base}, format: {format}, rows: {N} }}\n\
             queries: {{ file: queries, format: u8bin, rows: 1 }}\n"
        ),
    )
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn in_place_of_a_file_of_the_dataset() {
    type Make = fn(&Path);
    let kinds: [(Make, &str); 4] = [
        (|path| std::fs::create_dir(path).unwrap(), "a directory"),
        (make_fifo, "FIFO"),
        (
            |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
            "a socket",
        ),
        (
            |path| std::os::unix::fs::symlink("gone", path).unwrap(),
            "a symbolic link to what is not there",
        ),
    ];
    for (make, word) in kinds {
        let fixture = Fixture::new();
        let entry = set(&fixture, "base", "u8bin");
        make(&fixture.place("set", "base"));
        let refusal = fixture.refusal(&entry);
        let words = ["downloads/set/base", "regular file", word, "move it away"];
        assert_words(&refusal, &words);
    }
}

#[test]
fn a_device_and_a_directory_by_path() {
    let fixture = Fixture::new();
    for format in ["u8bin", "bvecs"] {
        let refusal = fixture.refusal(&set(&fixture, "/dev/null", format));
        assert_words(&refusal, &["/dev/null", "a device"]);
        let refusal = fixture.refusal(&set(&fixture, "/", format));
        assert_words(&refusal, &["a directory"]);
    }
}

#[test]
fn in_place_of_the_entry() {
    let fixture = Fixture::new();
    let path = fixture.root().join("pipe.yaml");
    make_fifo(&path);
    let refusal = fixture.entry(path.to_str().unwrap()).unwrap_err();
    assert_words(&refusal.to_string(), &["pipe.yaml", "FIFO"]);
    let by_name = fixture.entry("pipe").unwrap_err().to_string();
    let next = "`annbench datasets list`";
    assert_words(&by_name, &["pipe.yaml", "FIFO", next]);
    assert!(!by_name.contains("did you mean"), "{by_name}");
}

#[test]
fn in_place_of_the_folder_of_entries() {
    let fixture = Fixture::new();
    let (none, file) = (fixture.root().join("none"), fixture.root().join("file"));
    std::fs::write(&file, b"").unwrap();
    for (root, found) in [(none, "found nothing"), (file, "found a file")] {
        let catalogue = Catalogue::new(&root);
        let name = root.display().to_string();
        for refusal in [
            catalogue.entry("sift").unwrap_err(),
            catalogue.names().unwrap_err(),
        ] {
            assert_words(&refusal.to_string(), &[&name, found, "--datasets DIR"]);
        }
    }
}

#[test]
fn what_is_no_file_does_not_hide_one_in_a_later_place() {
    let fixture = Fixture::new();
    let entry = set(&fixture, "base", "u8bin");
    std::fs::create_dir_all(fixture.root().join("set/base")).unwrap();
    fixture.write("set", "base", &flat(N, DIM, &bytes(N * DIM, 1)));
    fixture.open(&entry).unwrap();
}

#[test]
fn among_what_is_kept() {
    let fixture = Fixture::new();
    let entry = set(&fixture, "base", "bvecs");
    fixture.write("set", "base", &texmex(DIM, DIM, &bytes(N * DIM, 1)));
    settle();
    let first = fixture.open(&entry).unwrap();
    let truth = first.truth(3, &fixture.options()).unwrap();
    let mut replaced = 0;
    for kind in ["facts", "flat", "truth"] {
        // Truth is kept in folders of pieces.
        let mut folders = vec![fixture.root().join(".cache").join(kind)];
        while let Some(folder) = folders.pop() {
            for item in std::fs::read_dir(folder).unwrap() {
                let path = item.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                std::fs::remove_file(&path).unwrap();
                make_fifo(&path);
                replaced += 1;
            }
        }
    }
    assert!(replaced >= 5, "{replaced}");
    let again = fixture.open(&entry).unwrap();
    assert_eq!(again.base_fingerprint(), first.base_fingerprint());
    assert_eq!(again.truth(3, &fixture.options()).unwrap(), truth);
}
