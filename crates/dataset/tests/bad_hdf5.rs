//! HDF5 files that are not what the entry says.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
use hdf5_metno::types::{FixedAscii, VarLenUnicode};
use std::path::Path;
use support::*;

const N: usize = 20;
const DIM: usize = 4;

fn entry(fixture: &Fixture, element: &str, dataset: &str) -> Entry {
    fixture.yaml(
        "set",
        &format!(
            "metric: l2\nelement: {element}\ndim: {DIM}\n\
             base: {{ file: all.hdf5, format: hdf5, dataset: {dataset}, rows: {N} }}\n\
             queries: {{ file: all.hdf5, format: hdf5, dataset: test, rows: 2 }}\n"
        ),
    )
}

fn write(path: &Path, fill: impl Fn(&hdf5_metno::File)) {
    let file = hdf5_metno::File::create(path).unwrap();
    let test = file
        .new_dataset::<f32>()
        .shape((2, DIM))
        .create("test")
        .unwrap();
    test.write_raw(&[0.5f32; 2 * DIM]).unwrap();
    fill(&file);
    drop(file);
    age(path);
}

fn train<T: hdf5_metno::H5Type + Copy>(file: &hdf5_metno::File, shape: (usize, usize), value: T) {
    let dataset = file
        .new_dataset::<T>()
        .shape(shape)
        .create("train")
        .unwrap();
    dataset.write_raw(&vec![value; shape.0 * shape.1]).unwrap();
}

#[test]
fn a_dataset_that_is_not_there_is_answered_with_those_that_are() {
    let fixture = Fixture::new();
    write(&fixture.place("set", "all.hdf5"), |file| {
        train(file, (N, DIM), 1f32)
    });
    let refusal = fixture.refusal(&entry(&fixture, "f32", "trian"));
    assert_words(&refusal, &["all.hdf5", "`trian`", "test", "train"]);
    fixture.open(&entry(&fixture, "f32", "train")).unwrap();
}

#[test]
fn another_shape() {
    for shape in [(N, DIM + 1), (N - 1, DIM)] {
        let fixture = Fixture::new();
        write(&fixture.place("set", "all.hdf5"), |file| {
            train(file, shape, 1f32)
        });
        let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
        let found = format!("{} rows of {}", shape.0, shape.1);
        assert_words(&refusal, &["`train`", "20 rows of 4", &found]);
    }
    let fixture = Fixture::new();
    write(&fixture.place("set", "all.hdf5"), |file| {
        let dataset = file
            .new_dataset::<f32>()
            .shape(N * DIM)
            .create("train")
            .unwrap();
        dataset.write_raw(&[1f32; N * DIM]).unwrap();
    });
    assert_words(
        &fixture.refusal(&entry(&fixture, "f32", "train")),
        &["two dimensions", "[80]"],
    );
}

/// What a user is told who has vectors of a type that is not read.
const UNREAD: [&str; 5] = [
    "all.hdf5",
    "`train`",
    "expected vectors of f16, f32, f64, integers or booleans",
    "supports no other",
    "store them as f32",
];

fn assert_unread(refusal: &str, found: &str) {
    assert_words(refusal, &UNREAD);
    assert_words(refusal, &[&format!("found {found}; ")]);
    assert!(!refusal.contains("download it"), "{refusal}");
}

#[derive(Clone, Copy, hdf5_metno::H5Type)]
#[repr(C)]
struct Pair {
    left: f32,
    right: f32,
}

#[test]
fn vectors_of_types_that_are_not_read() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    let refusal = |fill: &dyn Fn(&hdf5_metno::File)| {
        write(&path, fill);
        fixture.refusal(&entry(&fixture, "f32", "train"))
    };
    let shape = (N, DIM);
    let cell = Pair {
        left: 1.0,
        right: 2.0,
    };
    let text = FixedAscii::<4>::from_ascii("one").unwrap();
    assert_unread(
        &refusal(&|file| train(file, shape, cell)),
        "compound (2 fields)",
    );
    assert_unread(&refusal(&|file| train(file, shape, text)), "string (len 4)");
    assert_unread(
        &refusal(&|file| {
            let dataset = file.new_dataset::<VarLenUnicode>().shape(shape);
            dataset.create("train").unwrap();
        }),
        "unicode (var len)",
    );
}

#[test]
fn vectors_of_the_other_type_that_is_read() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| train(file, (N, DIM), 1u8));
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["of f32", "type u8", "correct `element`"]);
    write(&path, |file| train(file, (N, DIM), true));
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["of f32", "type bool", "`element: bits`"]);
}

/// Rewrites the float types of a file, all of them f32, as `class bits`, size and properties say.
fn retype(fixture: &Fixture, to: &[u8; 20]) {
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| train(file, (N, DIM), 1f32));
    let mut bytes = std::fs::read(&path).unwrap();
    let single = [
        0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0,
    ];
    let places: Vec<usize> = (0..bytes.len() - single.len())
        .filter(|&at| bytes[at..at + single.len()] == single)
        .collect();
    assert_eq!(places.len(), 2);
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    fixture.write("set", "all.hdf5", &bytes);
}

/// Two bytes of which eight bits are the exponent.
#[test]
fn half_precision_of_other_bits() {
    let fixture = Fixture::new();
    let brain = [
        0x11, 0x20, 0x0f, 0, 2, 0, 0, 0, 0, 0, 16, 0, 7, 8, 0, 7, 127, 0, 0, 0,
    ];
    retype(&fixture, &brain);
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_unread(&refusal, "unusually arranged float16");
}

