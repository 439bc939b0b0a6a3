//! Arbitrary bytes through every reader: an error, never a panic.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
use proptest::prelude::*;
use support::*;

fn entries(fixture: &Fixture) -> Vec<Entry> {
    let part = |file: &str, format: &str, extra: &str, key: &str, count: usize| {
        let dataset = if format == "hdf5" { "dataset: d, " } else { "" };
        format!("{{ file: {file}, format: {format}, {dataset}{key}: {count}{extra} }}")
    };
    let mut entries = Vec::new();
    for (format, element) in [
        ("fvecs", "f32"),
        ("bvecs", "u8"),
        ("fbin", "f32"),
        ("u8bin", "u8"),
        ("hdf5", "f32"),
    ] {
        for extra in ["", ", take_first: 1"] {
            let name = format!("{format}-{}", entries.len());
            let sound = if element == "u8" { "sound8" } else { "sound32" };
            let sound_format = if element == "u8" { "u8bin" } else { "fbin" };
            entries.push(fixture.yaml(
                &name,
                &format!(
                    "folder: made\nmetric: l2\nelement: {element}\ndim: 2\nbase: {}\nqueries: {}\n",
                    part("wild", format, extra, "rows", 3),
                    part(sound, sound_format, "", "rows", 3),
                ),
            ));
        }
    }
    for format in ["ivecs", "ibin", "bigann_truth", "hdf5"] {
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
    let word = prop_oneof![Just(2u32), Just(3), 0u32..5, any::<u32>()];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::collection::vec(word, 0..16).prop_map(|v| words(&v)),
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
                fixture.write("made", "sound32", &flat(3, 2, &floats(&[1.0; 6])));
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
    fixture.write("made", "sound32", &flat(3, 2, &floats(&[1.0; 6])));
    let entry = entries(&fixture)
        .into_iter()
        .find(|entry| entry.name == "hdf5-8")
        .unwrap();
    let path = fixture.place("made", "wild");
    let file = hdf5_metno::File::create(&path).unwrap();
    let dataset = file.new_dataset::<f32>().shape((3, 2)).create("d").unwrap();
    dataset.write_raw(&[1f32; 6]).unwrap();
    drop(dataset);
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
