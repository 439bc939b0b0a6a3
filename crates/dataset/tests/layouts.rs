//! The same vectors in every layout are the same dataset.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{ElementType, Metric, Vectors};
use annbench_dataset::{Dataset, Truth};
use std::path::Path;
use support::*;

const N: usize = 300;
const M: usize = 7;
const DIM: usize = 12;
const WIDTH: usize = 5;

fn base() -> Vec<u8> {
    bytes(N * DIM, 1)
}

fn queries() -> Vec<u8> {
    bytes(M * DIM, 2)
}

/// True neighbours, each row turned around: files need not be in canonical order.
fn neighbors() -> Vec<u32> {
    let (base, queries) = (base(), queries());
    let base = Vectors::from_bytes(&base, ElementType::U8, N, DIM).unwrap();
    let queries = Vectors::from_bytes(&queries, ElementType::U8, M, DIM).unwrap();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let go_on = |_, _| std::ops::ControlFlow::Continue(());
    let found = annbench_exact::search(base, queries, Metric::L2, WIDTH, &pool, &go_on).unwrap();
    found
        .ids()
        .chunks(WIDTH)
        .flat_map(|row| row.iter().rev().copied())
        .collect()
}

fn body(element: &str, format: &str, truth: &str) -> String {
    format!(
        "metric: l2\nelement: {element}\ndim: {DIM}\n\
         base: {{ file: base, format: {format}, rows: {N} }}\n\
         queries: {{ file: queries, format: {format}, rows: {M} }}\n\
         truth: {{ file: truth, format: {truth}, width: {WIDTH} }}\n"
    )
}

fn hdf5_body(element: &str) -> String {
    format!(
        "metric: l2\nelement: {element}\ndim: {DIM}\n\
         base: {{ file: all.hdf5, format: hdf5, dataset: train, rows: {N} }}\n\
         queries: {{ file: all.hdf5, format: hdf5, dataset: test, rows: {M} }}\n\
         truth: {{ file: all.hdf5, format: hdf5, dataset: neighbors, width: {WIDTH} }}\n"
    )
}

#[derive(Clone, Copy)]
struct Hdf5 {
    chunked: bool,
    ids: Ids,
}

#[derive(Clone, Copy)]
enum Ids {
    I32,
    U32,
    I64,
}

fn write_ids<T: hdf5_metno::H5Type>(file: &hdf5_metno::File, ids: Vec<T>) {
    let dataset = file.new_dataset::<T>().shape((M, WIDTH));
    let dataset = dataset.create("neighbors").unwrap();
    dataset.write_raw(&ids).unwrap();
}

fn write_hdf5<T: hdf5_metno::H5Type + Copy>(path: &Path, base: &[T], queries: &[T], kind: Hdf5) {
    let file = hdf5_metno::File::create(path).unwrap();
    for (name, data, rows) in [("train", base, N), ("test", queries, M)] {
        let builder = file.new_dataset::<T>().shape((rows, DIM));
        let dataset = if kind.chunked {
            builder.chunk((4, DIM)).create(name).unwrap()
        } else {
            builder.create(name).unwrap()
        };
        dataset.write_raw(data).unwrap();
    }
    let ids = neighbors();
    match kind.ids {
        Ids::I32 => write_ids(&file, ids.iter().map(|&id| id as i32).collect()),
        Ids::U32 => write_ids(&file, ids),
        Ids::I64 => write_ids(&file, ids.iter().map(|&id| i64::from(id)).collect()),
    }
    drop(file);
    age(path);
}

