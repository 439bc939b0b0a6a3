//! The seeds of `fuzz/seeds`, and bytes that are nearly these, through every reader: read or refused, never
//! a panic, never more memory than the size of the file lets one expect. `ANNBENCH_FUZZ_CASES` says how
//! many of each format; `ANNBENCH_BLESS=1` writes the seeds that are made here anew.
//!
//! What HDF5's own library allocates, in C, is not counted one by one, but the whole process is.

#![allow(clippy::unwrap_used)]

mod allocations;
#[path = "../fuzz/src/mutation.rs"]
mod mutation;
#[path = "../fuzz/src/reading.rs"]
mod reading;
mod support;

use allocations::most_allocated;
use mutation::Mutation;
use reading::{DIM, ROWS, Reading};
use std::path::{Path, PathBuf};
use support::*;

/// The formats, each a folder of seeds.
const FORMATS: [&str; 10] = [
    "texmex",
    "flat",
    "npy",
    "hdf5",
    "parquet",
    "neighbors",
    "rangeres",
    "spmat",
    "qrels",
    "entry",
];

/// What reading a file of nothing may take: steps of bytes that are handed on, buffers of writers.
const LEAST: usize = 48 << 20;
/// And for every byte of the file.
const TIMES: usize = 64;
/// The whole process, at its largest.
const PROCESS: u64 = 1 << 30;

fn folder(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(format)
}

fn seeds(format: &str) -> Vec<(String, Vec<u8>)> {
    let items = std::fs::read_dir(folder(format)).unwrap();
    let mut seeds: Vec<(String, Vec<u8>)> = items
        .map(|item| {
            let path = item.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap())
        })
        .collect();
    seeds.sort();
    seeds
}

fn cases() -> usize {
    let wanted = std::env::var("ANNBENCH_FUZZ_CASES").ok();
    wanted.map_or(400, |cases| cases.parse().unwrap())
}

/// The largest the process has been, in bytes.
fn process_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    1024 * kilobytes.unwrap_or(0)
}

/// One test, for what is counted is of the whole process.
#[test]
fn seeds_and_what_is_nearly_one_are_read_or_refused() {
    if std::env::var_os("ANNBENCH_BLESS").is_some() {
        bless();
    }
    let only = std::env::var("ANNBENCH_FUZZ_FORMAT").ok();
    let reading = Reading::new().unwrap();
    for format in FORMATS {
        if only.as_deref().is_some_and(|only| only != format) {
            continue;
        }
        let seeds = seeds(format);
        let read = |bytes: &[u8], what: &dyn Fn() -> String| {
            let kept = std::env::temp_dir().join(format!("annbench-fuzz-{}", std::process::id()));
            std::fs::write(&kept, bytes).unwrap();
            let (taken, most) = most_allocated(|| reading.read(format, bytes).unwrap());
            let bound = LEAST + TIMES * bytes.len();
            let what = || format!("{format}, {} (kept in {})", what(), kept.display());
            assert!(most <= bound, "{}: {most} bytes, more than {bound}", what());
            assert!(process_peak() < PROCESS, "{}: {}", what(), process_peak());
            std::fs::remove_file(&kept).unwrap();
            taken
        };
        let mut taken = 0;
        for (name, bytes) in &seeds {
            taken += read(bytes, &|| name.clone());
        }
        // Otherwise nothing gets past the first line.
        assert!(taken > 0, "{format}: no seed is read");
        let seeds: Vec<Vec<u8>> = seeds.into_iter().map(|(_, bytes)| bytes).collect();
        let mut mutation = Mutation::new(format.bytes().map(u64::from).sum());
        for case in 0..cases() {
            let bytes = mutation.of(&seeds);
            read(&bytes, &|| format!("case {case}"));
        }
    }
}

