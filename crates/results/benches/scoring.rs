//! Scoring 10,000 queries at k = 100 and d = 128 on two threads, distances recomputed.
#![allow(missing_docs, reason = "criterion's macros define the functions")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed bench")]

use annbench_core::{Metric, Rows, Vectors, distance};
use annbench_results::{Answers, ScoringSet, score_answers};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const N: usize = 200_000;
const QUERIES: usize = 10_000;
const DIM: usize = 128;
const K: usize = 100;

/// A xorshift generator: the same data on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}

fn scoring(c: &mut Criterion) {
    let mut random = Random(1);
    let base: Vec<f32> = (0..N * DIM).map(|_| random.unit()).collect();
    let queries: Vec<f32> = (0..QUERIES * DIM).map(|_| random.unit()).collect();
    let base = Vectors::F32(Rows::new(&base, DIM).unwrap());
    let queries = Vectors::F32(Rows::new(&queries, DIM).unwrap());
    // Any rows serve as truth: scoring does not depend on how near they are.
    let (mut truth_ids, mut truth_distances) = (Vec::new(), Vec::new());
    for q in 0..QUERIES {
        let mut row: Vec<(f64, u32)> = (0..K)
            .map(|_| (random.next() % N as u64) as u32)
            .map(|id| {
                (
                    distance(Metric::L2, queries.row(q), base.row(id as usize)),
                    id,
                )
            })
            .collect();
        row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        truth_distances.extend(row.iter().map(|r| r.0));
        truth_ids.extend(row.iter().map(|r| r.1));
    }
    let set = ScoringSet {
        metric: Metric::L2,
        base,
        queries,
        truth_ids: &truth_ids,
        truth_distances: &truth_distances,
        truth_width: K,
        max_base_norm: 0.0,
        strata: &[],
        relevance: None,
    };
    let returned = vec![K as u32; QUERIES];
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let mut group = c.benchmark_group("score_10000_queries_k100_d128");
    group.sample_size(10);
    for percent_true in [100, 90, 0] {
        let ids: Vec<u32> = truth_ids
            .iter()
            .map(|&id| match random.next() % 100 < percent_true {
                true => id,
                false => (random.next() % N as u64) as u32,
            })
            .collect();
        let answers = Answers {
            k: K,
            ids: &ids,
            returned: &returned,
            invalid_count: 0,
        };
        group.bench_function(BenchmarkId::new("percent_true", percent_true), |b| {
            b.iter(|| score_answers(&pool, &set, &answers).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, scoring);
criterion_main!(benches);
