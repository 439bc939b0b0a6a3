//! The same vectors in every element type and every layout that it has: the same fingerprint within
//! a type, the same truth and the same exact answers in all.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{Metric, Vectors};
use annbench_dataset::Dataset;
use half::f16;
use hdf5_metno::H5Type;
use std::path::Path;
use support::*;

const N: usize = 260;
const M: usize = 5;
const DIM: usize = 11;
const WIDTH: usize = 4;

/// Numbers that every type has.
fn numbers(rows: usize, seed: u64) -> Vec<u8> {
    bytes(rows * DIM, seed).iter().map(|v| v >> 1).collect()
}

fn base() -> Vec<u8> {
    numbers(N, 11)
}

fn queries() -> Vec<u8> {
    numbers(M, 12)
}

fn search(base: Vectors<'_>, queries: Vectors<'_>) -> (Vec<u32>, Vec<f64>) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let go_on = |_, _| std::ops::ControlFlow::Continue(());
    let found = annbench_exact::search(base, queries, Metric::L2, WIDTH, &pool, &go_on).unwrap();
    let (ids, distances) = found.into_parts();
    (ids, distances)
}

fn neighbors() -> Vec<u32> {
    use annbench_core::ElementType::U8;
    let (base, queries) = (base(), queries());
    let base = Vectors::from_bytes(&base, U8, N, DIM).unwrap();
    let queries = Vectors::from_bytes(&queries, U8, M, DIM).unwrap();
    search(base, queries).0
}

/// `values` as NumPy's type `kind` has them, little-endian.
fn encoded(kind: &str, values: &[u8]) -> Vec<u8> {
    let each = |encode: &dyn Fn(u8) -> Vec<u8>| values.iter().flat_map(|&v| encode(v)).collect();
    match kind {
        "u1" | "i1" => values.to_vec(),
        "f2" => each(&|v| f16::from(v).to_le_bytes().to_vec()),
        "f4" => each(&|v| f32::from(v).to_le_bytes().to_vec()),
        "f8" => each(&|v| f64::from(v).to_le_bytes().to_vec()),
        "i2" => each(&|v| i16::from(v).to_le_bytes().to_vec()),
        "u2" => each(&|v| u16::from(v).to_le_bytes().to_vec()),
        "i4" => each(&|v| i32::from(v).to_le_bytes().to_vec()),
        "u4" => each(&|v| u32::from(v).to_le_bytes().to_vec()),
        "i8" => each(&|v| i64::from(v).to_le_bytes().to_vec()),
        other => panic!("{other}"),
    }
}

fn size(kind: &str) -> usize {
    kind[1..].parse().unwrap()
}

fn swapped(kind: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.chunks_exact_mut(size(kind)).for_each(<[u8]>::reverse);
    bytes
}

fn body(element: &str, format: &str, dataset: &str, truth: &str) -> String {
    let inside = |name: &str| match dataset {
        "" => String::new(),
        _ => format!("dataset: {name}, "),
    };
    let truth = match truth {
        "" => String::new(),
        "hdf5" => {
            format!("truth: {{ file: base, format: hdf5, dataset: neighbors, width: {WIDTH} }}\n")
        }
        truth => format!("truth: {{ file: truth, format: {truth}, width: {WIDTH} }}\n"),
    };
    let queries = if dataset.is_empty() {
        "queries"
    } else {
        "base"
    };
    format!(
        "metric: l2\nelement: {element}\ndim: {DIM}\n\
         base: {{ file: base, format: {format}, {}rows: {N} }}\n\
         queries: {{ file: {queries}, format: {format}, {}rows: {M} }}\n{truth}",
        inside("train"),
        inside("test"),
    )
}

