//! What the harness costs per query, beside two clock reads of the same run: their ratio is the
//! figure.

use annbench_core::wire::SearchRequest;
use annbench_core::{
    AdapterError, Index, MemoryReport, Params, Rows, SearchSpec, Searcher, TopK, Vector, Vectors,
};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::{Duration, Instant};

struct Null;

impl Index for Null {
    fn searcher<'i>(&'i self, _spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        Ok(Box::new(Null))
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport::default()
    }
}

impl Searcher for Null {
    fn search(&mut self, _query: Vector<'_>, _top: &mut TopK<'_>) -> Result<(), AdapterError> {
        Ok(())
    }
}

fn measured_loop(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("per query");
    group.bench_function("two clock reads", |bencher| {
        bencher.iter(|| {
            let before = Instant::now();
            black_box(before.elapsed())
        });
    });
    let components = vec![0.0f32; 1000 * 128];
    let Some(rows) = Rows::new(&components, 128) else {
        return;
    };
    let folder = std::env::temp_dir();
    for k in [10, 100] {
        let request = SearchRequest {
            spec: SearchSpec::new(k, Params::new()),
            repetitions: 1,
            min_pass_ns: 20_000_000,
            warm_up_ns: 1_000_000,
            output_dir: folder.clone(),
        };
        group.bench_function(format!("null searcher, k={k}"), |bencher| {
            bencher.iter_custom(|iterations| {
                match annbench_core::worker::measure(&Null, Vectors::F32(rows), &[], &request) {
                    Ok(report) => {
                        let repetition = &report.repetitions[0];
                        let queries = repetition.passes * 1000;
                        Duration::from_nanos(repetition.wall_ns)
                            .mul_f64(iterations as f64 / queries as f64)
                    }
                    Err(fault) => panic!("{}", fault.message),
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, measured_loop);
criterion_main!(benches);