fn open_all(fixture: &Fixture) -> Vec<(String, Dataset)> {
    let (base, queries, ids) = (base(), queries(), neighbors());
    let (wide_base, wide_queries) = (widen(&base), widen(&queries));
    let float_distances = floats(&[0.0; M * WIDTH]);
    let truths = [
        ("ivecs", texmex(WIDTH, 4 * WIDTH, &words(&ids))),
        ("ibin", flat(M, WIDTH, &words(&ids))),
        (
            "bigann_truth",
            flat(M, WIDTH, &[words(&ids), float_distances].concat()),
        ),
    ];
    let mut opened = Vec::new();
    let mut files = |element: &str, format: &str, base: Vec<u8>, queries: Vec<u8>| {
        for (truth, truth_bytes) in &truths {
            let name = format!("{element}-{format}-{truth}");
            fixture.write(&name, "base", &base);
            fixture.write(&name, "queries", &queries);
            fixture.write(&name, "truth", truth_bytes);
            let entry = fixture.yaml(&name, &body(element, format, truth));
            opened.push((name, fixture.open(&entry).unwrap()));
        }
    };
    let f = |v: &[f32]| floats(v);
    files("u8", "u8bin", flat(N, DIM, &base), flat(M, DIM, &queries));
    files(
        "u8",
        "bvecs",
        texmex(DIM, DIM, &base),
        texmex(DIM, DIM, &queries),
    );
    files(
        "f32",
        "fbin",
        flat(N, DIM, &f(&wide_base)),
        flat(M, DIM, &f(&wide_queries)),
    );
    files(
        "f32",
        "fvecs",
        texmex(DIM, 4 * DIM, &f(&wide_base)),
        texmex(DIM, 4 * DIM, &f(&wide_queries)),
    );
    for chunked in [false, true] {
        let kind = |ids| Hdf5 { chunked, ids };
        let name = format!("u8-hdf5-{chunked}");
        let ids = if chunked { Ids::I64 } else { Ids::I32 };
        write_hdf5(
            &fixture.place(&name, "all.hdf5"),
            &base,
            &queries,
            kind(ids),
        );
        let entry = fixture.yaml(&name, &hdf5_body("u8"));
        opened.push((name, fixture.open(&entry).unwrap()));
        let name = format!("f32-hdf5-{chunked}");
        write_hdf5(
            &fixture.place(&name, "all.hdf5"),
            &wide_base,
            &wide_queries,
            kind(Ids::U32),
        );
        let entry = fixture.yaml(&name, &hdf5_body("f32"));
        opened.push((name, fixture.open(&entry).unwrap()));
    }
    opened
}

fn answer(truth: &Truth) -> (&[u32], &[f64]) {
    (truth.ids(), truth.distances())
}

#[test]
fn every_layout_gives_the_same_vectors_fingerprint_and_truth() {
    let fixture = Fixture::new();
    let opened = open_all(&fixture);
    assert_eq!(opened.len(), 16);
    for element in ["u8", "f32"] {
        let alike: Vec<_> = opened
            .iter()
            .filter(|(name, _)| name.starts_with(element))
            .collect();
        let (_, first) = alike[0];
        for (name, dataset) in &alike {
            assert_eq!(
                dataset.base_fingerprint(),
                first.base_fingerprint(),
                "{name}"
            );
            assert_eq!(
                dataset.queries_fingerprint(),
                first.queries_fingerprint(),
                "{name}"
            );
            assert_eq!(
                dataset.base().vectors().component_bytes(),
                first.base().vectors().component_bytes(),
                "{name}"
            );
            assert_eq!(dataset.max_base_norm(), first.max_base_norm());
        }
    }
    let (_, first) = &opened[0];
    let expected = first.shipped_truth().unwrap();
    for (name, dataset) in &opened {
        let truth = dataset.shipped_truth().unwrap();
        assert_eq!(answer(truth), answer(expected), "{name}");
        assert_eq!(truth.fingerprint(), expected.fingerprint(), "{name}");
        assert_eq!((truth.sampled_queries(), truth.refuted()), (M, None));
        for q in 0..M {
            assert!(truth.row(q).1.is_sorted(), "{name} query {q}");
        }
    }
}

