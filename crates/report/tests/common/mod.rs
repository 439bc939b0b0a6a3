//! Made-up records with the shape of real ones.
#![allow(dead_code, clippy::unwrap_used)]

use annbench_core::wire::{BuildReport, Noise, Repetition, SearchReport, Stage};
use annbench_core::{Counters, ElementType, MemoryReport, Metric, Mode, ParamValue, Params};
use annbench_results::*;
use std::collections::BTreeMap;

pub fn machine() -> Machine {
    Machine {
        cpu_model: "Intel(R) Xeon(R) Platinum 8488C".to_owned(),
        cpus: 2,
        memory_bytes: 16 << 30,
    }
}

pub fn dataset() -> DatasetInfo {
    DatasetInfo {
        name: "siftimg-50k-128-euclidean".to_owned(),
        base_fingerprint: "b3:4fd0c1c7a1a94be0a2f5".to_owned(),
        queries_fingerprint: "b3:9a1f8e55d2077c3e11aa".to_owned(),
        metric: Metric::L2,
        element: ElementType::U8,
        n: 50_000,
        queries: 1000,
        dim: 128,
    }
}

pub fn truth() -> TruthInfo {
    TruthInfo {
        fingerprint: "b3:77e2ab90c4d1f00e5a5a".to_owned(),
        origin: TruthOrigin::Shipped,
        width: 100,
        proved_queries: None,
        refuted_by: None,
    }
}

pub fn int(value: i64) -> ParamValue {
    ParamValue::Int(value)
}

pub fn run(run_id: &str, command: &str) -> Record {
    Record::Run(Box::new(RunRecord {
        run_id: run_id.to_owned(),
        started_unix_s: 1_790_000_000,
        annbench_version: "0.1.0".to_owned(),
        command: command.to_owned(),
        config_texts: BTreeMap::new(),
        config_hash: String::new(),
        machine: machine(),
        environment: BTreeMap::new(),
        adapters: BTreeMap::new(),
        selftest: None,
        accepted_checksums: Vec::new(),
        accepted_violations: Vec::new(),
        budget_ns: None,
        stop_at_recall: None,
    }))
}

pub fn selftest(spin_passed: bool) -> SelfTest {
    let check = |name: &str, passed, detail: &str| SelfTestCheck {
        name: name.to_owned(),
        passed,
        detail: detail.to_owned(),
    };
    SelfTest {
        checks: vec![
            check("exact", true, "recall 1"),
            check(
                "spin",
                spin_passed,
                "expected within 1 % of 1.000 ms, found 1.200 ms",
            ),
        ],
        overhead_ns: 62,
        clock_pair_ps: 34_000,
    }
}

/// What a made-up library is called and how fast it is.
#[derive(Clone)]
pub struct Library {
    pub adapter: &'static str,
    pub version: &'static str,
    pub mode: Mode,
    pub threads: u64,
    pub run_id: &'static str,
}

impl Library {
    pub fn new(adapter: &'static str, version: &'static str) -> Self {
        Self {
            adapter,
            version,
            mode: Mode::Single,
            threads: 1,
            run_id: "run-1",
        }
    }

    pub fn build_identity(&self, build_params: &Params) -> BuildIdentity {
        BuildIdentity {
            base_fingerprint: dataset().base_fingerprint,
            metric: Metric::L2,
            element_given: ElementType::F32,
            adapter: self.adapter.to_owned(),
            executable_sha256: format!("e{}{}", self.adapter, self.version),
            library_version: self.version.to_owned(),
            build_params: build_params.clone(),
            build_threads: 2,
            seed: 1,
            base_residence: BaseResidence::Copied,
            machine: machine(),
        }
    }

    pub fn build(&self, build_params: &Params, wall_s: f64, mib: i64) -> Record {
        Record::Build(Box::new(BuildRecord {
            run_id: self.run_id.to_owned(),
            build_id: format!("build {build_params}"),
            build_key: format!("{} {build_params}", self.adapter),
            identity: self.build_identity(build_params),
            dataset: dataset(),
            group: "base".to_owned(),
            outcome: Outcome::Ok,
            loaded: false,
            report: Some(BuildReport {
                wall_ns: (wall_s * 1e9) as u64,
                cpu_ns: None,
                private_growth_bytes: Some(mib << 20),
                peak_resident_bytes: None,
                borrowed_base_bytes: 6_400_000,
                memory: MemoryReport {
                    borrows_base: true,
                    reported_bytes: None,
                },
                threads_seen: None,
                affinity: Ok(vec![0]),
            }),
            saved: None,
            sampled_peak_bytes: None,
            attempt_wall_ns: (wall_s * 1e9) as u64,
        }))
    }

