//! A set that is written in another layout is the same set.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{ElementType, Metric};
use annbench_dataset::{Catalogue, Dataset, Export, ExportError, Exported, Format, Truth, export};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use support::*;

const LAYOUTS: [Format; 8] = [
    Format::Fvecs,
    Format::Bvecs,
    Format::Fbin,
    Format::F16bin,
    Format::I8bin,
    Format::U8bin,
    Format::Npy,
    Format::Hdf5,
];

fn write_to(
    fixture: &Fixture,
    dataset: &Dataset,
    truth: Option<&Arc<Truth>>,
    format: Format,
    name: &str,
) -> Result<Exported, ExportError> {
    let wanted = Export {
        name,
        format,
        element: None,
        dir: &fixture.root().join("out").join(name),
    };
    export(
        dataset,
        truth.map(|truth| &**truth),
        &wanted,
        &fixture.options(),
    )
}

/// Opens a set by the path of its entry, as a user would.
fn reopen(fixture: &Fixture, exported: &Exported) -> Dataset {
    let path = exported.entry_path.to_str().unwrap();
    let entry = fixture.catalogue().entry(path).unwrap();
    assert_eq!(
        (&entry.base, &entry.queries, &entry.truth, &entry.files),
        (
            &exported.entry.base,
            &exported.entry.queries,
            &exported.entry.truth,
            &exported.entry.files
        )
    );
    fixture.open(&entry).unwrap()
}

/// Components' bytes of a row of every element type that are values of it.
fn made(fixture: &Fixture, element: ElementType, n: usize, dim: usize, seed: u64) -> Dataset {
    let rows = |n: usize, seed: u64| {
        let raw = bytes(n * dim, seed);
        match element {
            ElementType::F32 => raw
                .iter()
                .flat_map(|&b| (f32::from(b) * 0.1 - 7.0).to_le_bytes())
                .collect(),
            ElementType::F16 => raw
                .iter()
                .flat_map(|&b| half::f16::from_f32(f32::from(b) * 0.1 - 7.0).to_le_bytes())
                .collect(),
            ElementType::Bits => packed(&raw.iter().map(|b| b >> 7).collect::<Vec<_>>(), dim),
            _ => raw,
        }
    };
    let (format, metric, width) = match element {
        ElementType::F32 => ("fbin", "cosine", dim),
        ElementType::F16 => ("f16bin", "inner_product", dim),
        ElementType::I8 => ("i8bin", "l2", dim),
        ElementType::U8 => ("u8bin", "l2", dim),
        _ => ("u8bin", "hamming", dim.div_ceil(8)),
    };
    let m = 3;
    fixture.write("made", "base", &flat(n, width, &rows(n, seed)));
    fixture.write("made", "queries", &flat(m, width, &rows(m, seed + 1)));
    let entry = fixture.yaml(
        "made",
        &format!(
            "metric: {metric}\nelement: {element}\ndim: {dim}\n\
             base: {{ file: base, format: {format}, rows: {n} }}\n\
             queries: {{ file: queries, format: {format}, rows: {m} }}\n"
        ),
    );
    fixture.open(&entry).unwrap()
}