/// Truth files in turn, and what they are called.
fn truths() -> Vec<(&'static str, Vec<u8>)> {
    let ids = neighbors();
    let ids = words(&ids);
    let long = |ids: &[u8]| -> Vec<u8> {
        let words = ids.as_chunks::<4>().0.iter();
        words.flat_map(|id| [*id, [0; 4]].concat()).collect()
    };
    let shape = (M, WIDTH);
    vec![
        ("ivecs", texmex(WIDTH, 4 * WIDTH, &ids)),
        ("ibin", flat(M, WIDTH, &ids)),
        ("ibin", long_flat(M, WIDTH, &ids)),
        (
            "bigann_truth",
            long_flat(M, WIDTH, &[ids.clone(), vec![7; ids.len()]].concat()),
        ),
        ("npy", npy("<i4", shape, &ids)),
        ("npy", npy("<u4", shape, &ids)),
        ("npy", npy(">i4", shape, &swapped("i4", ids.clone()))),
        ("npy", npy("<i8", shape, &long(&ids))),
        ("npy", npy(">i8", shape, &swapped("i8", long(&ids)))),
    ]
}

/// Sets that were opened, each with its element type and a name.
struct Opened {
    fixture: Fixture,
    truths: Vec<(&'static str, Vec<u8>)>,
    sets: Vec<(String, String, Dataset)>,
}

impl Opened {
    fn flat(&mut self, element: &str, format: &str, name: &str, files: [Vec<u8>; 2]) {
        let (truth, ids) = &self.truths[self.sets.len() % self.truths.len()];
        let name = format!("{element}-{format}-{name}");
        let [base, queries] = files;
        self.fixture.write(&name, "base", &base);
        self.fixture.write(&name, "queries", &queries);
        self.fixture.write(&name, "truth", ids);
        let entry = self.fixture.yaml(&name, &body(element, format, "", truth));
        let dataset = self
            .fixture
            .open(&entry)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        self.sets.push((element.to_owned(), name, dataset));
    }

