//! Entries: the committed ones, and what is wrong with others.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{ElementType, Metric};
use annbench_dataset::{Catalogue, FileState};
use std::path::Path;
use support::*;

fn committed() -> Catalogue {
    Catalogue::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets"))
}

#[test]
fn every_committed_entry_is_read() {
    let catalogue = committed();
    let names = catalogue.names().unwrap();
    for name in [
        "deep-100m",
        "deep-10m",
        "deep-1b",
        "deep-image-96-angular",
        "gist-960-euclidean",
        "gist1m",
        "glove-100-angular",
        "sift-128-euclidean",
        "sift1m",
        "siftimg-50k-128-euclidean",
        "siftsmall",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    for name in names {
        let entry = catalogue.entry(&name).unwrap();
        for status in entry.file_statuses() {
            assert!(status.facts.bytes.is_some(), "{name}: {}", status.file);
        }
    }
    let sift = catalogue.entry("sift1m").unwrap();
    assert_eq!(
        (
            sift.n(),
            sift.queries.n(),
            sift.dim,
            sift.metric,
            sift.element
        ),
        (1_000_000, 10_000, 128, Metric::L2, ElementType::F32)
    );
    let slice = catalogue.entry("deep-100m").unwrap();
    assert_eq!((slice.n(), slice.base.rows), (100_000_000, 1_000_000_000));
    let belongs = &slice.file_statuses()[0].belongs;
    assert!(
        belongs.ends_with("downloads/deep/base.1B.fbin"),
        "{belongs:?}"
    );
}

#[test]
fn a_file_of_several_roles_is_listed_once() {
    let entry = committed().entry("glove-100-angular").unwrap();
    let [status] = &entry.file_statuses()[..] else {
        panic!("{:?}", entry.file_statuses());
    };
    assert_eq!(status.roles, ["base", "queries", "truth"]);
    assert_eq!(status.facts.bytes, Some(485_413_888));
}

#[test]
fn a_missing_file_of_an_archive_is_to_be_unpacked() {
    let fixture = Fixture::new();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/siftsmall.yaml");
    std::fs::copy(committed, fixture.root().join("siftsmall.yaml")).unwrap();
    let entry = fixture.entry("siftsmall").unwrap();
    let refusal = fixture.refusal(&entry);
    assert_words(
        &refusal,
        &[
            "siftsmall.tar.gz, unpack it",
            "siftsmall_query.fvecs is missing",
        ],
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let text = committed().entry("sift1n").unwrap_err().to_string();
    assert_words(&text, &["no dataset `sift1n`", "did you mean `sift1m`?"]);
    let text = committed().entry("../sift1m").unwrap_err().to_string();
    assert_words(&text, &["no dataset"]);
    let text = committed().entry("zzzzzzzzzzzz").unwrap_err().to_string();
    assert_words(&text, &["known:", "glove-100-angular"]);
}

#[test]
fn files_are_found_in_every_place_in_order() {
    let fixture = Fixture::new();
    let entry = fixture.yaml("set", &sound());
    let extra = tempfile::tempdir().unwrap();
    std::fs::write(extra.path().join("a"), flat(3, 2, &[0; 6])).unwrap();
    std::fs::write(extra.path().join("q"), flat(1, 2, &[0; 2])).unwrap();
    assert_eq!(entry.places.find("a"), None);
    let with_extra = fixture.catalogue().with_extra(extra.path());
    let entry = with_extra.entry("set").unwrap();
    assert_eq!(entry.places.find("a"), Some(extra.path().join("a")));
    fixture.open(&entry).unwrap();
    let downloaded = fixture.write("set", "a", &flat(3, 2, &[0; 6]));
    assert_eq!(entry.places.find("a"), Some(downloaded));
    std::fs::create_dir(fixture.root().join("set")).unwrap();
    let embedded = fixture.root().join("set/a");
    std::fs::write(&embedded, flat(3, 2, &[0; 6])).unwrap();
    assert_eq!(entry.places.find("a"), Some(embedded));

    // An entry of the user's own, with its files beside it.
    let own = tempfile::tempdir().unwrap();
    let yaml = fixture.root().join("set.yaml");
    std::fs::copy(yaml, own.path().join("set.yaml")).unwrap();
    std::fs::write(own.path().join("q"), flat(1, 2, &[0; 2])).unwrap();
    let path = own.path().join("set.yaml");
    let entry = fixture.catalogue().entry(path.to_str().unwrap()).unwrap();
    let found = entry.file_statuses().remove(1).state;
    assert_eq!(
        found,
        FileState::Present {
            path: own.path().join("q"),
            bytes: 10
        }
    );
}

fn sound() -> String {
    "metric: l2\nelement: u8\ndim: 2\n\
     base: { file: a, format: u8bin, rows: 3 }\n\
     queries: { file: q, format: u8bin, rows: 1 }\n"
        .to_owned()
}

const HEAD: &str = "name: set\ndescription: made\nsource: made\nlicence: CC0-1.0\n";

fn refusal(text: &str) -> String {
    let fixture = Fixture::new();
    std::fs::write(fixture.root().join("set.yaml"), text).unwrap();
    fixture.entry("set").unwrap_err().to_string()
}

fn changed(from: &str, to: &str) -> String {
    let whole = format!("{HEAD}{}", sound());
    assert!(whole.contains(from), "{from}");
    refusal(&whole.replace(from, to))
}

#[test]
fn an_error_shows_the_line_with_a_caret() {
    let text = changed("rows: 3", "rows: three");
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(
        first.ends_with("set.yaml:8:39: `rows` has the wrong type"),
        "{text}"
    );
    let line = "base: { file: a, format: u8bin, rows: three }";
    let excerpt = format!("   |\n 8 | {line}\n   | {}^^^^^\n", " ".repeat(38));
    assert!(rest.starts_with(&excerpt), "{text}");
}

#[test]
fn a_misspelt_key_is_not_reported_as_a_missing_one() {
    for (from, to) in [
        ("description: made", "desc: made"),
        ("element: u8", "elment: u8"),
    ] {
        let (key, meant) = (
            to.split(':').next().unwrap(),
            from.split(':').next().unwrap(),
        );
        assert_words(
            &changed(from, to),
            &[
                &format!("has no key `{key}`"),
                &format!("did you mean `{meant}`?"),
            ],
        );
    }
}

#[test]
fn keys_that_are_unknown_duplicate_or_mistyped_are_refused() {
    assert_words(
        &changed("dim: 2\n", "dim: 2\nnots: [a]\n"),
        &["no key `nots`", "did you mean `notes`?", ":8:1"],
    );
    assert_words(
        &changed("rows: 1 }", "rows: 1, row: 2 }"),
        &["`queries` has no key `row`", "`rows`"],
    );
    assert_words(
        &changed("dim: 2\n", "dim: 2\ndim: 3\n"),
        &["given twice", ":8:1"],
    );
    for dim in ["0", "-2", "5000000000"] {
        assert_words(
            &changed("dim: 2", &format!("dim: {dim}")),
            &["`dim` is out of range", "from 1 to 4294967295", dim],
        );
    }
    assert_words(&changed("dim: 2", "dim: two"), &["`dim`", "the text `two`"]);
    assert_words(&changed("dim: 2", "dim: 2.5"), &["`dim`", "the number 2.5"]);
    assert_words(&changed("dim: 2", "dim: 1_024"), &["`dim`", "write 1024"]);
    assert_words(
        &changed("metric: l2", "metric: euclidean"),
        &["`l2`, `inner_product`, `cosine`", "`euclidean`"],
    );
    assert_words(
        &changed("element: u8", "element: f64"),
        &["`f32`, `f16`, `i8`, `u8`, `bits`, `sets`", "`f64`"],
    );
    assert_words(
        &changed("description: made", "description: 7"),
        &["`description`", "text", "the integer 7"],
    );
    assert_words(&changed("dim: 2\n", "dim: 2\nnotes: []\n"), &["`notes`"]);
}

#[test]
fn parts_that_contradict_each_other_are_refused() {
    assert_words(
        &changed("u8bin", "fbin"),
        &["`base`", "fbin holds f32", "`element` is u8"],
    );
    assert_words(
        &changed("u8bin", "bin"),
        &["`format`", "one of `fvecs`", "did you mean"],
    );
    assert_words(&changed("u8bin", "ivecs"), &["neighbours, not vectors"]);
    assert_words(&changed("u8bin", "hdf5"), &["`dataset` is missing"]);
    assert_words(
        &changed("rows: 3", "rows: 3, dataset: train"),
        &["only HDF5 files"],
    );
    assert_words(
        &changed("rows: 3", "rows: 3, take_first: 4"),
        &["`take_first`, of the 3 rows", "from 1 to 3"],
    );
    assert_words(
        &changed(
            "dim: 2\n",
            "dim: 2\ntruth: { file: t, format: ibin, width: 4 }\n",
        ),
        &["`truth`", "width 4", "3 base rows"],
    );
    assert_words(
        &changed(
            "dim: 2\n",
            "dim: 2\ntruth: { file: t, format: fbin, width: 1 }\n",
        ),
        &["vectors, not neighbours"],
    );
}

#[test]
fn names_say_what_is_wrong_with_them() {
    assert_words(
        &changed("name: set", "name: other"),
        &["differs from the name of its file", "`set`", "`other`"],
    );
    assert_words(
        &changed("name: set", "name: a/b"),
        &[
            "no plain name",
            "letters, digits, `-`, `_` and `.`",
            "`a/b`",
        ],
    );
    assert_words(
        &changed("dim: 2\n", "dim: 2\nfolder: ../x\n"),
        &["`folder`", "plain name", "letters, digits"],
    );
}

#[test]
fn facts_of_files_are_checked() {
    // At the key, not at its value.
    assert_words(
        &changed("dim: 2\n", "dim: 2\nfiles: { b: { bytes: 1 } }\n"),
        &["nothing uses `b`", ":8:10:", "\n   |          ^\n"],
    );
    assert_words(
        &changed("dim: 2\n", "dim: 2\nfiles: { a: { sha256: abc } }\n"),
        &["64 hexadecimal digits", "`abc`"],
    );
    assert_words(
        &changed("dim: 2\n", "dim: 2\nfiles: { a: { sha256: 123 } }\n"),
        &["`sha256`", "in quotes", "the integer 123"],
    );
    let digits = "1".repeat(64);
    assert_words(
        &changed(
            "dim: 2\n",
            &format!("dim: 2\nfiles: {{ a: {{ sha256: {digits} }} }}\n"),
        ),
        &["beyond 64 bits", "quote it"],
    );
}

#[test]
fn text_that_is_no_mapping_or_no_yaml_is_refused() {
    assert_words(&refusal(""), &["empty", "datasets/README.md"]);
    assert_words(
        &refusal("- a\n- b\n"),
        &["a dataset entry has the wrong type", "a mapping", "a list"],
    );
    assert_words(&refusal("name: [unclosed\n"), &["set.yaml:"]);
    assert_words(&refusal("a: 1\n---\nb: 2\n"), &["one YAML document"]);
    assert_words(&refusal("<<: *x\n"), &["set.yaml:1:"]);
}

#[test]
fn what_is_no_file_is_no_entry() {
    let fixture = Fixture::new();
    let folder = fixture.root().join("folder.yaml");
    std::fs::create_dir(&folder).unwrap();
    let text = fixture.entry(folder.to_str().unwrap()).unwrap_err();
    assert_words(
        &text.to_string(),
        &["folder.yaml", "a directory", "a file of YAML", "a name"],
    );
    let text = fixture.entry("/none/there.yaml").unwrap_err().to_string();
    assert_words(&text, &["/none/there.yaml", "check that the path exists"]);
}

#[test]
fn bytes_that_are_no_text_are_placed() {
    let fixture = Fixture::new();
    std::fs::write(fixture.root().join("set.yaml"), b"name: set\nsource: \xff").unwrap();
    let text = fixture.entry("set").unwrap_err().to_string();
    assert_words(&text, &["set.yaml:2:9:", "not UTF-8", "0xff"]);
}
