//! What a user reads when an entry is refused: every `tests/golden/entries/NAME.yaml` and its
//! screen, `NAME.txt`. After a change that is meant, write the screens anew with
//! `ANNBENCH_BLESS=1 cargo test -p annbench-dataset --test entry_errors` and read their diff.

#![allow(clippy::unwrap_used)]

use annbench_dataset::{Catalogue, DatasetError};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/entries")
}

#[test]
fn every_refusal_shows_its_screen() {
    let bless = std::env::var_os("ANNBENCH_BLESS").is_some();
    let catalogue = Catalogue::new(folder());
    let names = catalogue.names().unwrap();
    assert!(names.len() > 30);
    let mut wrong = Vec::new();
    for name in names {
        let path = folder().join(format!("{name}.yaml"));
        let error = match catalogue.entry(path.to_str().unwrap()) {
            Err(DatasetError::Entry(error)) => error,
            other => panic!("{name}: {other:?}"),
        };
        let (file, line, column) = error.place().unwrap();
        assert!(line >= 1 && column >= 1 && Path::new(file) == path);
        let above = format!("{}/", folder().display());
        let screen = error.to_string().replace(&above, "") + "\n";
        assert!(screen.contains("\n  next      "), "no next step:\n{screen}");
        assert!(
            screen.lines().all(|line| line.chars().count() < 200),
            "too wide:\n{screen}"
        );
        let golden = path.with_extension("txt");
        if bless {
            std::fs::write(&golden, &screen).unwrap();
        } else {
            let expected = std::fs::read_to_string(&golden).unwrap_or_default();
            if expected != screen {
                wrong.push(format!("{name}: expected\n{expected}found\n{screen}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pieces of which entries are made, so that random texts get past the first line.
fn pieces() -> impl Strategy<Value = String> {
    let whole = include_str!("../../../datasets/siftsmall.yaml");
    let lines: Vec<String> = whole.lines().map(|line| format!("{line}\n")).collect();
    let words = [
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        "\n",
        "\n  ",
        "- ",
        "&a ",
        "*a",
        "<<: *a\n",
        "!!int ",
        "|\n",
        "\"",
        "'",
        "#",
        "---\n",
        "~",
        "1_000",
        "0o7",
        ".inf",
        "hdf5",
        "folder: x\n",
        "\t",
        "\r\n",
        "\u{feff}",
        "é網",
        "\0",
    ];
    let words: Vec<String> = words
        .iter()
        .map(|&word| word.to_owned())
        .chain(lines)
        .collect();
    prop::collection::vec(prop::sample::select(words), 0..40).prop_map(|words| words.concat())
}

fn refused_or_read(bytes: &[u8]) {
    thread_local! {
        static PLACE: tempfile::TempDir = tempfile::tempdir().unwrap();
    }
    PLACE.with(|place| {
        std::fs::write(place.path().join("siftsmall.yaml"), bytes).unwrap();
        match Catalogue::new(place.path()).entry("siftsmall") {
            Ok(entry) => assert_eq!(entry.name, "siftsmall"),
            Err(DatasetError::Entry(error)) => {
                let screen = error.to_string();
                assert!(screen.lines().nth(3).unwrap().contains('^'), "{screen}");
            }
            Err(other) => panic!("{other}"),
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        refused_or_read(&bytes);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        refused_or_read(text.as_bytes());
    }

    #[test]
    fn any_heap_of_an_entry_is_read_or_refused(text in pieces()) {
        refused_or_read(text.as_bytes());
    }

    /// A valid entry with one character changed is still read or refused, never a panic.
    #[test]
    fn a_damaged_entry_is_read_or_refused(at in 0usize..2000, with in any::<char>()) {
        let whole = include_str!("../../../datasets/siftsmall.yaml");
        let mut chars: Vec<char> = whole.chars().collect();
        let at = at % chars.len();
        chars[at] = with;
        refused_or_read(chars.into_iter().collect::<String>().as_bytes());
    }
}