    fn hdf5(&mut self, element: &str, kind: &str, big_endian: bool, chunked: bool) {
        let order = if big_endian { "big" } else { "little" };
        let name = format!("{element}-hdf5-{kind}-{order}-{chunked}");
        let path = self.fixture.place(&name, "base");
        write_hdf5(&path, kind, big_endian, chunked);
        let entry = self
            .fixture
            .yaml(&name, &body(element, "hdf5", "train", "hdf5"));
        let dataset = self
            .fixture
            .open(&entry)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        self.sets.push((element.to_owned(), name, dataset));
    }
}

fn write_table<T: H5Type + bytemuck::Pod>(
    file: &hdf5_metno::File,
    name: &str,
    shape: (usize, usize),
    bytes: &[u8],
    chunked: bool,
) {
    let values: Vec<T> = bytemuck::allocation::pod_collect_to_vec(bytes);
    let builder = file.new_dataset::<T>().shape(shape);
    let dataset = if chunked {
        builder.chunk((3, shape.1)).create(name).unwrap()
    } else {
        builder.create(name).unwrap()
    };
    dataset.write_raw(&values).unwrap();
}

/// The library writes little-endian files only: a big-endian one is one of values that are turned
/// around, in which every data type then gets its bit of the order set.
fn write_hdf5(path: &Path, kind: &str, big_endian: bool, chunked: bool) {
    let file = hdf5_metno::File::create(path).unwrap();
    for (name, rows, values) in [("train", N, base()), ("test", M, queries())] {
        let mut bytes = encoded(kind, &values);
        if big_endian {
            bytes = swapped(kind, bytes);
        }
        let shape = (rows, DIM);
        match kind {
            "u1" => write_table::<u8>(&file, name, shape, &bytes, chunked),
            "i1" => write_table::<i8>(&file, name, shape, &bytes, chunked),
            "f2" => write_table::<f16>(&file, name, shape, &bytes, chunked),
            "f4" => write_table::<f32>(&file, name, shape, &bytes, chunked),
            "f8" => write_table::<f64>(&file, name, shape, &bytes, chunked),
            "i2" => write_table::<i16>(&file, name, shape, &bytes, chunked),
            "u2" => write_table::<u16>(&file, name, shape, &bytes, chunked),
            "i4" => write_table::<i32>(&file, name, shape, &bytes, chunked),
            "i8" => write_table::<i64>(&file, name, shape, &bytes, chunked),
            other => panic!("{other}"),
        }
    }
    // Ids of a type that no vectors here have, so that its messages are told apart.
    let mut ids = words(&neighbors());
    if big_endian {
        ids = swapped("u4", ids);
    }
    write_table::<u32>(&file, "neighbors", (M, WIDTH), &ids, chunked);
    drop(file);
    if big_endian {
        turn_around(path, message(kind), 2);
        turn_around(path, message("u4"), 1);
    }
    age(path);
}

/// Class, class bits and size of a data type message: little-endian, IEEE or two's complement.
fn message(kind: &str) -> [u8; 8] {
    let size = size(kind) as u8;
    match &kind[..1] {
        "f" => [0x11, 0x20, 8 * size - 1, 0, size, 0, 0, 0],
        "i" => [0x10, 0x08, 0, 0, size, 0, 0, 0],
        _ => [0x10, 0, 0, 0, size, 0, 0, 0],
    }
}

fn turn_around(path: &Path, message: [u8; 8], times: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let places: Vec<usize> = (0..bytes.len() - 8)
        .filter(|&at| bytes[at..at + 8] == message)
        .collect();
    assert_eq!(places.len(), times, "{message:?}");
    for at in places {
        bytes[at + 1] |= 1;
    }
    std::fs::write(path, bytes).unwrap();
}

fn open_all() -> Opened {
    let mut opened = Opened {
        fixture: Fixture::new(),
        truths: truths(),
        sets: Vec::new(),
    };
    let shapes = [(N, base()), (M, queries())];
    for (element, own) in [("u8", "u1"), ("i8", "i1"), ("f16", "f2"), ("f32", "f4")] {
        let binary = match element {
            "f32" => "fbin".to_owned(),
            other => format!("{other}bin"),
        };
        let files = |make: &dyn Fn(usize, &[u8]) -> Vec<u8>| {
            [0, 1].map(|i| make(shapes[i].0, &shapes[i].1))
        };
        let short = files(&|n, v| flat(n, DIM, &encoded(own, v)));
        opened.flat(element, &binary, "short", short);
        let long = files(&|n, v| long_flat(n, DIM, &encoded(own, v)));
        opened.flat(element, &binary, "long", long);
        if let Some(vecs) = [("u8", "bvecs"), ("f32", "fvecs")]
            .iter()
            .find(|p| p.0 == element)
        {
            let records = files(&|_, v| texmex(DIM, size(own) * DIM, &encoded(own, v)));
            opened.flat(element, vecs.1, "records", records);
        }
        for kind in [own, "f8", "i2", "u2", "i4", "u4", "i8"] {
            let one = if size(kind) == 1 { "|" } else { "<" };
            let little = files(&|n, v| npy(&format!("{one}{kind}"), (n, DIM), &encoded(kind, v)));
            opened.flat(element, "npy", kind, little);
            let big = files(&|n, v| {
                npy(
                    &format!(">{kind}"),
                    (n, DIM),
                    &swapped(kind, encoded(kind, v)),
                )
            });
            opened.flat(element, "npy", &format!("{kind}-big"), big);
        }
        for kind in [own, "f8", "i2", "u2", "i4", "i8"] {
            for big_endian in [false, true] {
                for chunked in [false, true] {
                    opened.hdf5(element, kind, big_endian, chunked);
                }
            }
        }
    }
    opened
}

/// One test, for there are many files to make.
#[test]
fn every_type_and_layout_gives_the_same_vectors() {
    let opened = open_all();
    assert_same_answers(&opened);
    assert_in_place(&opened);
    assert_widening(&opened);
}

fn assert_same_answers(opened: &Opened) {
    let (_, _, first) = &opened.sets[0];
    let expected = first.shipped_truth().unwrap();
    let answers = search(first.base().vectors(), first.queries().vectors());
    let mut fingerprints = std::collections::BTreeMap::new();
    for (element, name, dataset) in &opened.sets {
        let prints = (dataset.base_fingerprint(), dataset.queries_fingerprint());
        assert_eq!(
            *fingerprints.entry(element).or_insert(prints),
            prints,
            "{name}"
        );
        assert_eq!(dataset.element().name(), element);
        assert_eq!(dataset.max_base_norm(), first.max_base_norm(), "{name}");
        let truth = dataset.shipped_truth().unwrap();
        assert_eq!(truth.ids(), expected.ids(), "{name}");
        assert_eq!(truth.distances(), expected.distances(), "{name}");
        assert_eq!(truth.refuted(), None);
        let found = search(dataset.base().vectors(), dataset.queries().vectors());
        assert_eq!(found, answers, "{name}");
        assert!(dataset.narrowed().is_empty());
        let own = name
            .split('-')
            .any(|word| ["u1", "i1", "f2", "f4", "short", "long", "records"].contains(&word));
        let notes = dataset.notes().join("\n");
        assert_eq!(notes.is_empty(), own, "{name}: {notes}");
        assert!(
            own || notes.contains(&format!("all of them exactly {element}")),
            "{notes}"
        );
    }
    assert_eq!(fingerprints.len(), 4);
    let distinct: std::collections::BTreeSet<_> = fingerprints.values().collect();
    assert_eq!(
        distinct.len(),
        4,
        "the element type is part of a fingerprint"
    );
}

/// Files are mapped in place where their values are components.
fn assert_in_place(opened: &Opened) {
    for (_, name, dataset) in &opened.sets {
        let cache = opened.fixture.root().join(".cache");
        let in_place = !dataset.base().path().starts_with(cache);
        let words: Vec<&str> = name.split('-').collect();
        let own = ["u1", "i1", "f2", "f4", "short", "long"]
            .iter()
            .any(|word| words.contains(word));
        // A byte has no order in NumPy, but one in HDF5.
        let turned = words.contains(&"big")
            && (words.contains(&"hdf5") || words.contains(&"f2") || words.contains(&"f4"));
        let chunked = words.contains(&"true");
        assert_eq!(in_place, own && !turned && !chunked, "{name}");
        let spec = dataset.base().map_spec();
        let file = std::fs::read(&spec.path).unwrap();
        let start = spec.offset_bytes as usize;
        assert_eq!(
            &file[start..start + spec.len_bytes as usize],
            dataset.base().vectors().component_bytes(),
            "{name}"
        );
    }
}

/// What widens gives the set of the wider type.
fn assert_widening(opened: &Opened) {
    use annbench_core::ElementType::{self, F16, F32, I8, U8};
    let of = |element: ElementType| {
        let set = opened.sets.iter().find(|set| set.0 == element.name());
        &set.unwrap().2
    };
    for narrow in [U8, I8, F16, F32] {
        for wide in [U8, I8, F16, F32] {
            let widened = of(narrow).widened(wide, &opened.fixture.options()).unwrap();
            assert_eq!(widened.is_some(), narrow.widens_to(wide));
            let Some((base, queries)) = widened else {
                continue;
            };
            assert_eq!(base.map_spec().element, wide);
            for (widened, own) in [(base, of(wide).base()), (queries, of(wide).queries())] {
                assert_eq!(
                    widened.vectors().component_bytes(),
                    own.vectors().component_bytes(),
                    "{narrow} to {wide}"
                );
            }
        }
    }
}

/// Every half precision number there is, through the library and from a big-endian file.
#[test]
fn every_half_precision_number_arrives() {
    let fixture = Fixture::new();
    let all: Vec<u16> = (0..=u16::MAX)
        .filter(|&bits| f16::from_bits(bits).is_finite())
        .collect();
    let rows = all.len() / 64;
    assert_eq!(rows * 64, all.len());
    let little: Vec<u8> = all.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let big: Vec<u8> = all.iter().flat_map(|bits| bits.to_be_bytes()).collect();
    let path = fixture.place("set", "base");
    for (chunked, big_endian) in [(true, false), (false, true), (true, true)] {
        let file = hdf5_metno::File::create(&path).unwrap();
        let bytes = if big_endian { &big } else { &little };
        write_table::<f16>(&file, "train", (rows, 64), bytes, chunked);
        drop(file);
        if big_endian {
            turn_around(&path, message("f2"), 1);
        }
        age(&path);
        let part = format!("{{ file: base, format: hdf5, dataset: train, rows: {rows} }}");
        let entry = fixture.yaml(
            "set",
            &format!("metric: l2\nelement: f16\ndim: 64\nbase: {part}\nqueries: {part}\n"),
        );
        let dataset = fixture.open(&entry).unwrap();
        assert_eq!(dataset.base().vectors().component_bytes(), little);
    }
}
