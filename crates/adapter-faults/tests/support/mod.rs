//! A small dataset and a bench around the fault adapter.
#![allow(dead_code, reason = "each test binary uses its part")]

use annbench_config::{Job, JobPoint, Limits, Measure};
use annbench_core::wire::MapSpec;
use annbench_core::{ElementType, Metric, Mode, ParamValue, Params, Rows, Vectors, distance};
use annbench_results::{DatasetInfo, Machine, ScoringSet, Store, TruthInfo, TruthOrigin};
use annbench_runner::{
    Bench, GivenVectors, Installed, PlannedJob, RunError, Subject, SubjectFacts, inspect_adapter,
    preferred_cpus,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub const N: usize = 300;
pub const QUERIES: usize = 20;
pub const DIM: usize = 8;
pub const K: usize = 5;

pub fn installed() -> Installed {
    Installed {
        adapter: "faults".to_owned(),
        path: PathBuf::from(env!("CARGO_BIN_EXE_annbench-adapter-faults")),
    }
}

/// Deadlines that nothing but a hang reaches, however busy the machine is.
pub fn limits() -> Limits {
    Limits {
        build_ns: 120_000_000_000,
        search_ns: 120_000_000_000,
        memory_bytes: 256 << 20,
    }
}

/// Deadlines for what hangs.
pub fn short_limits() -> Limits {
    Limits {
        build_ns: 3_000_000_000,
        search_ns: 3_000_000_000,
        ..limits()
    }
}

pub fn measure() -> Measure {
    Measure {
        modes: vec![Mode::Single],
        threads: vec![1],
        build_threads: 1,
        repetitions: 2,
        min_pass_ns: 1_000_000,
        warm_up_ns: 100_000,
        seed: 1,
        base_mapped: false,
    }
}

pub fn fault(name: &str, number: i64) -> Params {
    Params::new()
        .with("fault", ParamValue::Text(name.to_owned()))
        .with("number", ParamValue::Int(number))
}

/// Files and truth of the dataset.
pub struct Made {
    base: Vec<u8>,
    queries: Vec<u8>,
    ids: Vec<u32>,
    distances: Vec<f64>,
    given: GivenVectors,
}

impl Made {
    pub fn generate(folder: &Path) -> Self {
        let mut state = 7u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let base: Vec<u8> = (0..N * DIM).map(|_| byte()).collect();
        let queries: Vec<u8> = (0..QUERIES * DIM).map(|_| byte()).collect();
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        let rows = Vectors::U8(Rows::new(&base, DIM).unwrap());
        let query_rows = Vectors::U8(Rows::new(&queries, DIM).unwrap());
        for q in 0..QUERIES {
            let mut scored: Vec<(f64, u32)> = (0..N)
                .map(|i| {
                    (
                        distance(Metric::L2, query_rows.row(q), rows.row(i)),
                        i as u32,
                    )
                })
                .collect();
            scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            ids.extend(scored[..10].iter().map(|s| s.1));
            distances.extend(scored[..10].iter().map(|s| s.0));
        }
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            MapSpec {
                path,
                offset_bytes: 0,
                n: bytes.len() / DIM,
                dim: DIM,
                element: ElementType::U8,
            }
        };
        let given = GivenVectors {
            element: ElementType::U8,
            base: write("base", &base),
            queries: write("queries", &queries),
        };
        Self {
            base,
            queries,
            ids,
            distances,
            given,
        }
    }

    pub fn subject(&self) -> Subject<'_> {
        let facts = SubjectFacts {
            info: DatasetInfo {
                name: "generated".to_owned(),
                base_fingerprint: "base".to_owned(),
                queries_fingerprint: "queries".to_owned(),
                metric: Metric::L2,
                element: ElementType::U8,
                n: N as u64,
                queries: QUERIES as u64,
                dim: DIM as u64,
            },
            given: vec![self.given.clone()],
            truth: TruthInfo {
                fingerprint: "truth".to_owned(),
                origin: TruthOrigin::Computed,
                width: 10,
                refuted_by: None,
            },
            accepted_checksums: Vec::new(),
            files: Vec::new(),
        };
        Subject {
            facts,
            scoring: ScoringSet {
                metric: Metric::L2,
                base: Vectors::U8(Rows::new(&self.base, DIM).unwrap()),
                queries: Vectors::U8(Rows::new(&self.queries, DIM).unwrap()),
                truth_ids: &self.ids,
                truth_distances: &self.distances,
                truth_width: 10,
                max_base_norm: 0.0,
            },
        }
    }
}

/// Plans one job of the fault adapter.
pub fn plan(
    subject: &Subject<'_>,
    measure: &Measure,
    build: Params,
    searches: Vec<Params>,
) -> PlannedJob {
    let job = Job {
        dataset: "generated".to_owned(),
        adapter: "faults".to_owned(),
        group: "faults".to_owned(),
        build,
        points: searches
            .into_iter()
            .map(|search| JobPoint {
                group: "faults".to_owned(),
                search,
                k: K,
                mode: Mode::Single,
                threads: 1,
                refused: None,
            })
            .collect(),
    };
    let machine = Machine {
        cpu_model: "test".to_owned(),
        cpus: 1,
        memory_bytes: 1,
    };
    let adapter = inspect_adapter(&installed(), &AtomicBool::new(false)).unwrap();
    PlannedJob::new(&job, measure, &subject.facts, &adapter, &machine).unwrap()
}

/// Runs all points of `job` into `store`.
pub fn run(
    store: &mut Store,
    job: &PlannedJob,
    subject: &Subject<'_>,
    measure: &Measure,
    limits: &Limits,
    interrupted: &AtomicBool,
) -> Result<(), RunError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    Bench {
        run_id: "test".to_owned(),
        measure,
        limits,
        cpus: preferred_cpus(),
        pool: &pool,
        store,
        observe: &mut |_| {},
        interrupted,
    }
    .run_job(job, &job.points, &installed(), subject)
}
