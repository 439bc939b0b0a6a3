//! Entries: the committed ones, and what is wrong with others.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{ElementType, Metric};
use annbench_dataset::{Catalogue, Entry, FileState, Format};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::*;

fn committed() -> Catalogue {
    Catalogue::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets"))
}

/// All committed entries.
fn entries() -> Vec<Entry> {
    let catalogue = committed();
    let names = catalogue.names().unwrap();
    let entries = names.iter().map(|name| catalogue.entry(name));
    entries.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_committed_entry_is_read() {
    let entries = entries();
    for name in [
        "bigann-1B",
        "deep-10M",
        "glove-100-angular",
        "kosarak-jaccard",
        "msspacev-10M",
        "sift-128-euclidean",
        "siftimg-50k-128-euclidean",
        "text2image-10M",
        "vibe-glove-200-cosine",
        "wiki_all_1M",
    ] {
        assert!(entries.iter().any(|entry| entry.name == name), "{name}");
    }
    let sift = committed().entry("sift1m").unwrap();
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
    let slice = committed().entry("deep-100M").unwrap();
    assert_eq!((slice.n(), slice.base.rows), (100_000_000, 1_000_000_000));
    let belongs = &slice.file_statuses()[0].belongs;
    assert!(
        belongs.ends_with("downloads/deep/base.1B.fbin"),
        "{belongs:?}"
    );
}

#[test]
fn names_of_committed_entries_differ_in_more_than_their_case() {
    let names: BTreeSet<String> = entries()
        .iter()
        .map(|entry| entry.name.to_lowercase())
        .collect();
    assert_eq!(names.len(), entries().len());
}

#[test]
fn every_committed_entry_says_who_published_it_and_under_which_terms() {
    for entry in entries() {
        let name = &entry.name;
        assert!(entry.metric.is_defined_on(entry.element), "{name}");
        for text in [&entry.description, &entry.source, &entry.licence] {
            assert!(!text.trim().is_empty(), "{name}");
        }
        // The publisher, by which they are listed, stands before the first comma.
        let publisher = entry.source.split(',').next().unwrap();
        assert!(
            [
                "annbench",
                "ann-benchmarks.com",
                "big-ann-benchmarks.com",
                "RAPIDS cuVS",
                "TEXMEX",
                "VectorDBBench",
                "VIBE"
            ]
            .contains(&publisher),
            "{name}: {publisher}"
        );
        if entry.notes.iter().any(|note| note.contains("is computed")) {
            assert!(entry.truth.is_none(), "{name}");
        }
    }
}

/// What the layouts give for `file` of `entry`, if they give it: one size, or for neighbours one
/// without distances and one with.
fn sizes_by_layout(entry: &Entry, file: &str) -> Vec<u64> {
    let (dim, queries) = (entry.dim as u64, entry.queries.rows as u64);
    let value = match entry.element {
        ElementType::F32 => 4,
        ElementType::F16 => 2,
        ElementType::I8 | ElementType::U8 => 1,
        _ => return Vec::new(),
    };
    let rows = [&entry.base, &entry.queries]
        .into_iter()
        .find(|part| part.file == file)
        .map_or(0, |part| part.rows as u64);
    let truth = entry.truth.as_ref().filter(|truth| truth.file == file);
    let width = truth.map_or(0, |truth| truth.width as u64);
    let format = match truth {
        Some(truth) => truth.format,
        None if entry.base.file == file => entry.base.format,
        None => entry.queries.format,
    };
    match format {
        Format::Fbin | Format::F16bin | Format::I8bin | Format::U8bin => {
            vec![8 + rows * dim * value]
        }
        Format::Fvecs | Format::Bvecs => vec![rows * (4 + dim * value)],
        Format::Ivecs => vec![queries * (4 + 4 * width)],
        Format::Ibin => vec![8 + queries * width * 4, 8 + queries * width * 8],
        Format::BigannTruth => vec![8 + queries * width * 8],
        // Base, queries, neighbours and distances, and what HDF5 itself needs.
        Format::Hdf5 if value == 4 => {
            let vectors = (entry.base.rows as u64 + queries) * dim * 4;
            vec![match entry.source.split(',').next() {
                // Distances of f64 and ids of i64; one average distance of f64 per query.
                Some("VIBE") => vectors + queries * (width * 16 + 8) + 8192,
                _ => vectors + queries * width * 8 + 8288,
            }]
        }
        Format::Hdf5 | Format::Npy | Format::Parquet => Vec::new(),
    }
}

#[test]
fn sizes_of_committed_entries_are_what_their_layouts_give() {
    let mut compared = 0;
    for entry in entries() {
        for status in entry.file_statuses() {
            let at = format!("{}: {}", entry.name, status.file);
            let sizes = sizes_by_layout(&entry, &status.file);
            match status.facts.bytes {
                None => assert!(
                    matches!(entry.base.format, Format::Hdf5 | Format::Parquet),
                    "{at}"
                ),
                Some(bytes) => {
                    assert!(sizes.contains(&bytes), "{at}: {bytes}, {sizes:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
    // Published sizes, not computed ones.
    for (name, bytes) in [
        ("sift-128-euclidean", 525_128_288),
        ("arxiv-nomic-768-normalized", 4_135_431_488),
    ] {
        let entry = committed().entry(name).unwrap();
        assert_eq!(entry.file_statuses()[0].facts.bytes, Some(bytes));
    }
}

#[test]
fn committed_entries_tell_where_every_file_comes_from_and_agree_on_shared_ones() {
    let mut known = BTreeMap::new();
    for entry in entries() {
        for status in entry.file_statuses() {
            let at = format!("{}: {}", entry.name, status.file);
            let embedded = matches!(status.state, FileState::Present { .. });
            assert!(
                status.facts.url.is_some() || entry.archive.is_some() || embedded,
                "{at}"
            );
            let urls = [
                status.facts.url.as_ref(),
                entry.archive.as_ref().map(|archive| &archive.url),
            ];
            for url in urls.into_iter().flatten() {
                let secure = url.starts_with("https://") || url.starts_with("ftp://ftp.irisa.fr/");
                assert!(secure && !url.contains(char::is_whitespace), "{at}: {url}");
            }
            let facts = known
                .entry(status.belongs)
                .or_insert_with(|| status.facts.clone());
            assert_eq!(facts, &status.facts, "{at}");
        }
    }
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
    let text = committed().entry("gist1n").unwrap_err().to_string();
    assert_words(&text, &["no dataset `gist1n`", "did you mean `gist1m`?"]);
    let text = committed().entry("../sift1m").unwrap_err().to_string();
    assert_words(&text, &["no dataset"]);
    let text = committed().entry("zzzzzzzzzzzz").unwrap_err().to_string();
    assert_words(&text, &["others are known", "`annbench datasets list`"]);
    let fixture = Fixture::new();
    fixture.yaml("set", &sound());
    let text = fixture.entry("zzzzzzzzzzzz").unwrap_err().to_string();
    assert_words(&text, &["known: set"]);
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
        &["only HDF5 and parquet files"],
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