fn tables() -> impl Strategy<Value = ElementType> {
    prop_oneof![
        Just(ElementType::F32),
        Just(ElementType::F16),
        Just(ElementType::I8),
        Just(ElementType::U8),
        Just(ElementType::Bits),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// From every element type through every layout and back: the fingerprints stay, those of vectors
    /// that became others and came back too.
    #[test]
    fn there_and_back(element in tables(), n in 4usize..40, dim in 1usize..20, seed in any::<u32>()) {
        let fixture = Fixture::new();
        let set = made(&fixture, element, n, dim, u64::from(seed));
        let truth = set.truth(3, &fixture.options()).unwrap();
        let mut written = 0;
        for format in LAYOUTS {
            let there = match write_to(&fixture, &set, Some(&truth), format, &format!("to-{format}")) {
                Ok(there) => there,
                Err(ExportError::Layout { .. } | ExportError::Loss { .. }) => continue,
                Err(error) => panic!("{element} to {format}: {error}"),
            };
            written += 1;
            let there = reopen(&fixture, &there);
            let same = there.element() == element;
            if same {
                prop_assert_eq!(there.base_fingerprint(), set.base_fingerprint());
                prop_assert_eq!(there.queries_fingerprint(), set.queries_fingerprint());
                prop_assert_eq!(there.shipped_truth().unwrap().fingerprint(), truth.fingerprint());
            }
            let wanted = Export {
                name: "back",
                format: Format::Npy,
                element: Some(element),
                dir: &fixture.root().join(format!("out/back-{format}")),
            };
            let shipped = there.shipped_truth().map(|truth| &**truth);
            let back = export(&there, shipped, &wanted, &fixture.options()).unwrap();
            let back = reopen(&fixture, &back);
            prop_assert_eq!(back.base_fingerprint(), set.base_fingerprint());
            prop_assert_eq!(back.queries_fingerprint(), set.queries_fingerprint());
            let (ids, distances) = back.shipped_truth().unwrap().row(0);
            prop_assert_eq!((ids, distances), truth.row(0));
        }
        prop_assert!(written >= 2, "{} went into {} layouts", element, written);
    }
}

#[test]
fn files_have_the_bytes_of_their_layouts() {
    let fixture = Fixture::new();
    fixture.write("made", "base", &flat(3, 2, &[1, 2, 3, 4, 5, 6]));
    fixture.write("made", "queries", &flat(1, 2, &[4, 5]));
    let entry = fixture.yaml(
        "made",
        "metric: l2\nelement: u8\ndim: 2\nbase: { file: base, format: u8bin, rows: 3 }\n\
         queries: { file: queries, format: u8bin, rows: 1 }\nnotes: [ \"said \\\"so\\\"\" ]\n",
    );
    let set = fixture.open(&entry).unwrap();
    // Squared distances 18, 2 and 2.
    let truth = set.truth(3, &fixture.options()).unwrap();
    assert_eq!(truth.ids(), [1, 2, 0]);
    let file = |name: &str, file: &str| {
        std::fs::read(fixture.root().join("out").join(name).join(file)).unwrap()
    };

    write_to(&fixture, &set, Some(&truth), Format::Bvecs, "b").unwrap();
    let rows = [[1, 2], [3, 4], [5, 6]].concat();
    assert_eq!(file("b", "base.bvecs"), texmex(2, 2, &rows));
    assert_eq!(file("b", "queries.bvecs"), texmex(2, 2, &[4, 5]));
    assert_eq!(file("b", "truth.ivecs"), words(&[3, 1, 2, 0]));

    write_to(&fixture, &set, Some(&truth), Format::Fbin, "f").unwrap();
    assert_eq!(file("f", "base.fbin"), flat(3, 2, &floats(&widen(&rows))));
    assert_eq!(file("f", "truth.ibin"), words(&[1, 3, 1, 2, 0]));

    write_to(&fixture, &set, Some(&truth), Format::Npy, "n").unwrap();
    assert_eq!(file("n", "base.npy"), npy("|u1", (3, 2), &rows));
    assert_eq!(
        file("n", "truth.npy"),
        npy("<u4", (1, 3), &words(&[1, 2, 0]))
    );

    let hdf5 = write_to(&fixture, &set, Some(&truth), Format::Hdf5, "h").unwrap();
    let read = hdf5_metno::File::open(fixture.root().join("out/h/h.hdf5")).unwrap();
    let distances = read
        .dataset("distances")
        .unwrap()
        .read_raw::<f64>()
        .unwrap();
    assert_eq!(distances, [2f64.sqrt(), 2f64.sqrt(), 18f64.sqrt()]);
    let text = read.attr("distance").unwrap();
    let text = text
        .read_scalar::<hdf5_metno::types::VarLenUnicode>()
        .unwrap();
    assert_eq!(text.as_str(), "euclidean");
    assert_eq!(
        read.attr("dimension")
            .unwrap()
            .read_scalar::<i64>()
            .unwrap(),
        2
    );

    // The entry tells where it all came from.
    assert_eq!(hdf5.entry.notes[0], "said \"so\"");
    assert_words(&hdf5.entry.notes[1], &["`made`", set.base_fingerprint()]);
    assert_eq!(hdf5.entry.licence, "CC0-1.0");
    let reopened = reopen(&fixture, &hdf5);
    assert_eq!(reopened.entry().notes, hdf5.entry.notes);
    assert!(reopened.notes().is_empty(), "{:?}", reopened.notes());
}

#[test]
fn without_truth_none_is_written() {
    let fixture = Fixture::new();
    let set = made(&fixture, ElementType::U8, 5, 3, 1);
    let there = write_to(&fixture, &set, None, Format::U8bin, "x").unwrap();
    assert!(there.entry.truth.is_none());
    let names = std::fs::read_dir(fixture.root().join("out/x")).unwrap();
    let mut names: Vec<_> = names.map(|item| item.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["base.u8bin", "queries.u8bin", "x.yaml"]);
}

/// The value, its place, and nothing left behind.
#[test]
fn a_value_that_would_be_lost_is_named() {
    let fixture = Fixture::new();
    let refuse = |values: &[f32], format: Format| {
        fixture.write("lossy", "base", &flat(2, 2, &floats(values)));
        fixture.write("lossy", "queries", &flat(1, 2, &floats(&[1.0, 1.0])));
        let entry = fixture.yaml(
            "lossy",
            "metric: l2\nelement: f32\ndim: 2\nbase: { file: base, format: fbin, rows: 2 }\n\
             queries: { file: queries, format: fbin, rows: 1 }\n",
        );
        let set = fixture.open(&entry).unwrap();
        let refusal = write_to(&fixture, &set, None, format, "never").unwrap_err();
        let left = std::fs::read_dir(fixture.root().join("out"));
        assert_eq!(left.map_or(0, Iterator::count), 0, "something was left");
        refusal.to_string()
    };
    assert_words(
        &refuse(&[1.0, 2.0, 0.5, 4.0], Format::U8bin),
        &[
            "base, row 1, component 0",
            "a value of u8",
            "found 0.5",
            "fbin",
        ],
    );
    assert_words(
        &refuse(&[1.0, 2.0, 0.0, 256.0], Format::U8bin),
        &["component 1", "found 256"],
    );
    assert_words(
        &refuse(&[1.0, -0.0, 0.0, 3.0], Format::I8bin),
        &["row 0, component 1", "found -0"],
    );
    assert_words(
        &refuse(&[1.0, 2049.0, 0.0, 3.0], Format::F16bin),
        &["found 2049", "f16"],
    );
    let exact = [1.0, 2048.0, 0.25, 3.0];
    fixture.write("exact", "base", &flat(2, 2, &floats(&exact)));
    fixture.write("exact", "queries", &flat(1, 2, &floats(&[1.0, 1.0])));
    let entry = fixture.yaml(
        "exact",
        "metric: l2\nelement: f32\ndim: 2\nbase: { file: base, format: fbin, rows: 2 }\n\
         queries: { file: queries, format: fbin, rows: 1 }\n",
    );
    let set = fixture.open(&entry).unwrap();
    let half = write_to(&fixture, &set, None, Format::F16bin, "half").unwrap();
    assert_eq!(reopen(&fixture, &half).element(), ElementType::F16);
}

#[test]
fn layouts_that_cannot_hold_it_are_refused_with_those_that_can() {
    let fixture = Fixture::new();
    let bits = made(&fixture, ElementType::Bits, 9, 11, 3);
    let refusal = write_to(&fixture, &bits, None, Format::Fbin, "never").unwrap_err();
    assert_words(&refusal.to_string(), &["fbin", "bits", "u8bin", "hdf5"]);
    let wanted = Export {
        name: "never",
        format: Format::Npy,
        element: Some(ElementType::F32),
        dir: &fixture.root().join("never"),
    };
    let refusal = export(&bits, None, &wanted, &fixture.options()).unwrap_err();
    assert_words(&refusal.to_string(), &["bits are no numbers"]);
}

#[test]
fn nothing_is_overwritten() {
    let fixture = Fixture::new();
    let set = made(&fixture, ElementType::U8, 5, 3, 1);
    std::fs::create_dir_all(fixture.root().join("out/x")).unwrap();
    write_to(&fixture, &set, None, Format::U8bin, "x").unwrap();
    let refusal = write_to(&fixture, &set, None, Format::Npy, "x").unwrap_err();
    assert_words(&refusal.to_string(), &["out/x", "something in it", "--out"]);
    let file = fixture.root().join("a-file");
    std::fs::write(&file, "mine").unwrap();
    let wanted = |name, dir| Export {
        name,
        format: Format::U8bin,
        element: None,
        dir,
    };
    let refusal = export(&set, None, &wanted("y", &file), &fixture.options()).unwrap_err();
    assert_words(&refusal.to_string(), &["a-file", "cannot be listed"]);
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let elsewhere = fixture.root().join("z");
    let refusal = export(&set, None, &wanted("../z", &elsewhere), &fixture.options()).unwrap_err();
    assert_words(&refusal.to_string(), &["../z", "plain name"]);
    assert!(!elsewhere.exists());
}

#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let fixture = Fixture::new();
    let set = made(&fixture, ElementType::U8, 50, 3, 1);
    let mut options = fixture.options();
    options.watch = &|progress| match progress.activity {
        annbench_dataset::Activity::Write => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    };
    let out = fixture.root().join("out/x");
    let wanted = Export {
        name: "x",
        format: Format::Fvecs,
        element: None,
        dir: &out,
    };
    let refusal = export(&set, None, &wanted, &options).unwrap_err();
    assert_words(&refusal.to_string(), &["cancelled"]);
    assert_eq!(
        std::fs::read_dir(fixture.root().join("out"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn sets_go_from_hdf5_to_hdf5_and_nowhere_else() {
    let fixture = Fixture::new();
    let path = fixture.place("sets", "s.hdf5");
    let file = hdf5_metno::File::create(&path).unwrap();
    for (name, sizes, members) in [
        ("train", vec![2i64, 0, 3], vec![4i64, 1, 0, 2, 6]),
        ("test", vec![1], vec![4]),
    ] {
        let list = |name: &str, values: &[i64]| {
            let dataset = file
                .new_dataset::<i64>()
                .shape(values.len())
                .create(name)
                .unwrap();
            dataset.write_raw(values).unwrap();
        };
        list(name, &members);
        list(&format!("size_{name}"), &sizes);
    }
    drop(file);
    age(&path);
    let entry = fixture.yaml(
        "sets",
        "metric: jaccard\nelement: sets\ndim: 7\n\
         base: { file: s.hdf5, format: hdf5, dataset: train, rows: 3 }\n\
         queries: { file: s.hdf5, format: hdf5, dataset: test, rows: 1 }\n",
    );
    let set = fixture.open(&entry).unwrap();
    let truth = set.truth(2, &fixture.options()).unwrap();
    let there = write_to(&fixture, &set, Some(&truth), Format::Hdf5, "x").unwrap();
    let there = reopen(&fixture, &there);
    assert_eq!(there.base_fingerprint(), set.base_fingerprint());
    assert_eq!(
        there.shipped_truth().unwrap().fingerprint(),
        truth.fingerprint()
    );
    // Their members ascend now.
    assert!(
        there.notes().iter().all(|note| !note.contains("ascend")),
        "{:?}",
        there.notes()
    );
    let refusal = write_to(&fixture, &set, None, Format::Npy, "y").unwrap_err();
    assert_words(&refusal.to_string(), &["sets", "`hdf5`"]);
}

/// What an entry is written as reads as the same entry, for all of the catalogue and for texts with
/// everything in them that YAML has a meaning for.
#[test]
fn entries_read_as_they_were_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let fixture = Fixture::new();
    let ours = Catalogue::new(root);
    for name in ours.names().unwrap() {
        let mut entry = ours.entry(&name).unwrap();
        let path = fixture.root().join(format!("{name}.yaml"));
        std::fs::write(&path, entry.to_yaml()).unwrap();
        let read = fixture.entry(&name).unwrap();
        entry.places = read.places.clone();
        assert_eq!(read, entry, "{}", entry.to_yaml());
    }
}

proptest! {
    #[test]
    fn texts_survive_yaml(text in "\\PC{1,40}", note in "[ -~\n\t]{1,40}") {
        // What ends a text is not part of it.
        let (text, note) = (text.trim_end(), note.trim_end());
        prop_assume!(!text.is_empty() && !note.is_empty());
        thread_local! { static FIXTURE: Fixture = Fixture::new(); }
        FIXTURE.with(|fixture| {
            let mut entry = fixture.yaml(
                "t",
                "metric: l2\nelement: u8\ndim: 2\nbase: { file: b, format: u8bin, rows: 3 }\n\
                 queries: { file: q, format: u8bin, rows: 3 }\n",
            );
            assert_eq!(entry.metric, Metric::L2);
            entry.description = text.to_owned();
            entry.base.file = text.to_owned();
            entry.notes = vec![note.to_owned(), text.to_owned()];
            std::fs::write(fixture.root().join("t.yaml"), entry.to_yaml()).unwrap();
            let read = fixture.entry("t").unwrap();
            assert_eq!(read, entry, "{}", entry.to_yaml());
        });
    }
}
