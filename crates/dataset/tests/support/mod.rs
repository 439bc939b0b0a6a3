//! A directory of made datasets.

#![allow(clippy::unwrap_used, dead_code)]

use annbench_dataset::{Catalogue, Dataset, DatasetError, Entry, OpenOptions};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub struct Fixture {
    dir: tempfile::TempDir,
    pub pool: rayon::ThreadPool,
}

impl Fixture {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            pool: rayon::ThreadPoolBuilder::new()
                .num_threads(2)
                .build()
                .unwrap(),
        }
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Where `file` of `name` belongs; its folder is made.
    pub fn place(&self, name: &str, file: &str) -> PathBuf {
        let folder = self.root().join("downloads").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(file)
    }

    /// A file of dataset `name`, last modified a minute ago.
    pub fn write(&self, name: &str, file: &str, bytes: &[u8]) -> PathBuf {
        let path = self.place(name, file);
        std::fs::write(&path, bytes).unwrap();
        age(&path);
        path
    }

    pub fn yaml(&self, name: &str, body: &str) -> Entry {
        let head = format!("name: {name}\ndescription: made\nsource: made\nlicence: CC0-1.0\n");
        std::fs::write(self.root().join(format!("{name}.yaml")), head + body).unwrap();
        self.entry(name).unwrap()
    }

    pub fn catalogue(&self) -> Catalogue {
        Catalogue::new(self.root())
    }

    pub fn entry(&self, name: &str) -> Result<Entry, DatasetError> {
        self.catalogue().entry(name)
    }

    pub fn options(&self) -> OpenOptions<'_> {
        OpenOptions {
            accept_checksum: false,
            narrow: false,
            pool: &self.pool,
            watch: &|_| ControlFlow::Continue(()),
        }
    }

    pub fn open(&self, entry: &Entry) -> Result<Dataset, DatasetError> {
        Dataset::open(entry, &self.options())
    }

    /// The message with which opening is refused.
    pub fn refusal(&self, entry: &Entry) -> String {
        self.open(entry).unwrap_err().to_string()
    }
}

pub fn age(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
}

/// Waits until what is derived from files that were just written is remembered.
pub fn settle() {
    std::thread::sleep(Duration::from_millis(120));
}

/// Overwrites `path` in place, and gives it the time of modification back that it had.
pub fn replace_unseen(path: &Path, bytes: &[u8]) {
    let before = std::fs::metadata(path).unwrap();
    std::fs::write(path, bytes).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = std::fs::metadata(path).unwrap();
    assert_eq!(
        (after.len(), after.modified().unwrap()),
        (before.len(), before.modified().unwrap())
    );
}

/// Fails unless `text` has all of `words`.
pub fn assert_words(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

pub fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn flat(n: usize, dim: usize, body: &[u8]) -> Vec<u8> {
    [words(&[n as u32, dim as u32]), body.to_vec()].concat()
}

/// Rows of `row_bytes`, each after its `width`.
pub fn texmex(width: usize, row_bytes: usize, body: &[u8]) -> Vec<u8> {
    body.chunks(row_bytes)
        .flat_map(|row| [words(&[width as u32]), row.to_vec()].concat())
        .collect()
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn ids(values: &[u32]) -> Vec<u8> {
    words(values)
}

/// `n` bytes without a pattern, the same every time.
pub fn bytes(n: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

pub fn widen(values: &[u8]) -> Vec<f32> {
    values.iter().map(|&v| f32::from(v)).collect()
}

/// A NumPy file of version 1; `descr` is NumPy's type string.
pub fn npy(descr: &str, shape: (usize, usize), body: &[u8]) -> Vec<u8> {
    let dict = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}, {}), }}",
        shape.0, shape.1
    );
    let len = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let head = [&b"\x93NUMPY\x01\x00"[..], &(len as u16).to_le_bytes()].concat();
    [
        head,
        format!("{dict:<0$}\n", len - 1).into_bytes(),
        body.to_vec(),
    ]
    .concat()
}

/// A flat file with a header of two u64.
pub fn long_flat(n: usize, dim: usize, body: &[u8]) -> Vec<u8> {
    [n as u64, dim as u64]
        .map(u64::to_le_bytes)
        .concat()
        .into_iter()
        .chain(body.iter().copied())
        .collect()
}

/// Bits, one to a byte, packed eight to a byte, the first the most significant.
pub fn packed(bits: &[u8], dim: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in bits.chunks(dim) {
        for eight in row.chunks(8) {
            let mut byte = 0;
            for (i, bit) in eight.iter().enumerate() {
                byte |= bit << (7 - i);
            }
            bytes.push(byte);
        }
    }
    bytes
}