    /// A point that ended with `outcome` and has no figures.
    pub fn unmeasured(
        &self,
        build_params: &Params,
        search_params: &Params,
        k: u64,
        outcome: Outcome,
    ) -> SearchRecord {
        let identity = PointIdentity {
            build: self.build_identity(build_params),
            queries_fingerprint: dataset().queries_fingerprint,
            search_params: search_params.clone(),
            k,
            mode: self.mode,
            threads: self.threads,
            repetitions: 5,
            min_pass_ns: 200_000_000,
            warm_up_ns: 100_000_000,
        };
        SearchRecord {
            run_id: self.run_id.to_owned(),
            point_id: annbench_results::point_id(&identity).unwrap(),
            identity,
            build_id: Some(format!("build {build_params}")),
            dataset: dataset(),
            library: format!("{} {}", self.adapter, self.version),
            group: "base".to_owned(),
            outcome,
            measured: None,
            truth: None,
            quality: None,
            strata: None,
            other_metrics: None,
            other_quality: BTreeMap::new(),
            speed: None,
            accepted_checksums: Vec::new(),
            narrowed: Vec::new(),
            accepted_violations: Vec::new(),
        }
    }

    /// A measured point.
    pub fn point(
        &self,
        build_params: &Params,
        search_params: &Params,
        k: u64,
        recall: f64,
        qps: f64,
    ) -> SearchRecord {
        let mut record = self.unmeasured(build_params, search_params, k, Outcome::Ok);
        record.truth = Some(truth());
        record.quality = Some(quality(k, recall));
        let latency = Latency {
            mean_ns: 1e9 / qps,
            p50_ns: (0.95e9 / qps) as u64,
            p95_ns: (1.4e9 / qps) as u64,
            p99_ns: (1.8e9 / qps) as u64,
            p999_ns: (3e9 / qps) as u64,
            max_ns: (9e9 / qps) as u64,
        };
        let rates = [0.97, 0.99, 1.0, 1.01, 1.02].map(|factor| factor * qps);
        record.speed = Some(Speed {
            qps: rates.to_vec(),
            qps_median: qps,
            qps_min: rates[0],
            qps_max: rates[4],
            service_latency: match self.mode {
                Mode::Single => vec![latency; 5],
                Mode::Batch => Vec::new(),
            },
        });
        record.measured = Some(measured(Some((3e6 / qps * 1000.0) as u64)));
        record
    }
}

pub fn quality(k: u64, recall: f64) -> Quality {
    let hits = (recall * (k * 1000) as f64).round() as u64;
    let of_one = |r: f64| (r.clamp(0.0, 1.0) * k as f64).floor() / k as f64;
    Quality {
        k,
        scored_queries: 1000,
        undefined_queries: 0,
        hits,
        id_hits: hits,
        queries_where_ids_differ: 0,
        duplicates: 0,
        short: 0,
        over_returned: 0,
        invalid: 0,
        beats_truth: 0,
        queries_using_tolerance: 0,
        recall_mean: recall,
        recall_min: of_one(recall - 0.5),
        recall_p05: of_one(recall - 0.2),
        perfect_share: recall * recall,
    }
}