#[test]
fn widening_bytes_gives_the_f32_set() {
    let fixture = Fixture::new();
    let opened = open_all(&fixture);
    let find = |wanted: &str| &opened.iter().find(|(name, _)| name == wanted).unwrap().1;
    let (narrow, wide) = (find("u8-bvecs-ivecs"), find("f32-fbin-ivecs"));
    for _ in 0..2 {
        let (base, queries) = narrow
            .widened(ElementType::F32, &fixture.options())
            .unwrap()
            .unwrap();
        assert_eq!(
            base.vectors().component_bytes(),
            wide.base().vectors().component_bytes()
        );
        assert_eq!(
            queries.vectors().component_bytes(),
            wide.queries().vectors().component_bytes()
        );
        assert_eq!(base.map_spec().element, ElementType::F32);
    }
    let narrowed = wide.widened(ElementType::U8, &fixture.options()).unwrap();
    assert!(narrowed.is_none());
}

#[test]
fn a_worker_can_map_the_same_bytes() {
    let fixture = Fixture::new();
    for (name, dataset) in open_all(&fixture) {
        for vectors in [dataset.base(), dataset.queries()] {
            let spec = vectors.map_spec();
            let file = std::fs::read(&spec.path).unwrap();
            let start = spec.offset_bytes as usize;
            let len = spec.len_bytes as usize;
            assert_eq!(
                &file[start..start + len],
                vectors.vectors().component_bytes(),
                "{name}"
            );
            let align = spec.element.row_bytes(1).unwrap();
            assert!(start.is_multiple_of(align), "{name}");
            assert!(spec.path.is_absolute());
        }
    }
}

#[test]
fn files_are_mapped_in_place_where_their_layout_allows() {
    let fixture = Fixture::new();
    for (name, dataset) in open_all(&fixture) {
        let in_place = !dataset
            .base()
            .path()
            .starts_with(fixture.root().join(".cache"));
        let expected = name.contains("bin-") || name.ends_with("hdf5-false");
        assert_eq!(in_place, expected, "{name}");
    }
}

#[test]
fn a_copy_is_made_once_and_again_when_the_file_changes() {
    let fixture = Fixture::new();
    let entry = fixture.yaml("set", &body("u8", "bvecs", "ivecs"));
    let write = |base: &[u8]| {
        fixture.write("set", "base", &texmex(DIM, DIM, base));
        fixture.write("set", "queries", &texmex(DIM, DIM, &queries()));
        fixture.write(
            "set",
            "truth",
            &texmex(WIDTH, 4 * WIDTH, &words(&neighbors())),
        );
    };
    write(&base());
    settle();
    let first = fixture.open(&entry).unwrap();
    let made = std::fs::metadata(first.base().path())
        .unwrap()
        .modified()
        .unwrap();
    let second = fixture.open(&entry).unwrap();
    assert_eq!(first.base().path(), second.base().path());
    let kept = std::fs::metadata(second.base().path())
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(made, kept);

    let mut changed = base();
    changed[0] ^= 1;
    write(&changed);
    let third = fixture.open(&entry).unwrap();
    assert_eq!(third.base().vectors().component_bytes(), changed);
    assert_ne!(third.base_fingerprint(), first.base_fingerprint());
}

#[test]
fn a_damaged_copy_is_made_again() {
    let fixture = Fixture::new();
    let entry = fixture.yaml("set", &body("u8", "bvecs", "ivecs"));
    fixture.write("set", "base", &texmex(DIM, DIM, &base()));
    fixture.write("set", "queries", &texmex(DIM, DIM, &queries()));
    fixture.write(
        "set",
        "truth",
        &texmex(WIDTH, 4 * WIDTH, &words(&neighbors())),
    );
    settle();
    let first = fixture.open(&entry).unwrap();
    assert_eq!(first.notes(), [""; 0]);
    let path = first.base().path().to_owned();
    let whole = std::fs::read(&path).unwrap();
    let mut zeroed = whole.clone();
    zeroed[100..200].fill(0);
    let mut last = whole.clone();
    *last.last_mut().unwrap() ^= 1;
    for damaged in [&whole[..whole.len() / 2], b"", &zeroed[..], &last[..]] {
        settle();
        let sound = fixture.open(&entry).unwrap();
        assert_eq!(sound.notes(), [""; 0]);
        if damaged.len() == whole.len() {
            replace_unseen(&path, damaged);
        } else {
            std::fs::write(&path, damaged).unwrap();
        }
        let again = fixture.open(&entry).unwrap();
        assert_eq!(again.base().vectors().component_bytes(), base());
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert_eq!(again.base_fingerprint(), first.base_fingerprint());
        let notes = again.notes().join("\n");
        assert_words(&notes, &["flat copy", path.to_str().unwrap(), "made again"]);
    }
    // A copy of which nothing is known is made again too.
    std::fs::remove_file(path.with_extension("json")).unwrap();
    let again = fixture.open(&entry).unwrap();
    assert_words(&again.notes().join("\n"), &["not known", "made again"]);
}

