//! Packed bits in every layout that has them.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::ElementType;
use annbench_dataset::{Dataset, Entry};
use support::*;

const N: usize = 90;
const M: usize = 6;
/// No multiple of eight: the last byte of a row has five bits to spare.
const DIM: usize = 43;
const WIDTH: usize = 5;
const ROW: usize = DIM.div_ceil(8);

/// Bits, one to a byte.
fn bits(rows: usize, seed: u64) -> Vec<u8> {
    bytes(rows * DIM, seed).iter().map(|v| v & 1).collect()
}

fn body(format: &str, truth: &str) -> String {
    let inside = |name: &str| match format {
        "hdf5" => format!("dataset: {name}, "),
        _ => String::new(),
    };
    format!(
        "metric: hamming\nelement: bits\ndim: {DIM}\n\
         base: {{ file: base, format: {format}, {}rows: {N} }}\n\
         queries: {{ file: queries, format: {format}, {}rows: {M} }}\n{truth}",
        inside("it"),
        inside("it"),
    )
}

fn open(
    fixture: &Fixture,
    name: &str,
    format: &str,
    make: &dyn Fn(usize, &[u8]) -> Vec<u8>,
) -> Dataset {
    fixture.write(name, "base", &make(N, &bits(N, 1)));
    fixture.write(name, "queries", &make(M, &bits(M, 2)));
    let entry = fixture.yaml(name, &body(format, ""));
    fixture
        .open(&entry)
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// An HDF5 file with one dataset, and the attributes that VIBE writes.
fn hdf5(
    fixture: &Fixture,
    name: &str,
    vibe: bool,
    write: &dyn Fn(&hdf5_metno::File, usize, &[u8]),
) -> Entry {
    for (file, rows, values) in [("base", N, bits(N, 1)), ("queries", M, bits(M, 2))] {
        let path = fixture.place(name, file);
        let file = hdf5_metno::File::create(&path).unwrap();
        write(&file, rows, &values);
        if vibe {
            let dimension = file.new_attr::<i64>().create("dimension").unwrap();
            dimension.write_scalar(&(DIM as i64)).unwrap();
            let text = |name: &str, value: &str| {
                let value: hdf5_metno::types::VarLenUnicode = value.parse().unwrap();
                let attribute = file.new_attr::<hdf5_metno::types::VarLenUnicode>();
                attribute
                    .create(name)
                    .unwrap()
                    .write_scalar(&value)
                    .unwrap();
            };
            text("point_type", "binary");
            text("distance", "hamming");
        }
        drop(file);
        age(&path);
    }
    fixture.yaml(name, &body("hdf5", ""))
}

#[test]
fn every_layout_of_bits_gives_the_same() {
    let fixture = Fixture::new();
    let pack = |_: usize, v: &[u8]| packed(v, DIM);
    let mut opened = vec![
        (
            "packed u8bin",
            true,
            open(&fixture, "a", "u8bin", &|n, v| flat(n, ROW, &pack(n, v))),
        ),
        (
            "long u8bin",
            true,
            open(&fixture, "b", "u8bin", &|n, v| {
                long_flat(n, ROW, &pack(n, v))
            }),
        ),
        (
            "u8bin of 0 and 1",
            false,
            open(&fixture, "c", "u8bin", &|n, v| flat(n, DIM, v)),
        ),
        (
            "bvecs",
            false,
            open(&fixture, "d", "bvecs", &|n, v| {
                texmex(ROW, ROW, &pack(n, v))
            }),
        ),
        (
            "bvecs of 0 and 1",
            false,
            open(&fixture, "e", "bvecs", &|_, v| texmex(DIM, DIM, v)),
        ),
        (
            "packed npy",
            true,
            open(&fixture, "f", "npy", &|n, v| {
                npy("|u1", (n, ROW), &pack(n, v))
            }),
        ),
        (
            "npy of 0 and 1",
            false,
            open(&fixture, "g", "npy", &|n, v| npy("|u1", (n, DIM), v)),
        ),
        (
            "npy of bool",
            false,
            open(&fixture, "h", "npy", &|n, v| npy("|b1", (n, DIM), v)),
        ),
    ];
    let boolean = hdf5(&fixture, "i", false, &|file, rows, values| {
        let values: Vec<bool> = values.iter().map(|&v| v == 1).collect();
        let dataset = file.new_dataset::<bool>().shape((rows, DIM)).create("it");
        dataset.unwrap().write_raw(&values).unwrap();
    });
    opened.push(("HDF5 of bool", false, fixture.open(&boolean).unwrap()));
    for vibe in [true, false] {
        let bytes = hdf5(
            &fixture,
            if vibe { "j" } else { "k" },
            vibe,
            &|file, rows, values| {
                let dataset = file.new_dataset::<u8>().shape((rows, ROW)).create("it");
                dataset.unwrap().write_raw(&packed(values, DIM)).unwrap();
            },
        );
        let dataset = fixture.open(&bytes).unwrap();
        let notes = dataset.notes().join("\n");
        if vibe {
            assert_eq!(notes, "");
        } else {
            assert_words(&notes, &["no attribute `dimension`", "6 bytes", "43 bits"]);
        }
        opened.push(("packed HDF5", true, dataset));
    }
    let (_, _, first) = &opened[0];
    let truth = first.truth(WIDTH, &fixture.options()).unwrap();
    for (name, in_place, dataset) in &opened {
        assert_eq!(
            dataset.base_fingerprint(),
            first.base_fingerprint(),
            "{name}"
        );
        assert_eq!(dataset.queries_fingerprint(), first.queries_fingerprint());
        let vectors = dataset.base().vectors();
        assert_eq!((vectors.element(), vectors.dim()), (ElementType::Bits, DIM));
        assert_eq!(
            vectors.component_bytes(),
            packed(&bits(N, 1), DIM),
            "{name}"
        );
        let cached = dataset
            .base()
            .path()
            .starts_with(fixture.root().join(".cache"));
        assert_eq!(!cached, *in_place, "{name}");
        let again = dataset.truth(WIDTH, &fixture.options()).unwrap();
        assert_eq!(again.ids(), truth.ids(), "{name}");
    }
    // Counted bit by bit.
    let (base, queries) = (bits(N, 1), bits(M, 2));
    for (q, query) in queries.chunks(DIM).enumerate() {
        let (ids, distances) = truth.row(q);
        for (&id, &distance) in ids.iter().zip(distances) {
            let x = &base[id as usize * DIM..][..DIM];
            let differ = query.iter().zip(x).filter(|(a, b)| a != b).count();
            assert_eq!(distance, differ as f64);
        }
    }
}

#[test]
fn bytes_that_are_no_bits() {
    let fixture = Fixture::new();
    fixture.write("set", "queries", &flat(M, ROW, &packed(&bits(M, 2), DIM)));
    let entry = fixture.yaml("set", &body("u8bin", ""));
    // A bit after the last.
    let mut dirty = packed(&bits(N, 1), DIM);
    dirty[7 * ROW - 1] |= 1;
    fixture.write("set", "base", &flat(N, ROW, &dirty));
    assert_words(&fixture.refusal(&entry), &["row 6", "43 bits", "packbits"]);
    // A number that is neither 0 nor 1.
    let mut number = bits(N, 1);
    number[3 * DIM + 5] = 255;
    fixture.write("set", "base", &flat(N, DIM, &number));
    assert_words(
        &fixture.refusal(&entry),
        &["row 3, component 5", "0 or 1", "255"],
    );
    // Rows of neither width.
    fixture.write("set", "base", &flat(N, ROW + 1, &bytes(N * (ROW + 1), 1)));
    let refusal = fixture.refusal(&entry);
    assert_words(
        &refusal,
        &["90 rows of 6 bytes, which hold 43 bits", "90 rows of 7"],
    );
    // No bytes at all.
    let numbers = hdf5(&fixture, "hdf5", false, &|file, rows, _| {
        let dataset = file.new_dataset::<f32>().shape((rows, DIM)).create("it");
        dataset.unwrap().write_raw(&vec![1f32; rows * DIM]).unwrap();
    });
    assert_words(&fixture.refusal(&numbers), &["vectors of bits", "type f32"]);
    fixture.write("npy", "base", &npy("<f4", (N, DIM), &[0; 4 * N * DIM]));
    fixture.write("npy", "queries", b"");
    let refusal = fixture.refusal(&fixture.yaml("npy", &body("npy", "")));
    assert_words(&refusal, &["vectors of bits", "type f32"]);
}

/// An HDF5 boolean is a byte, in which a file may have anything.
#[test]
fn a_boolean_of_another_value() {
    let fixture = Fixture::new();
    let entry = hdf5(&fixture, "set", false, &|file, rows, _| {
        let dataset = file.new_dataset::<bool>().shape((rows, DIM)).create("it");
        dataset.unwrap().write_raw(&vec![true; rows * DIM]).unwrap();
    });
    let path = fixture.place("set", "base");
    let mut bytes = std::fs::read(&path).unwrap();
    let ones = bytes
        .windows(N * DIM)
        .position(|w| w.iter().all(|&b| b == 1))
        .unwrap();
    bytes[ones + 2 * DIM + 1] = 7;
    fixture.write("set", "base", &bytes);
    assert_words(
        &fixture.refusal(&entry),
        &["`it`, row 2, component 1", "0 or 1", "found 7"],
    );
}