pub fn measured(distances: Option<u64>) -> Measured {
    let noise = Noise {
        clock_pairs: 1,
        clock_pair_ps: 34_000,
        longest_gap_ns: 1000,
        load_average_x100: None,
    };
    let repetition = Repetition {
        passes: 4,
        wall_ns: 200_000_000,
        cpu_ns: None,
        threads_seen: None,
        minor_faults: None,
        major_faults: None,
        ids_hash: "same".to_owned(),
        last_ids_hash: "same".to_owned(),
        ids_file: None,
        returned_file: None,
        latency_file: None,
        latency_hash: None,
        invalid_count: 0,
        invalid: Vec::new(),
    };
    Measured {
        raw_dir: "raw/p".to_owned(),
        report: SearchReport {
            repetitions: vec![repetition; 5],
            warm_up_passes: 1,
            warm_up_wall_ns: 1,
            searcher_wall_ns: 1,
            counted_queries: 1000,
            counters: Counters {
                distance_computations: distances,
                vertices_visited: None,
            },
            affinity: Ok(vec![0]),
            noise_before: noise.clone(),
            noise_after: noise,
            request_wall_ns: 1,
        },
        thread_env: BTreeMap::new(),
    }
}

pub fn failed(cause: Cause, message: &str) -> Outcome {
    Outcome::Failed(Failure {
        stage: Stage::Search,
        cause,
        message: message.to_owned(),
        stderr_tail: String::new(),
    })
}

pub fn search(record: SearchRecord) -> Record {
    Record::Search(Box::new(record))
}

/// A curve: `ef` and the recall and QPS it gives.
const HNSW: [(i64, f64, f64); 8] = [
    (10, 0.7804, 21_500.0),
    (20, 0.9012, 15_800.0),
    (40, 0.9671, 10_200.0),
    (80, 0.9921, 6_100.0),
    (120, 0.9968, 4_350.0),
    (200, 0.9990, 2_800.0),
    (400, 0.9997, 1_480.0),
    (800, 0.9999, 760.0),
];
const IVF: [(i64, f64, f64); 8] = [
    (1, 0.3211, 26_000.0),
    (2, 0.4610, 19_500.0),
    (4, 0.6312, 13_100.0),
    (8, 0.7820, 8_300.0),
    (16, 0.9013, 4_900.0),
    (32, 0.9641, 2_700.0),
    (64, 0.9914, 1_450.0),
    (128, 0.9988, 760.0),
];

/// Three libraries, about fifty points at k = 10, failures among them.
pub fn campaign() -> Vec<Record> {
    let mut records = vec![run(
        "run-1",
        "annbench run configs/quickstart.yaml --out results/quick",
    )];
    if let Record::Run(run) = &mut records[0] {
        run.selftest = Some(selftest(true));
    }
    let exact = Library::new("exact", "0.1.0");
    let none = Params::new();
    records.push(exact.build(&none, 0.004, 0));
    records.push(search(exact.point(&none, &none, 10, 1.0, 182.0)));
    let hnsw_rs = Library::new("hnsw_rs", "0.3.4");
    for (m, slower) in [(16, 1.0), (32, 1.35)] {
        let build = Params::new()
            .with("m", int(m))
            .with("ef_construction", int(200));
        records.push(hnsw_rs.build(&build, 7.5 * slower, 38 + m / 4));
        for (ef, recall, qps) in HNSW {
            let recall = 1.0 - (1.0 - recall) * 1.7 / slower.powi(3);
            let params = Params::new().with("ef", int(ef));
            records.push(search(hnsw_rs.point(
                &build,
                &params,
                10,
                recall,
                0.62 * qps / slower,
            )));
        }
    }
    let faiss = Library::new("faiss", "1.12.0");
    let factory = |text: &str| Params::new().with("factory", ParamValue::Text(text.to_owned()));
    let first_of_faiss = records.len();
    let hnsw = factory("HNSW16").with("ef_construction", int(200));
    records.push(faiss.build(&hnsw, 5.12, 43));
    for (ef, recall, qps) in HNSW {
        let params = Params::new().with("ef_search", int(ef));
        records.push(search(faiss.point(&hnsw, &params, 10, recall, qps)));
    }
    let ivf = factory("IVF447,Flat");
    records.push(faiss.build(&ivf, 0.81, 31));
    for (nprobe, recall, qps) in IVF {
        let params = Params::new().with("nprobe", int(nprobe));
        records.push(search(faiss.point(&ivf, &params, 10, recall, qps)));
    }
    let timeout = Cause::Timeout {
        limit_ns: 600_000_000_000,
    };
    let params = Params::new().with("ef_search", int(1600));
    records.push(search(faiss.unmeasured(
        &hnsw,
        &params,
        10,
        failed(timeout, "no reply within 600 s"),
    )));
    let signal = Cause::Signal {
        signal: 11,
        name: "SIGSEGV".to_owned(),
    };
    let params = Params::new().with("nprobe", int(256));
    records.push(search(faiss.unmeasured(
        &ivf,
        &params,
        10,
        failed(signal, "the worker was ended by SIGSEGV"),
    )));
    for nprobe in [512, 1024, 2048] {
        let params = Params::new().with("nprobe", int(nprobe));
        let outcome = Outcome::Rejected {
            reason: format!("require: nprobe <= nlist is not met ({nprobe} > 447)"),
        };
        records.push(search(faiss.unmeasured(&ivf, &params, 10, outcome)));
    }
    for record in &mut records[first_of_faiss..] {
        if let Record::Search(search) = record {
            let params = search.identity.build.build_params.to_string();
            search.group = if params.contains("IVF") {
                "ivf"
            } else {
                "hnsw"
            }
            .to_owned();
        }
    }
    records
}

