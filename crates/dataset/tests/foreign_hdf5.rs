//! HDF5 datasets whose values lie outside the file that is checksummed.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
use hdf5_metno::{File, Selection};
use std::path::Path;
use support::*;

const N: usize = 20;
const M: usize = 2;
const DIM: usize = 4;
const WIDTH: usize = 3;

fn values(rows: usize) -> Vec<f32> {
    widen(&bytes(rows * DIM, rows as u64))
}

fn vectors(group: &hdf5_metno::Group, name: &str, rows: usize) {
    let dataset = group.new_dataset::<f32>().shape((rows, DIM));
    let dataset = dataset.create(name).unwrap();
    dataset.write_raw(&values(rows)).unwrap();
}

fn neighbors(file: &File, name: &str) {
    let dataset = file.new_dataset::<i32>().shape((M, WIDTH));
    let dataset = dataset.create(name).unwrap();
    dataset.write_raw(&[0, 1, 2, 3, 4, 5]).unwrap();
}

/// A file with everything in it, beside the one that is opened.
fn other(path: &Path) {
    let file = File::create(path.with_file_name("other.hdf5")).unwrap();
    vectors(&file, "train", N);
    vectors(&file.create_group("inner").unwrap(), "train", N);
    neighbors(&file, "neighbors");
}

/// Opens the base at `train` of a file that `fill` has made; the queries are sound.
fn with_base(fixture: &Fixture, train: &str, fill: impl Fn(&File)) -> Entry {
    let path = fixture.place("set", "all.hdf5");
    other(&path);
    let file = File::create(&path).unwrap();
    vectors(&file, "test", M);
    fill(&file);
    drop(file);
    age(&path);
    fixture.yaml("set", &body(train, ""))
}

fn body(train: &str, truth: &str) -> String {
    format!(
        "metric: l2\nelement: f32\ndim: {DIM}\n\
         base: {{ file: all.hdf5, format: hdf5, dataset: {train}, rows: {N} }}\n\
         queries: {{ file: all.hdf5, format: hdf5, dataset: test, rows: {M} }}\n{truth}"
    )
}

fn assert_refused(refusal: &str, dataset: &str, found: &[&str]) {
    assert_words(refusal, &["all.hdf5", &format!("`{dataset}`"), "h5py"]);
    assert_words(refusal, &["checksummed"]);
    assert_words(refusal, found);
}

#[test]
fn a_link_to_another_file() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "train", |file| {
        file.link_external("other.hdf5", "/train", "train").unwrap();
    });
    assert_refused(&fixture.refusal(&entry), "train", &["link to another file"]);
}

#[test]
fn a_link_to_another_file_on_the_way() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "here/train", |file| {
        file.link_external("other.hdf5", "/inner", "here").unwrap();
    });
    let refusal = fixture.refusal(&entry);
    assert_refused(&refusal, "here/train", &["link to another file", "`/here`"]);
}

#[test]
fn a_soft_link_that_leads_out() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "train", |file| {
        file.link_external("other.hdf5", "/train", "out").unwrap();
        file.link_soft("/out", "train").unwrap();
    });
    let refusal = fixture.refusal(&entry);
    assert_refused(&refusal, "train", &["soft link", "another file"]);

    let fixture = Fixture::new();
    let entry = with_base(&fixture, "train", |file| {
        file.link_external("other.hdf5", "/inner", "out").unwrap();
        file.link_soft("/out/train", "train").unwrap();
    });
    let refusal = fixture.refusal(&entry);
    assert_refused(&refusal, "train", &["soft link", "another file"]);
}

#[test]
fn a_soft_link_to_nothing() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "train", |file| {
        file.link_soft("/gone", "train").unwrap();
    });
    let refusal = fixture.refusal(&entry);
    let words = ["`/train`", "a soft link to what is not there", "restore"];
    assert_words(&refusal, &words);
}

#[test]
fn external_storage() {
    let fixture = Fixture::new();
    let path = fixture.place("set", "values.raw");
    std::fs::write(&path, floats(&values(N))).unwrap();
    let entry = with_base(&fixture, "train", |file| {
        let builder = file.new_dataset::<f32>().shape((N, DIM));
        builder
            .with_dcpl(|p| p.external(path.to_str().unwrap(), 0, 4 * N * DIM))
            .create("train")
            .unwrap();
    });
    let refusal = fixture.refusal(&entry);
    assert_refused(&refusal, "train", &["external storage", "values.raw"]);
}

#[test]
fn a_virtual_dataset() {
    let fixture = Fixture::new();
    let entry = with_base(&fixture, "train", |file| {
        let builder = file.new_dataset::<f32>().shape((N, DIM));
        builder
            .with_dcpl(|p| {
                p.virtual_map(
                    "other.hdf5",
                    "train",
                    (N, DIM),
                    Selection::All,
                    (N, DIM),
                    Selection::All,
                )
            })
            .create("train")
            .unwrap();
    });
    assert_refused(&fixture.refusal(&entry), "train", &["virtual dataset"]);
}

#[test]
fn truth_from_another_file() {
    let fixture = Fixture::new();
    with_base(&fixture, "train", |file| {
        vectors(file, "train", N);
        let target = "/neighbors";
        file.link_external("other.hdf5", target, "neighbors")
            .unwrap();
    });
    let truth =
        format!("truth: {{ file: all.hdf5, format: hdf5, dataset: neighbors, width: {WIDTH} }}\n");
    let entry = fixture.yaml("set", &body("train", &truth));
    let refusal = fixture.refusal(&entry);
    assert_refused(&refusal, "neighbors", &["link to another file"]);
}

/// Links within the file are as good as names.
#[test]
fn links_that_stay_are_followed() {
    for name in ["soft", "hard", "deep/soft", "/deep/./soft", "way/train"] {
        let fixture = Fixture::new();
        let entry = with_base(&fixture, name, |file| {
            let deep = file.create_group("deep").unwrap();
            vectors(&deep, "train", N);
            deep.link_soft("train", "soft").unwrap();
            file.link_soft("/deep/train", "soft").unwrap();
            file.link_hard("/deep/train", "hard").unwrap();
            file.link_soft("deep", "way").unwrap();
        });
        let dataset = fixture.open(&entry).unwrap();
        assert_eq!(
            dataset.base().vectors().component_bytes(),
            floats(&values(N))
        );
    }
}