/// Four bytes are not f32 yet: here the exponent has one bit more.
#[test]
fn floats_of_other_bits() {
    let fixture = Fixture::new();
    let other = [
        0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 22, 9, 0, 22, 255, 0, 0, 0,
    ];
    retype(&fixture, &other);
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_unread(&refusal, "unusually arranged float32");
}

#[test]
fn neighbours_of_types_that_are_not_read() {
    let fixture = Fixture::new();
    write(&fixture.place("set", "all.hdf5"), |file| {
        train(file, (N, DIM), 1f32);
        let distances = file.new_dataset::<f32>().shape((2, 3));
        distances.create("distances").unwrap();
    });
    entry(&fixture, "f32", "train");
    let with_truth = std::fs::read_to_string(fixture.root().join("set.yaml")).unwrap()
        + "truth: { file: all.hdf5, format: hdf5, dataset: distances, width: 3 }\n";
    std::fs::write(fixture.root().join("set.yaml"), with_truth).unwrap();
    let refusal = fixture.refusal(&fixture.entry("set").unwrap());
    assert_words(
        &refusal,
        &[
            "`distances`",
            "integers of 8, 16, 32 or 64 bits",
            "found float32; ",
            "supports no other",
        ],
    );
}

#[test]
fn a_group_where_a_dataset_belongs() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| {
        let group = file.create_group("train").unwrap();
        for name in ["vectors", "labels"] {
            let dataset = group.new_dataset::<f32>().shape((N, DIM));
            let dataset = dataset.create(name).unwrap();
            dataset.write_raw(&[0.5f32; N * DIM]).unwrap();
        }
        let many = file.create_group("many").unwrap();
        for i in 0..25 {
            many.create_group(&format!("g{i}")).unwrap();
        }
        file.create_group("none").unwrap();
    });
    let refusal = |name| fixture.refusal(&entry(&fixture, "f32", name));
    assert_words(
        &refusal("train"),
        &["a group", "holds labels, vectors", "its group in front"],
    );
    assert_words(&refusal("many"), &["a group", "g0, g1", "and 5 more"]);
    assert_words(&refusal("none"), &["a group", "holds nothing"]);
    assert_words(&refusal("/"), &["a group", "many, none, test, train"]);
    assert_words(
        &refusal("train/vector"),
        &["group `/train`", "`vector`", "only labels, vectors"],
    );
    assert_words(
        &refusal("train/vectors/x"),
        &["`/train/vectors`", "a dataset", "not a group"],
    );
    fixture
        .open(&entry(&fixture, "f32", "train/vectors"))
        .unwrap();
}

#[test]
fn a_stored_type_where_a_dataset_belongs() {
    let fixture = Fixture::new();
    write(&fixture.place("set", "all.hdf5"), |file| {
        let datatype = hdf5_metno::Datatype::from_type::<f32>().unwrap();
        file.commit_datatype("train", &datatype).unwrap();
    });
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["`/train`", "stored data type"]);
}

#[test]
fn a_file_that_another_program_writes() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| train(file, (N, DIM), 1f32));
    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["all.hdf5", "another program has it open"]);
    held.unlock().unwrap();
    fixture.open(&entry(&fixture, "f32", "train")).unwrap();
}

#[test]
fn no_hdf5_at_all_and_a_truncated_one() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| train(file, (N, DIM), 1f32));
    let whole = std::fs::read(&path).unwrap();
    fixture.write("set", "all.hdf5", &whole[..whole.len() / 2]);
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["all.hdf5", "truncated"]);
    fixture.write("set", "all.hdf5", &texmex(DIM, DIM, &bytes(N * DIM, 1)));
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(
        &refusal,
        &["an HDF5 file", "looks like bvecs of 20 rows of 4"],
    );
}

#[test]
fn compressed_values_are_read() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    let values = widen(&bytes(N * DIM, 9));
    write(&path, |file| {
        let builder = file.new_dataset::<f32>().shape((N, DIM)).chunk((3, DIM));
        let dataset = builder.shuffle().fletcher32().create("train").unwrap();
        dataset.write_raw(&values).unwrap();
    });
    let dataset = fixture.open(&entry(&fixture, "f32", "train")).unwrap();
    assert_eq!(dataset.base().vectors().component_bytes(), floats(&values));
}

#[test]
fn values_that_were_declared_and_never_written_are_refused() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    let entry = entry(&fixture, "f32", "train");
    write(&path, |file| {
        let builder = file.new_dataset::<f32>().shape((N, DIM));
        builder.create("train").unwrap();
    });
    let refusal = fixture.refusal(&entry);
    assert_words(&refusal, &["`train`", "reads as zeros", "did not finish"]);
    write(&path, |file| {
        let builder = file.new_dataset::<f32>().shape((N, DIM)).chunk((3, DIM));
        let dataset = builder.create("train").unwrap();
        let rows = [[1f32; DIM]; 6];
        dataset
            .write_slice::<_, f32, _, _>(&rows[..], (0..6, ..))
            .unwrap();
    });
    let refusal = fixture.refusal(&entry);
    assert_words(&refusal, &["2 of 7 chunks", "read as zeros"]);
}