/// Two runs, two ks, two modes; a truth that is refuted, tied ids, varying answers, an overridden
/// checksum, a repeated point, names that need quoting.
pub fn eventful() -> (Vec<Record>, Vec<Record>) {
    let library = Library::new("faiss", "1.12.0");
    let build = Params::new().with("factory", ParamValue::Text("IVF447,PQ16x4fs".to_owned()));
    let nprobe = |n| Params::new().with("nprobe", int(n));
    let mut tied = library.point(&build, &nprobe(1), 10, 0.5, 9000.0);
    let tied_quality = tied.quality.as_mut().unwrap();
    tied_quality.id_hits -= 7;
    tied_quality.queries_where_ids_differ = 5;
    tied_quality.duplicates = 3;
    tied_quality.short = 40;
    tied.accepted_checksums = vec!["siftimg-50k.u8bin".to_owned()];
    tied.accepted_violations = vec![
        "siftimg-50k-128-euclidean: queries_held_out is violated: 1 of 1000 queries (0.10 %) are rows \
         of the base: query 7 is row 11, and accepted by name"
            .to_owned(),
    ];
    let mut varying = library.point(&build, &nprobe(4), 10, 0.96, 7000.0);
    varying.other_quality.insert(2, quality(10, 0.958));
    let mut beaten = library.point(&build, &nprobe(16), 10, 0.99996, 120.0);
    beaten.quality.as_mut().unwrap().beats_truth = 2;
    let unmeasured = |n, k, outcome| search(library.unmeasured(&build, &nprobe(n), k, outcome));
    let first = vec![
        run("run-1", "annbench run configs/sift1m.yaml"),
        unmeasured(
            1,
            10,
            failed(Cause::Panic, "first attempt, \"quoted\",\nsecond line"),
        ),
        library.build(&build, 123.4, -1),
        search(tied),
        search(varying),
        search(beaten),
        unmeasured(
            64,
            10,
            Outcome::Skipped {
                cause: SkipCause::Build,
                because: "the worker could not be started again".to_owned(),
            },
        ),
    ];
    let mut batch = library.clone();
    batch.mode = Mode::Batch;
    batch.run_id = "run-2";
    let mut again = library.clone();
    again.run_id = "run-2";
    let memory = Cause::OutOfMemory {
        limit_bytes: 1 << 30,
        observed_bytes: None,
    };
    let mut run_record = run("run-2", "annbench run configs/sift1m.yaml --group quick");
    if let Record::Run(run) = &mut run_record {
        run.selftest = Some(selftest(false));
    }
    let mut lost = batch.build(&Params::new().with("m", int(64)), 0.0, 0);
    if let Record::Build(build) = &mut lost {
        build.outcome = failed(memory.clone(), "over the limit");
        build.report = None;
    }
    let second = vec![
        run_record,
        lost,
        batch.build(&build, 118.0, 33),
        search(batch.point(&build, &nprobe(4), 10, 0.96, 31_000.0)),
        search(again.point(&build, &nprobe(4), 10, 0.96, 7100.0)),
        search(again.point(&build, &nprobe(4), 100, 0.91, 5100.0)),
        search(again.unmeasured(&build, &nprobe(16), 100, failed(memory, "over the limit"))),
    ];
    (first, second)
}
