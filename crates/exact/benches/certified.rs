//! Batches with proofs: u8 and f32 at 128 and 960 components, on every instruction set. An element of the
//! throughput is one multiplication with its addition, so that rates compare with those of kernels.

use annbench_core::{ElementType, Metric, Vectors};
use annbench_exact::{Flat, Level};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::ops::ControlFlow;

const QUERIES: usize = 256;
const K: usize = 100;

/// Sums of four uniform bytes: about normal.
fn bytes(count: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 26
    };
    (0..count)
        .map(|_| (next() + next() + next() + next()) as u8)
        .collect()
}

fn certify(criterion: &mut Criterion) {
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
        return;
    };
    for (dim, n) in [(128, 200_000), (960, 25_000)] {
        let (base, queries) = (bytes(n * dim, 1), bytes(QUERIES * dim, 2));
        let widen = |v: &[u8]| {
            v.iter()
                .flat_map(|&b| (f32::from(b) / 7.0).to_le_bytes())
                .collect::<Vec<u8>>()
        };
        let (wide_base, wide_queries) = (widen(&base), widen(&queries));
        for (element, base, queries) in [
            (ElementType::U8, &base, &queries),
            (ElementType::F32, &wide_base, &wide_queries),
        ] {
            let mut group = criterion.benchmark_group(format!("{element}/{dim}"));
            group.sample_size(10);
            group.throughput(Throughput::Elements((n * QUERIES * dim) as u64));
            for level in Level::available() {
                let (Some(base), Some(queries)) = (
                    Vectors::from_bytes(base, element, n, dim),
                    Vectors::from_bytes(queries, element, QUERIES, dim),
                ) else {
                    return;
                };
                let flat = Flat::new(base, Metric::L2, &pool).and_then(|f| f.at_level(level));
                let Ok(flat) = flat else { return };
                group.bench_function(level.name(), |b| {
                    b.iter(|| {
                        black_box(flat.certify(
                            queries,
                            K,
                            &pool,
                            &|_, _| ControlFlow::Continue(()),
                        ))
                    })
                });
            }
        }
    }
}

criterion_group!(benches, certify);
criterion_main!(benches);
