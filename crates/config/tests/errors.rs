//! What a user reads when a sweep or a campaign is refused: every `tests/golden/errors/NAME.yaml`
//! and its screen, `NAME.txt`. After a change that is meant, write the screens anew with
//! `ANNBENCH_BLESS=1 cargo test -p annbench-config` and read their diff.

use annbench_config::{Document, ErrorKind, decode};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/errors")
}

#[test]
fn every_refusal_shows_its_screen() {
    let bless = std::env::var_os("ANNBENCH_BLESS").is_some();
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    assert!(names.len() > 70);
    let mut wrong = Vec::new();
    for name in names {
        let text = std::fs::read_to_string(folder().join(&name)).expect(&name);
        let screen = match Document::parse(&name, &text) {
            Ok(_) => panic!("{name} was accepted"),
            Err(error) => {
                let (file, line, column) = error.place().expect("a place");
                assert!(line >= 1 && column >= 1 && file == name);
                let screen = error.to_string();
                assert!(screen.contains("\n  next      "), "no next step:\n{screen}");
                assert!(
                    screen.lines().all(|line| line.chars().count() < 200),
                    "too wide:\n{screen}"
                );
                screen + "\n"
            }
        };
        let golden = folder().join(name.replace(".yaml", ".txt"));
        if bless {
            std::fs::write(&golden, &screen).expect("writable");
        } else {
            let expected = std::fs::read_to_string(&golden).unwrap_or_default();
            if expected != screen {
                wrong.push(format!("{name}: expected\n{expected}found\n{screen}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bytes_that_are_no_text_are_placed() {
    let error = decode("a.yaml", b"adapter: x\ngroups: \xff\n").expect_err("not UTF-8");
    assert_eq!(error.kind(), ErrorKind::Encoding);
    assert_eq!(error.place(), Some(("a.yaml", 2, 9)));
    assert!(error.to_string().contains("the byte 0xff at offset 19"));
    let utf16 = decode("a.yaml", b"\xff\xfea\0").expect_err("UTF-16");
    assert!(utf16.to_string().contains("UTF-16"));
    assert_eq!(decode("a.yaml", "größe".as_bytes()), Ok("größe"));
}

#[test]
fn control_characters_and_huge_files_are_refused() {
    let error = Document::parse("a.yaml", "adapter: a\r\ngroups: \0{}").expect_err("a NUL");
    assert_eq!(error.kind(), ErrorKind::Encoding);
    assert_eq!(error.place(), Some(("a.yaml", 2, 9)));
    let error = Document::parse("a.yaml", &"#\n".repeat(1 << 20)).expect_err("2 MiB");
    assert_eq!(error.kind(), ErrorKind::TooLarge);
}

#[test]
fn a_byte_order_mark_does_not_shift_columns() {
    let error = Document::parse("a.yaml", "\u{feff}adaptor: a\n").expect_err("a wrong key");
    assert_eq!(error.place(), Some(("a.yaml", 1, 1)));
}

#[test]
fn nesting_of_every_kind_is_bounded() {
    for text in [
        "[".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        "{a: ".repeat(100_000),
        "a: &a [".repeat(5_000),
        (0..5_000)
            .map(|depth| format!("{}a:\n", " ".repeat(depth)))
            .collect::<String>()[..1 << 20]
            .to_owned(),
    ] {
        let error = Document::parse("a.yaml", &text).expect_err("too deep");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::TooLarge | ErrorKind::Type | ErrorKind::Syntax
            ),
            "{error}"
        );
    }
}