#[test]
fn a_damaged_widened_copy_is_made_again() {
    let fixture = Fixture::new();
    let entry = fixture.yaml("set", &body("u8", "u8bin", "ibin"));
    fixture.write("set", "base", &flat(N, DIM, &base()));
    fixture.write("set", "queries", &flat(M, DIM, &queries()));
    fixture.write("set", "truth", &flat(M, WIDTH, &words(&neighbors())));
    let dataset = fixture.open(&entry).unwrap();
    let widened = || {
        dataset
            .widened(ElementType::F32, &fixture.options())
            .unwrap()
            .unwrap()
    };
    let (wide, _) = widened();
    let whole = std::fs::read(wide.path()).unwrap();
    let mut zeroed = whole.clone();
    zeroed[1_000..2_000].fill(0);
    // A value that is not finite.
    let mut infinite = whole.clone();
    infinite[8..12].copy_from_slice(&floats(&[f32::INFINITY]));
    for (times, damaged) in [zeroed, infinite].iter().enumerate() {
        settle();
        widened();
        assert_eq!(dataset.later_notes().len(), times);
        replace_unseen(wide.path(), damaged);
        let (again, asked) = widened();
        assert_eq!(again.vectors().component_bytes(), floats(&widen(&base())));
        assert_eq!(
            asked.vectors().component_bytes(),
            floats(&widen(&queries()))
        );
        assert_eq!(std::fs::read(wide.path()).unwrap(), whole);
        let notes = dataset.later_notes();
        assert_eq!(notes.len(), times + 1);
        assert_words(&notes[times], &["flat copy", ".f32.fbin", "made again"]);
    }
}

#[test]
fn a_file_that_is_replaced_under_its_old_time_is_read_again() {
    let fixture = Fixture::new();
    for (format, old, new) in [
        ("u8bin", flat(N, DIM, &base()), flat(N, DIM, &[7; N * DIM])),
        (
            "bvecs",
            texmex(DIM, DIM, &base()),
            texmex(DIM, DIM, &[7; N * DIM]),
        ),
    ] {
        let body = format!(
            "metric: l2\nelement: u8\ndim: {DIM}\n\
             base: {{ file: base, format: {format}, rows: {N} }}\n\
             queries: {{ file: base, format: {format}, rows: {N} }}\n"
        );
        let path = fixture.write(format, "base", &old);
        let entry = fixture.yaml(format, &body);
        settle();
        let first = fixture.open(&entry).unwrap();
        let before = first.base_fingerprint().to_owned();
        drop(first);
        settle();
        replace_unseen(&path, &new);
        let second = fixture.open(&entry).unwrap();
        assert_eq!(
            second.base().vectors().component_bytes(),
            [7; N * DIM],
            "{format}"
        );
        assert_ne!(second.base_fingerprint(), before, "{format}");
    }
}

