//! Throughput of the exact engine: batch and one query at a time, per metric and element type.

use annbench_core::{ElementType, Metric, Vectors};
use annbench_exact::Flat;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::ops::ControlFlow;

const N: usize = 50_000;
const QUERIES: usize = 256;
const DIM: usize = 128;
const K: usize = 10;

fn bytes(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    (0..n * DIM)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

fn search(criterion: &mut Criterion) {
    let (base, queries) = (bytes(N, 1), bytes(QUERIES, 2));
    let widen = |v: &[u8]| {
        v.iter()
            .flat_map(|&b| f32::from(b).to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let (wide_base, wide_queries) = (widen(&base), widen(&queries));
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
        return;
    };
    let halve = |v: &[u8]| {
        v.iter()
            .flat_map(|&b| half::f16::from(b).to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let (half_base, half_queries) = (halve(&base), halve(&queries));
    for (element, dim, base, queries) in [
        (ElementType::U8, DIM, &base, &queries),
        (ElementType::F16, DIM, &half_base, &half_queries),
        (ElementType::F32, DIM, &wide_base, &wide_queries),
        (ElementType::Bits, 8 * DIM, &base, &queries),
    ] {
        let (Some(base), Some(queries)) = (
            Vectors::from_bytes(base, element, N, dim),
            Vectors::from_bytes(queries, element, QUERIES, dim),
        ) else {
            return;
        };
        for metric in Metric::ALL.into_iter().filter(|m| m.is_defined_on(element)) {
            let Ok(flat) = Flat::new(base, metric, &pool) else {
                return;
            };
            let mut group = criterion.benchmark_group(format!("{metric}/{element}"));
            group.sample_size(10);
            group.throughput(Throughput::Elements((N * QUERIES) as u64));
            group.bench_function("batch", |b| {
                b.iter(|| {
                    black_box(flat.search(queries, K, &pool, &|_, _| ControlFlow::Continue(())))
                })
            });
            group.throughput(Throughput::Elements(N as u64));
            if let Ok(mut searcher) = flat.searcher(K) {
                group.bench_function("single", |b| {
                    b.iter(|| black_box(searcher.search(queries.row(0)).map(<[_]>::len)))
                });
            }
        }
    }
}

criterion_group!(benches, search);
criterion_main!(benches);
