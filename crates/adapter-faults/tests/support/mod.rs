//! A small dataset and a bench around the fault adapter.
#![allow(dead_code, reason = "each test binary uses its part")]

use annbench_config::{Job, JobPoint, Limits, Measure};
use annbench_core::wire::MapSpec;
use annbench_core::{ElementType, Metric, Mode, ParamValue, Params, Rows, Vectors, distance};
use annbench_results::{
    BuildRecord, Cause, DatasetInfo, Machine, Outcome, Record, ScoringSet, SearchRecord, Store,
    TruthInfo, TruthOrigin, latest_searches,
};
use annbench_runner::{
    Bench, Event, Everything, FileState, GivenVectors, Installed, PlannedJob, RunError, Steer,
    Subject, SubjectFacts, inspect_adapter, preferred_cpus,
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
                len_bytes: bytes.len() as u64,
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
                proved_queries: None,
                refuted_by: None,
            },
            accepted_checksums: Vec::new(),
            narrowed: Vec::new(),
            accepted_violations: Vec::new(),
            files: [&self.given.base, &self.given.queries]
                .map(|map| FileState::of(&map.path).unwrap())
                .to_vec(),
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
                strata: &[],
                relevance: None,
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

/// A generated dataset, a run directory, and how points are measured.
pub struct Lab {
    folder: tempfile::TempDir,
    pub made: Made,
    pub limits: Limits,
    /// Open from first to last: another test's process may hold the lock for a moment after this one
    /// has let go of it, between its fork and its exec.
    store: Store,
}

impl Lab {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Made::generate(folder.path());
        let store = Store::create_or_open(&folder.path().join("run")).unwrap();
        Self {
            folder,
            made,
            limits: limits(),
            store,
        }
    }

    pub fn run_dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// One build and its searches, planned.
    pub fn plan(&self, build: Params, searches: Vec<Params>) -> PlannedJob {
        plan(&self.made.subject(), &measure(), build, searches)
    }

    /// Runs a job into the run directory.
    pub fn try_run(
        &mut self,
        job: &PlannedJob,
        installed: &Installed,
        interrupted: &AtomicBool,
        observe: &mut dyn FnMut(Event),
    ) -> Result<(), RunError> {
        self.bench(job, installed, interrupted, observe, &mut Everything)
            .map(drop)
    }

    /// Runs a job, steered; the ids of the points that are left.
    pub fn try_steered(
        &mut self,
        job: &PlannedJob,
        installed: &Installed,
        interrupted: &AtomicBool,
        steer: &mut dyn Steer,
    ) -> Result<Vec<String>, RunError> {
        self.bench(job, installed, interrupted, &mut |_| {}, steer)
    }

    fn bench(
        &mut self,
        job: &PlannedJob,
        installed: &Installed,
        interrupted: &AtomicBool,
        observe: &mut dyn FnMut(Event),
        steer: &mut dyn Steer,
    ) -> Result<Vec<String>, RunError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let left = Bench {
            run_id: "test".to_owned(),
            measure: &measure(),
            limits: &self.limits,
            cpus: preferred_cpus(),
            pool: &pool,
            store: &mut self.store,
            steer,
            observe,
            interrupted,
        }
        .run_job(job, &job.points, installed, &self.made.subject())?;
        Ok(left
            .into_iter()
            .map(|point| point.point_id.clone())
            .collect())
    }

    /// Plans and runs one build with its searches to the end.
    pub fn run(&mut self, build: Params, searches: Vec<Params>) {
        let job = self.plan(build, searches);
        self.try_run(&job, &installed(), &AtomicBool::new(false), &mut |_| {})
            .unwrap();
    }

    pub fn records(&self) -> Vec<Record> {
        self.store.records().to_vec()
    }

    /// The searches in the order in which they were made.
    pub fn searches(&self) -> Vec<SearchRecord> {
        latest_searches(&self.records())
            .into_iter()
            .cloned()
            .collect()
    }

    /// The build attempts in order.
    pub fn builds(&self) -> Vec<BuildRecord> {
        self.records()
            .into_iter()
            .filter_map(|record| match record {
                Record::Build(build) => Some(*build),
                _ => None,
            })
            .collect()
    }

    /// What became of each search, in order.
    pub fn verdicts(&self) -> Vec<String> {
        self.searches()
            .iter()
            .map(|r| verdict(&r.outcome))
            .collect()
    }
}

/// The words of an outcome and its cause.
pub fn verdict(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(failure) => match &failure.cause {
            Cause::Signal { name, .. } => format!("failed: {name}"),
            Cause::Exit { code } => format!("failed: exit {code}"),
            cause => format!("failed: {}", cause.word()),
        },
        other => other.word().to_owned(),
    }
}

/// The fault that a search was asked for.
pub fn fault_of(record: &SearchRecord) -> String {
    record
        .identity
        .search_params
        .get("fault")
        .unwrap()
        .to_string()
}
