//! Archives, and bytes that are nearly these, through `unpack`: members or a refusal, never a panic, never
//! a file elsewhere, never more than the allowance, never much memory. The seeds are those of the dataset
//! crate's fuzz targets; `ANNBENCH_FUZZ_CASES` says how many.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

#[path = "../../dataset/tests/allocations/mod.rs"]
mod allocations;
#[path = "../../dataset/fuzz/src/mutation.rs"]
mod mutation;

use allocations::most_allocated;
use annbench_fetch::{Expected, Member, Packing, UnpackLimits, unpack};
use flate2::Compression;
use flate2::write::GzEncoder;
use mutation::Mutation;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const MOST: u64 = 1 << 20;
/// Steps of copies, windows of decoders, and the entries of tar's extensions.
const MEMORY: usize = 32 << 20;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dataset/fuzz/seeds/archive")
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Writes the seeds anew.
fn bless() {
    let content: Vec<u8> = (0..300u32).flat_map(|i| (i % 7).to_le_bytes()).collect();
    let mut builder = tar::Builder::new(Vec::new());
    let long = format!("{}/base.fvecs", "folder".repeat(20));
    for (name, bytes) in [("a/other", &content[..9]), (&long, &content[..])] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, bytes).unwrap();
    }
    let tar = builder.into_inner().unwrap();
    std::fs::create_dir_all(folder()).unwrap();
    for (name, bytes) in [
        ("tar", tar.clone()),
        ("tar-gz", gz(&tar)),
        ("gz", gz(&content)),
        ("two-gz", [gz(&content), gz(&content[..50])].concat()),
    ] {
        std::fs::write(folder().join(name), bytes).unwrap();
    }
}

/// Unpacks `bytes` in every way; says how many of them give a member.
fn unpacked(bytes: &[u8]) -> usize {
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("archive");
    std::fs::write(&archive, bytes).unwrap();
    let mut given = 0;
    for packing in [Packing::Tar, Packing::TarGz, Packing::Gz] {
        let inner = place.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let members = [Member {
            name: "base.fvecs".to_owned(),
            file: inner.join("out"),
            expected: Expected::default(),
        }];
        let limits = UnpackLimits { most: MOST };
        let interrupted = AtomicBool::new(false);
        let answer = unpack(&archive, packing, &members, limits, &interrupted, &|_| {});
        let names: Vec<_> = std::fs::read_dir(&inner)
            .unwrap()
            .map(|item| item.unwrap().file_name())
            .collect();
        match answer {
            Ok(_) => {
                given += 1;
                assert_eq!(names, ["out"]);
                assert!(inner.join("out").metadata().unwrap().len() <= MOST);
            }
            Err(_) => assert!(names.is_empty(), "{names:?}"),
        }
        std::fs::remove_dir_all(&inner).unwrap();
        // Nothing but the archive is there.
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
    given
}

#[test]
fn archives_and_what_is_nearly_one_are_unpacked_or_refused() {
    if std::env::var_os("ANNBENCH_BLESS").is_some() {
        bless();
    }
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|item| item.unwrap().path())
        .collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|p| std::fs::read(p).unwrap()).collect();
    let read = |bytes: &[u8]| {
        let (given, most) = most_allocated(|| unpacked(bytes));
        assert!(most < MEMORY, "{most} bytes of memory for {}", bytes.len());
        given
    };
    assert!(seeds.iter().map(|seed| read(seed)).sum::<usize>() >= 4);
    let cases = std::env::var("ANNBENCH_FUZZ_CASES").ok();
    let cases = cases.map_or(1000, |cases| cases.parse().unwrap());
    let mut mutation = Mutation::new(20);
    for _ in 0..cases {
        read(&mutation.of(&seeds));
    }
}