/// Writes the seeds that can be made.
fn bless() {
    let write = |format: &str, name: &str, bytes: &[u8]| {
        std::fs::create_dir_all(folder(format)).unwrap();
        std::fs::write(folder(format).join(name), bytes).unwrap();
    };
    let values: Vec<f32> = (0..ROWS * DIM).map(|i| (i * 7 % 11) as f32 - 2.5).collect();
    let (f32s, small) = (floats(&values), bytes(ROWS * DIM, 1));
    let packed = [0x48u8, 0x18, 0xf8, 0x08, 0x80, 0x10];
    write("texmex", "fvecs", &texmex(DIM, 4 * DIM, &f32s));
    write("texmex", "bvecs", &texmex(DIM, DIM, &small));
    write("flat", "fbin", &flat(ROWS, DIM, &f32s));
    write("flat", "fbin-long", &long_flat(ROWS, DIM, &f32s));
    write("flat", "f16bin", &flat(ROWS, DIM, &[0x38; 2 * ROWS * DIM]));
    write("flat", "u8bin", &flat(ROWS, DIM, &small));
    write("flat", "bits", &flat(ROWS, 1, &packed));
    write("npy", "f4", &npy("<f4", (ROWS, DIM), &f32s));
    write(
        "npy",
        "big-endian",
        &npy(">f4", (ROWS, DIM), &[0x40; 4 * ROWS * DIM]),
    );
    write("npy", "i8", &npy("<i8", (ROWS, DIM), &[0; 8 * ROWS * DIM]));
    write("npy", "bool", &npy("|b1", (ROWS, DIM), &[1; ROWS * DIM]));
    let truth: Vec<u32> = (0..3 * ROWS).map(|i| (i % ROWS) as u32).collect();
    let distances = floats(&[0.0; 3 * ROWS]);
    let both = [ids(&truth), distances].concat();
    write("neighbors", "ivecs", &texmex(3, 12, &ids(&truth)));
    write("neighbors", "ibin", &flat(ROWS, 3, &ids(&truth)));
    write("neighbors", "bigann_truth", &flat(ROWS, 3, &both));
    write("neighbors", "npy", &npy("<u4", (ROWS, 3), &ids(&truth)));
    let head = words(&[3, 4, 2, 0, 2]);
    let range = [head, words(&[4, 1, 5, 0]), floats(&[0.5, 2.0, 0.0, 1.0])].concat();
    write("rangeres", "three-queries", &range);
    let longs: Vec<u8> = [2i64, 7, 3, 0, 2, 3]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let sparse = [longs, words(&[6, 0, 3]), floats(&[1.0, -2.0, 0.5])].concat();
    write("spmat", "two-rows", &sparse);
    write(
        "qrels",
        "tsv",
        b"query-id\tcorpus-id\tscore\na\tb\t1\nb\tc\t0\n",
    );
    write("qrels", "names", b"a\r\nb\nc");
    let entry = |more: &str| {
        format!(
            "name: it\ndescription: made\nmetric: l2\nelement: f32\ndim: 5\n\
             base: {{ file: it, format: fbin, rows: 6 }}\n\
             queries: {{ file: it, format: fvecs, rows: 6, take_first: 2 }}\n{more}\
             source: made\nlicence: \"CC0-1.0\"\n"
        )
    };
    write("entry", "plain", entry("").as_bytes());
    let sum = "0123456789abcdef".repeat(4);
    let more = format!(
        "truth: {{ file: gt, format: ivecs, width: 3 }}\n\
         qrels: {{ file: q.tsv, query_ids: q.txt, base_ids: b.txt }}\n\
         range_truth: {{ file: r.rangeres }}\n\
         metadata: {{ base: b.spmat, queries: q.spmat, columns: 7 }}\n\
         files:\n  it: {{ bytes: 128, sha256: \"{sum}\", url: \"https://a.example/it\", mirrors: [\"https://b.example/it\"] }}\n\
         from: [\"https://c.example\"]\n\
         archive: {{ url: \"ftp://d.example/it.tar.gz\", md5: \"{}\" }}\n\
         notes: [ one, \"two\" ]\nfolder: there\n",
        "ab".repeat(16)
    );
    write("entry", "whole", entry(&more).as_bytes());
    let shards = entry("").replace(
        "base: { file: it, format: fbin, rows: 6 }",
        "base:\n  files: [it, { file: other, rows: 3 }]\n  format: parquet\n  dataset: emb\n  ids: id\n  rows: 6",
    );
    write("entry", "shards", shards.as_bytes());
    for (name, chunked) in [("contiguous", false), ("chunked", true)] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("it");
        let file = hdf5_metno::File::create(&path).unwrap();
        let table = |name: &str, width: usize| {
            let shape = (ROWS, width);
            let builder = file.new_dataset::<f32>();
            match chunked {
                true => builder
                    .chunk((2, width))
                    .deflate(4)
                    .shape(shape)
                    .create(name)
                    .unwrap(),
                false => builder.shape(shape).create(name).unwrap(),
            }
        };
        for name in ["train", "test"] {
            let array = ndarray::Array2::from_shape_vec((ROWS, DIM), values.clone()).unwrap();
            table(name, DIM).write(&array).unwrap();
        }
        let numbers: Vec<i32> = truth.iter().map(|&id| id as i32).collect();
        let array = ndarray::Array2::from_shape_vec((ROWS, 3), numbers).unwrap();
        file.new_dataset_builder()
            .with_data(&array)
            .create("neighbors")
            .unwrap();
        drop(file);
        write("hdf5", name, &std::fs::read(&path).unwrap());
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("it");
    let file = hdf5_metno::File::create(&path).unwrap();
    for name in ["train", "test"] {
        let list = |name: &str, values: Vec<i32>| {
            let array = ndarray::Array1::from_vec(values);
            file.new_dataset_builder()
                .with_data(&array)
                .create(name)
                .unwrap();
        };
        list(name, vec![0, 1, 2, 4, 1, 3, 2, 0, 1]);
        list(&format!("size_{name}"), vec![2, 1, 2, 2, 1, 1]);
    }
    drop(file);
    write("hdf5", "sets", &std::fs::read(&path).unwrap());
}
