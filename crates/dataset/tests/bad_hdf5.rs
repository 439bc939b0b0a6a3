//! HDF5 files that are not what the entry says.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
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

#[test]
fn another_type() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| train(file, (N, DIM), 1f64));
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(
        &refusal,
        &["`train`", "f32", "float64", "store them as f32"],
    );
    write(&path, |file| train(file, (N, DIM), 1u8));
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["uint8", "correct `element`"]);
    write(&path, |file| train(file, (N, DIM), 1i32));
    assert_words(
        &fixture.refusal(&entry(&fixture, "f32", "train")),
        &["int32"],
    );
}

#[test]
fn big_endian_values() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "all.hdf5");
    write(&path, |file| train(file, (N, DIM), 1f32));
    // The file's two float datatype messages differ from big-endian ones in one bit of the class
    // bit field: version 1, class 1, then the byte order.
    let mut bytes = std::fs::read(&path).unwrap();
    let little = [0x11, 0x20, 0x1f, 0x00, 4, 0, 0, 0];
    let places: Vec<usize> = (0..bytes.len() - 8)
        .filter(|&at| bytes[at..at + 8] == little)
        .collect();
    assert_eq!(places.len(), 2);
    for at in places {
        bytes[at + 1] |= 1;
    }
    fixture.write("set", "all.hdf5", &bytes);
    let refusal = fixture.refusal(&entry(&fixture, "f32", "train"));
    assert_words(&refusal, &["`train`", "big-endian"]);
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
    assert_eq!(dataset.base().vectors().bytes(), floats(&values));
}
