//! Arbitrary bytes through every reader: an error, never a panic.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
use hdf5_metno::types::VarLenUnicode;
use proptest::prelude::*;
use support::*;

fn entries(fixture: &Fixture) -> Vec<Entry> {
    let part = |file: &str, format: &str, extra: &str, key: &str, count: usize| {
        let dataset = if matches!(format, "hdf5" | "parquet") {
            "dataset: d, "
        } else {
            ""
        };
        format!("{{ file: {file}, format: {format}, {dataset}{key}: {count}{extra} }}")
    };
    let mut entries = Vec::new();
    for (format, element) in [
        ("hdf5", "f32"),
        ("hdf5", "sets"),
        ("parquet", "f32"),
        ("fvecs", "f32"),
        ("bvecs", "u8"),
        ("bvecs", "bits"),
        ("fbin", "f32"),
        ("f16bin", "f16"),
        ("i8bin", "i8"),
        ("u8bin", "u8"),
        ("u8bin", "bits"),
        ("npy", "f32"),
        ("npy", "f16"),
        ("npy", "u8"),
        ("npy", "bits"),
    ] {
        let metric = match element {
            "bits" => "hamming",
            "sets" => "jaccard",
            _ => "l2",
        };
        for extra in ["", ", take_first: 1"] {
            let name = format!("{format}-{element}-{}", entries.len());
            entries.push(fixture.yaml(
                &name,
                &format!(
                    "folder: made\nmetric: {metric}\nelement: {element}\ndim: 2\nbase: {}\nqueries: {}\n",
                    part("wild", format, extra, "rows", 3),
                    part("wild", format, extra, "rows", 3),
                ),
            ));
        }
    }
    for format in ["ivecs", "ibin", "bigann_truth", "npy", "hdf5", "parquet"] {
        let name = format!("truth-{format}");
        entries.push(fixture.yaml(
            &name,
            &format!(
                "folder: made\nmetric: l2\nelement: u8\ndim: 2\nbase: {}\nqueries: {}\ntruth: {}\n",
                part("sound8", "u8bin", "", "rows", 3),
                part("sound8", "u8bin", "", "rows", 3),
                part("wild", format, "", "width", 2),
            ),
        ));
    }
    entries
}

/// Bytes that get past the first checks more often than uniform ones.
fn wild() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![Just(2u32), Just(3), Just(0), 0u32..5, any::<u32>()];
    let array = (
        "[<>|][fiub][1248]",
        prop_oneof![Just(3u64), any::<u64>()],
        prop_oneof![Just(2u64), Just(1), any::<u64>()],
        prop::collection::vec(0u8..3, 0..60),
    );
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::collection::vec(word, 0..16).prop_map(|v| words(&v)),
        array.prop_map(|(descr, rows, width, body)| {
            npy(&descr, (rows as usize, width as usize), &body)
        }),
        prop::collection::vec(any::<u8>(), 0..80).prop_map(|tail| [
            &b"\x89HDF\r\n\x1a\n"[..],
            &tail
        ]
        .concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_reader_panics(bytes in wild()) {
        thread_local! {
            static MADE: (Fixture, Vec<Entry>) = {
                let fixture = Fixture::new();
                fixture.write("made", "sound8", &flat(3, 2, &[1, 2, 3, 4, 5, 6]));
                let entries = entries(&fixture);
                (fixture, entries)
            };
        }
        MADE.with(|(fixture, entries)| {
            fixture.write("made", "wild", &bytes);
            for entry in entries {
                // Either answer will do.
                let _ = fixture.open(entry);
            }
        });
    }
}

/// An HDF5 file with one byte changed: whatever the library makes of it, it is no panic.
#[test]
fn damaged_hdf5_does_not_panic() {
    let fixture = Fixture::new();
    let entry = entries(&fixture).into_iter().next().unwrap();
    let path = fixture.place("made", "wild");
    let file = hdf5_metno::File::create(&path).unwrap();
    let dataset = file.new_dataset::<f32>().shape((3, 2)).create("d").unwrap();
    dataset.write_raw(&[1f32; 6]).unwrap();
    let distance = file.new_attr::<VarLenUnicode>().create("distance").unwrap();
    let euclidean: VarLenUnicode = "euclidean".parse().unwrap();
    distance.write_scalar(&euclidean).unwrap();
    drop((dataset, distance));
    drop(file);
    let whole = std::fs::read(&path).unwrap();
    fixture.write("made", "wild", &whole);
    fixture.open(&entry).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        fixture.write("made", "wild", &damaged);
        let _ = fixture.open(&entry);
    }
    for len in (0..whole.len()).step_by(97) {
        fixture.write("made", "wild", &whole[..len]);
        let _ = fixture.open(&entry);
    }
}
