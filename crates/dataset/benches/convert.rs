//! Opening a set for the first time, against a copy of the same bytes on the same file system; and
//! fingerprinting alone, against a plain sum over the mapped bytes. Ratios within one run are what counts.
//!
//! A first opening reads the file, writes the flat copy, syncs it, and reads it back to fingerprint it;
//! the copy it is compared with is synced, too. `ANNBENCH_BENCH_DIR` names another file system.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench may end on what it did not expect"
)]

use annbench_dataset::{Catalogue, Dataset, OpenOptions};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

const N: usize = 200_000;
const DIM: usize = 128;

fn values() -> Vec<f32> {
    let mut state = 7u32;
    (0..N * DIM)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 65_536.0
        })
        .collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn fvecs(values: &[f32]) -> Vec<u8> {
    let rows = values.chunks_exact(DIM);
    rows.flat_map(|row| [(DIM as u32).to_le_bytes().to_vec(), bytes_of(row)].concat())
        .collect()
}

fn hdf5(path: &Path, values: &[f32], deflate: Option<u8>) {
    let file = hdf5_metno::File::create(path).unwrap();
    let builder = file.new_dataset::<f32>().chunk((4096, DIM)).shape((N, DIM));
    let train = match deflate {
        Some(level) => builder.deflate(level).create("train"),
        None => builder.create("train"),
    };
    let array = ndarray::ArrayView2::from_shape((N, DIM), values).unwrap();
    train.unwrap().write(array).unwrap();
}

fn fbin(path: &Path, values: &[f32]) {
    let head = [N as u32, DIM as u32].map(u32::to_le_bytes).concat();
    std::fs::write(path, [head, bytes_of(values)].concat()).unwrap();
}

/// Copies as `cp` does where the file system shares no blocks, and syncs.
fn copy(from: &Path, to: &Path) {
    let (mut from, mut to) = (File::open(from).unwrap(), File::create(to).unwrap());
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        to.write_all(&buffer[..read]).unwrap();
    }
    to.sync_all().unwrap();
}

fn convert(criterion: &mut Criterion) {
    let place = match std::env::var_os("ANNBENCH_BENCH_DIR") {
        Some(dir) => tempfile::tempdir_in(dir).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let folder = place.path().join("downloads/set");
    std::fs::create_dir_all(&folder).unwrap();
    let values = values();
    std::fs::write(folder.join("fvecs"), fvecs(&values)).unwrap();
    hdf5(&folder.join("chunked"), &values, None);
    hdf5(&folder.join("deflated"), &values, Some(1));
    fbin(&folder.join("fbin"), &values);
    fbin(&folder.join("q"), &values);
    // Queries of a few rows.
    let small = [4u32, DIM as u32].map(u32::to_le_bytes).concat();
    std::fs::write(
        folder.join("q"),
        [small, bytes_of(&values[..4 * DIM])].concat(),
    )
    .unwrap();
    drop(values);
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let options = OpenOptions {
        accept_checksum: false,
        narrow: false,
        pool: &pool,
        watch: &|_| ControlFlow::Continue(()),
    };
    let catalogue = Catalogue::new(place.path());
    let mut group = criterion.benchmark_group("first opening");
    group.sample_size(10);
    group.throughput(Throughput::Bytes((N * DIM * 4) as u64));
    let copied = place.path().join("copied");
    group.bench_function("cp and sync", |bencher| {
        bencher.iter(|| copy(&folder.join("fbin"), &copied));
    });
    for (file, format) in [
        ("fvecs", "fvecs"),
        ("chunked", "hdf5, dataset: train"),
        ("deflated", "hdf5, dataset: train"),
        ("fbin", "fbin"),
    ] {
        let yaml = format!(
            "name: set\ndescription: made\nmetric: l2\nelement: f32\ndim: {DIM}\n\
             base: {{ file: {file}, format: {format}, rows: {N} }}\n\
             queries: {{ file: q, format: fbin, rows: 4 }}\nsource: made\nlicence: none\n"
        );
        std::fs::write(place.path().join("set.yaml"), yaml).unwrap();
        let entry = catalogue.entry("set").unwrap();
        group.bench_function(file, |bencher| {
            bencher.iter_batched(
                || {
                    let _ = std::fs::remove_dir_all(place.path().join(".cache"));
                },
                |()| Dataset::open(&entry, &options).unwrap(),
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    let mapped = std::fs::read(folder.join("fbin")).unwrap();
    let mut group = criterion.benchmark_group("fingerprint");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(mapped.len() as u64));
    group.bench_function("sum on one thread", |bencher| {
        bencher.iter(|| {
            let words = mapped.as_chunks::<8>().0.iter();
            words.fold(0u64, |sum, word| {
                sum.wrapping_add(u64::from_le_bytes(*black_box(word)))
            })
        });
    });
    group.bench_function("blake3 on all threads", |bencher| {
        bencher.iter(|| pool.install(|| blake3::Hasher::new().update_rayon(&mapped).finalize()));
    });
    group.finish();
}

criterion_group!(benches, convert);
criterion_main!(benches);