#[test]
fn only_the_first_rows_are_taken_from_a_whole_file_and_from_a_cut_one() {
    let fixture = Fixture::new();
    let body = format!(
        "metric: l2\nelement: u8\ndim: {DIM}\n\
         base: {{ file: base, format: u8bin, rows: {N}, take_first: 100 }}\n\
         queries: {{ file: queries, format: u8bin, rows: {M} }}\n\
         files: {{ base: {{ bytes: {} }} }}\n",
        8 + N * DIM
    );
    fixture.write("set", "queries", &flat(M, DIM, &queries()));
    let whole = base();
    let first = &whole[..100 * DIM];
    let entry = fixture.yaml("set", &body);

    fixture.write("set", "base", &flat(N, DIM, &whole));
    let from_whole = fixture.open(&entry).unwrap();
    assert_eq!(from_whole.base().vectors().component_bytes(), first);
    assert!(from_whole.notes().is_empty());

    fixture.write("set", "base", &flat(100, DIM, first));
    let from_cut = fixture.open(&entry).unwrap();
    assert_eq!(from_cut.base_fingerprint(), from_whole.base_fingerprint());
    assert_eq!(from_cut.notes(), ["base is cut to 1208 of its 3608 bytes"]);
    assert!(from_cut.uncompared_checksums().is_empty());

    fixture.write("set", "base", &flat(99, DIM, &whole[..99 * DIM]));
    assert_words(&fixture.refusal(&entry), &["header", "300 rows", "99 rows"]);

    let more = [&whole[..], &whole[..DIM]].concat();
    for over_long in [flat(N + 1, DIM, &more), flat(N, DIM, &more)] {
        fixture.write("set", "base", &over_long);
        assert_words(&fixture.refusal(&entry), &["base", "over-long"]);
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn checksums_of_a_file_of_which_the_first_rows_are_taken() {
    let (whole, first) = (base(), &base()[..100 * DIM]);
    let flat_sum = sha256(&flat(N, DIM, &whole));
    let wrong = "1".repeat(64);
    let layout = |format: &str, rows: usize, body: &[u8]| match format {
        "u8bin" => flat(rows, DIM, body),
        _ => texmex(DIM, DIM, body),
    };
    for format in ["u8bin", "bvecs"] {
        for size_known in [true, false] {
            let fixture = Fixture::new();
            fixture.write("set", "queries", &layout(format, M, &queries()));
            let full = layout(format, N, &whole);
            let entry = |key: &str, sum: &str| {
                let bytes = match size_known {
                    true => format!("bytes: {}, ", full.len()),
                    false => String::new(),
                };
                fixture.yaml(
                    "set",
                    &format!(
                        "metric: l2\nelement: u8\ndim: {DIM}\n\
                         base: {{ file: base, format: {format}, rows: {N}, take_first: 100 }}\n\
                         queries: {{ file: queries, format: {format}, rows: {M} }}\n\
                         files: {{ base: {{ {bytes}{key}: \"{sum}\" }} }}\n"
                    ),
                )
            };
            // The whole file is there: it is compared.
            fixture.write("set", "base", &full);
            for (key, sum) in [("sha256", &sha256(&full)), ("flat_sha256", &flat_sum)] {
                let dataset = fixture.open(&entry(key, sum)).unwrap();
                assert_eq!(dataset.base().vectors().component_bytes(), first);
                assert!(dataset.uncompared_checksums().is_empty());
                let refusal = fixture.refusal(&entry(key, &wrong));
                assert_words(&refusal, &["base", "SHA-256", sum, &wrong]);
            }
            // It is cut: what is known of it stands on every result.
            fixture.write("set", "base", &layout(format, 100, first));
            let keys: &[&str] = match size_known {
                true => &["sha256", "flat_sha256"],
                // Nothing tells that this is another file because it was cut.
                false => &["flat_sha256"],
            };
            for key in keys {
                let dataset = fixture.open(&entry(key, &wrong)).unwrap();
                let [uncompared] = dataset.uncompared_checksums() else {
                    panic!("{:?}", dataset.uncompared_checksums());
                };
                let said = uncompared.to_string();
                let expected = format!("base: expected {key} {wrong}, not compared: ");
                assert!(said.starts_with(&expected), "{said}");
                let why = if size_known { "cut to" } else { "100 rows" };
                assert_words(&said, &[why]);
            }
        }
    }
}
