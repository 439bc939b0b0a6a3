//! What HDF5 files say of themselves.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
use hdf5_metno::File;
use hdf5_metno::types::{FixedAscii, FixedUnicode, VarLenAscii, VarLenUnicode};
use support::*;

const N: usize = 10;
const DIM: usize = 4;

fn entry(fixture: &Fixture, element: &str, metric: &str, attributes: &dyn Fn(&File)) -> Entry {
    let path = fixture.place("set", "all.hdf5");
    let file = File::create(&path).unwrap();
    let dataset = file
        .new_dataset::<u8>()
        .shape((N, DIM))
        .create("train")
        .unwrap();
    dataset.write_raw(&bytes(N * DIM, 1)).unwrap();
    attributes(&file);
    drop(file);
    age(&path);
    let part = format!("{{ file: all.hdf5, format: hdf5, dataset: train, rows: {N} }}");
    fixture.yaml(
        "set",
        &format!(
            "metric: {metric}\nelement: {element}\ndim: {DIM}\nbase: {part}\nqueries: {part}\n"
        ),
    )
}

fn text(file: &File, name: &str, value: &str) {
    let value: VarLenUnicode = value.parse().unwrap();
    let attribute = file.new_attr::<VarLenUnicode>().create(name).unwrap();
    attribute.write_scalar(&value).unwrap();
}

fn notes(attributes: &dyn Fn(&File)) -> Vec<String> {
    let fixture = Fixture::new();
    let entry = entry(&fixture, "u8", "l2", attributes);
    fixture.open(&entry).unwrap().notes().to_owned()
}

fn refusal(attributes: &dyn Fn(&File)) -> String {
    let fixture = Fixture::new();
    let entry = entry(&fixture, "u8", "l2", attributes);
    fixture.refusal(&entry)
}

#[test]
fn attributes_that_agree_or_are_missing_are_fine() {
    assert_eq!(notes(&|_| {}), [""; 0]);
    for (distance, point) in [("euclidean", "float"), ("normalized", "uint8")] {
        let notes = notes(&|file| {
            text(file, "distance", distance);
            text(file, "point_type", point);
            text(file, "type", "dense");
            let dimension = file.new_attr::<u16>().create("dimension").unwrap();
            dimension.write_scalar(&(DIM as u16)).unwrap();
        });
        assert_eq!(notes, [""; 0]);
    }
}

#[test]
fn texts_are_read_however_they_are_stored() {
    for store in [
        &(|file: &File| text(file, "distance", "angular")) as &dyn Fn(&File),
        &|file| {
            let value = VarLenAscii::from_ascii("angular").unwrap();
            let attribute = file.new_attr::<VarLenAscii>().create("distance").unwrap();
            attribute.write_scalar(&value).unwrap();
        },
        &|file| {
            let value = FixedAscii::<7>::from_ascii("angular").unwrap();
            let attribute = file.new_attr::<FixedAscii<7>>().create("distance").unwrap();
            attribute.write_scalar(&value).unwrap();
        },
        &|file| {
            let value: FixedUnicode<20> = "angular".parse().unwrap();
            let attribute = file
                .new_attr::<FixedUnicode<20>>()
                .create("distance")
                .unwrap();
            attribute.write_scalar(&value).unwrap();
        },
    ] {
        let notes = notes(store);
        assert_eq!(notes.len(), 1, "base and queries lie in one file");
        let words = [
            "`distance` is `angular`",
            "means cosine",
            "entry decides: l2",
        ];
        assert_words(&notes[0], &words);
    }
}

#[test]
fn what_is_not_known_is_noted() {
    let notes = notes(&|file| {
        text(file, "distance", "earth mover's");
        text(file, "point_type", "quaternion");
    });
    assert_words(
        &notes.join("\n"),
        &["`earth mover's`", "`quaternion`", "not known"],
    );
    assert_eq!(notes.len(), 2);
}

#[test]
fn contradictions_of_shape_and_type_are_refused() {
    let dimension = |file: &File, dim: i64| {
        let attribute = file.new_attr::<i64>().create("dimension").unwrap();
        attribute.write_scalar(&dim).unwrap();
    };
    for dim in [5, 32, 0, -4, i64::MAX] {
        let refusal = refusal(&|file| dimension(file, dim));
        assert_words(
            &refusal,
            &["attribute `dimension`", "expected 4", &dim.to_string()],
        );
    }
    for point in ["int8", "binary", "bit"] {
        let refusal = refusal(&|file| text(file, "point_type", point));
        assert_words(&refusal, &["attribute `point_type`", "points of u8", point]);
    }
    let sparse = refusal(&|file| text(file, "type", "sparse"));
    assert_words(
        &sparse,
        &["attribute `type`", "`dense`", "`sparse`", "holds sets"],
    );
    let number = refusal(&|file| {
        let attribute = file.new_attr::<f32>().create("dimension").unwrap();
        attribute.write_scalar(&4f32).unwrap();
    });
    assert_words(&number, &["`dimension`", "one integer"]);
    let texts = refusal(&|file| list_in_place_of_text(file));
    assert_words(&texts, &["`distance`", "one text"]);
}

fn list_in_place_of_text(file: &File) {
    let attribute = file.new_attr::<i64>().shape(3).create("distance").unwrap();
    attribute.write_raw(&[1, 2, 3]).unwrap();
}

/// Four bytes of numbers are 32 bits too, if the entry says so and the file does not object.
#[test]
fn the_entry_says_whether_bytes_are_numbers_or_bits() {
    let fixture = Fixture::new();
    entry(&fixture, "u8", "l2", &|file| {
        text(file, "point_type", "binary")
    });
    let path = fixture.root().join("set.yaml");
    let yaml = std::fs::read_to_string(&path).unwrap();
    let yaml = yaml.replace("u8", "bits").replace("l2", "hamming");
    std::fs::write(&path, yaml.replace("dim: 4", "dim: 32")).unwrap();
    let dataset = fixture.open(&fixture.entry("set").unwrap()).unwrap();
    assert_eq!(dataset.base().vectors().dim(), 32);
    assert_words(&dataset.notes().join("\n"), &["4 bytes", "32 bits"]);
}

#[test]
fn a_dataset_that_was_never_written() {
    for chunked in [false, true] {
        let fixture = Fixture::new();
        let path = fixture.place("set", "all.hdf5");
        let file = File::create(&path).unwrap();
        let huge = 1usize << 20;
        {
            // The file is whole when nothing holds it any more.
            let builder = file.new_dataset::<u8>().shape((huge, huge));
            if chunked {
                builder.chunk((64, 64)).create("train").unwrap();
            } else {
                builder.create("train").unwrap();
            }
            drop(file);
        }
        age(&path);
        let part = format!("{{ file: all.hdf5, format: hdf5, dataset: train, rows: {huge} }}");
        let entry = fixture.yaml(
            "set",
            &format!("metric: l2\nelement: u8\ndim: {huge}\nbase: {part}\nqueries: {part}\n"),
        );
        let words = ["`train`", "values that were written", "did not finish"];
        assert_words(&fixture.refusal(&entry), &words);
    }
}
