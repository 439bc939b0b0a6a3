//! Answers over a table of distances, and a sample record of each kind.
#![allow(dead_code, reason = "every test binary uses its own part")]

use annbench_core::wire::{BuildReport, Noise, Repetition, SearchReport};
use annbench_core::{
    Counters, Descriptor, EMPTY_SLOT, ElementType, MemoryReport, Metric, Mode, ParamValue, Params,
    Support,
};
use annbench_results::*;
use std::collections::BTreeMap;

/// Ids of all rows by (distance, id).
pub fn canonical_order(distances: &[f64]) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..distances.len() as u32).collect();
    ids.sort_by(|&a, &b| {
        distances[a as usize]
            .total_cmp(&distances[b as usize])
            .then(a.cmp(&b))
    });
    ids
}

/// Scores `answer` where row i is at `distances[i]`, against the exact truth.
pub fn score_with(answer: &[u32], k: usize, distances: &[f64], half_width: f64) -> QueryScore {
    let ids = canonical_order(distances);
    let sorted: Vec<f64> = ids.iter().map(|&id| distances[id as usize]).collect();
    let truth = TrueTopK::new(&ids, &sorted, k).unwrap();
    score_query(
        &mut Scratch::new(),
        answer,
        answer.len() as u32,
        truth,
        distances.len(),
        half_width,
        |id| distances[id as usize],
    )
}

/// [`score_with`] in exact arithmetic.
pub fn score(answer: &[u32], k: usize, distances: &[f64]) -> QueryScore {
    score_with(answer, k, distances, 0.0)
}

/// Distinct ids of rows among the first k.
pub fn cleaned(answer: &[u32], k: usize, n: usize) -> Vec<u32> {
    let mut kept = Vec::new();
    for &id in answer.iter().take(k) {
        if id != EMPTY_SLOT && (id as usize) < n && !kept.contains(&id) {
            kept.push(id);
        }
    }
    kept
}

/// Hits of k-recall@m by its definition: |first m of the answer ∩ T_k|, where `truth` is T_k.
pub fn k_recall_at_m_hits(answer: &[u32], truth: &[u32], m: usize) -> usize {
    let first = &answer[..m.min(answer.len())];
    truth.iter().filter(|id| first.contains(id)).count()
}

/// Whether the nearest row is among the first `r` of the answer: the term of 1-recall@R.
pub fn one_recall_at_r_hit(answer: &[u32], nearest: u32, r: usize) -> bool {
    answer.iter().take(r).any(|&id| id == nearest)
}

/// An error and its causes as `{:#}` of anyhow prints them.
pub fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}

pub fn machine() -> Machine {
    Machine {
        cpu_model: "A CPU".to_owned(),
        cpus: 2,
        memory_bytes: 1 << 34,
    }
}

pub fn identity() -> PointIdentity {
    PointIdentity {
        build: BuildIdentity {
            base_fingerprint: "ba5e".to_owned(),
            metric: Metric::L2,
            element_given: ElementType::F32,
            adapter: "exact".to_owned(),
            executable_sha256: "e0".to_owned(),
            library_version: "1.0".to_owned(),
            build_params: Params::new()
                .with("m", ParamValue::Int(16))
                .with("ratio", ParamValue::Float(0.5)),
            build_threads: 2,
            seed: 1,
            base_residence: BaseResidence::Copied,
            machine: machine(),
        },
        queries_fingerprint: "9e".to_owned(),
        search_params: Params::new().with("ef", ParamValue::Int(40)),
        k: 2,
        mode: Mode::Single,
        threads: 1,
        repetitions: 1,
        min_pass_ns: 1_000,
        warm_up_ns: 10,
    }
}

pub fn dataset() -> DatasetInfo {
    DatasetInfo {
        name: "tiny".to_owned(),
        base_fingerprint: "ba5e".to_owned(),
        queries_fingerprint: "9e".to_owned(),
        metric: Metric::L2,
        element: ElementType::F32,
        n: 4,
        queries: 2,
        dim: 1,
    }
}

pub fn truth() -> TruthInfo {
    TruthInfo {
        fingerprint: "7207".to_owned(),
        origin: TruthOrigin::Shipped,
        width: 3,
        proved_queries: None,
        refuted_by: None,
    }
}

pub fn noise() -> Noise {
    Noise {
        clock_pairs: 100,
        clock_pair_ps: 34_000,
        longest_gap_ns: 900,
        load_average_x100: Some(12),
    }
}

pub fn repetition() -> Repetition {
    Repetition {
        passes: 2,
        wall_ns: 4_000,
        cpu_ns: Some(4_000),
        threads_seen: Some(1),
        minor_faults: Some(0),
        major_faults: None,
        ids_hash: "aa".to_owned(),
        last_ids_hash: "aa".to_owned(),
        ids_file: Some("ids-0.npy".to_owned()),
        returned_file: Some("returned-0.npy".to_owned()),
        latency_file: Some("latency-0.npy".to_owned()),
        latency_hash: None,
        invalid_count: 0,
        invalid: Vec::new(),
    }
}

pub fn measured(raw_dir: &str) -> Measured {
    Measured {
        raw_dir: raw_dir.to_owned(),
        report: SearchReport {
            repetitions: vec![repetition()],
            warm_up_passes: 1,
            warm_up_wall_ns: 10,
            searcher_wall_ns: 5,
            counted_queries: 4,
            counters: Counters::default(),
            affinity: Ok(vec![0]),
            noise_before: noise(),
            noise_after: noise(),
            request_wall_ns: 9_000,
        },
        thread_env: BTreeMap::from([("OMP_NUM_THREADS".to_owned(), "1".to_owned())]),
    }
}

pub fn quality() -> Quality {
    Quality {
        k: 2,
        scored_queries: 2,
        undefined_queries: 0,
        hits: 3,
        id_hits: 3,
        queries_where_ids_differ: 0,
        duplicates: 0,
        short: 0,
        over_returned: 0,
        invalid: 0,
        beats_truth: 0,
        queries_using_tolerance: 0,
        recall_mean: 0.75,
        recall_min: 0.5,
        recall_p05: 0.5,
        perfect_share: 0.5,
    }
}

/// Nearest first in one of two queries, second in none.
pub fn other_metrics() -> OtherMetrics {
    OtherMetrics {
        scored_queries: 2,
        k_recall_at_n: vec![KRecallAtN {
            k: 1,
            n: 2,
            id_hits: 1,
            recall: 0.5,
        }],
        one_recall_at_r: vec![OneRecallAtR {
            r: 1,
            queries_found: 1,
            recall: 0.5,
        }],
        nearest_at_rank: vec![1, 0],
        mrr: 0.5,
        relative_distance_error: Ok(RelativeDistanceError {
            queries: 2,
            short_queries: 0,
            zero_queries: 0,
            zero_pairs: 0,
            mean: Some(0.25),
        }),
        ann_benchmarks_recall: Ok(AnnBenchmarksRecall {
            slots_within: 3,
            recall: 0.75,
        }),
        big_ann_recall: BigAnnRecall {
            extended_hits: 3,
            recall: 0.75,
        },
        qrels: Some(RelevanceQuality {
            queries: 1,
            queries_without_relevant: 1,
            queries_not_judged: 0,
            relevant: 1,
            relevant_found: 1,
            first_relevant_at_rank: vec![1, 0],
            ndcg: Some(1.0),
            mrr: Some(1.0),
            recall: Some(1.0),
        }),
    }
}

/// A search record of the point named by `digit` 64 times.
pub fn search(digit: char, outcome: Outcome) -> SearchRecord {
    let ok = outcome == Outcome::Ok;
    let point_id = String::from(digit).repeat(64);
    SearchRecord {
        run_id: "run-1".to_owned(),
        identity: identity(),
        build_id: Some("build-1".to_owned()),
        dataset: dataset(),
        library: "exact 1.0".to_owned(),
        group: "smoke".to_owned(),
        outcome,
        measured: ok.then(|| measured(&format!("raw/{point_id}"))),
        truth: ok.then(truth),
        quality: ok.then(quality),
        strata: None,
        other_metrics: None,
        other_quality: BTreeMap::new(),
        speed: ok.then(|| Speed {
            qps: vec![1e6],
            qps_median: 1e6,
            qps_min: 1e6,
            qps_max: 1e6,
            service_latency: Vec::new(),
        }),
        accepted_checksums: Vec::new(),
        narrowed: Vec::new(),
        accepted_violations: Vec::new(),
        point_id,
    }
}

pub fn search_record(digit: char, outcome: Outcome) -> Record {
    Record::Search(Box::new(search(digit, outcome)))
}

pub fn build_record() -> Record {
    Record::Build(Box::new(BuildRecord {
        run_id: "run-1".to_owned(),
        build_id: "build-1".to_owned(),
        build_key: "b1".to_owned(),
        identity: identity().build,
        dataset: dataset(),
        group: "smoke".to_owned(),
        outcome: Outcome::Failed(Failure {
            stage: annbench_core::wire::Stage::Build,
            cause: Cause::Signal {
                signal: 11,
                name: "SIGSEGV".to_owned(),
            },
            message: "ended by SIGSEGV".to_owned(),
            stderr_tail: "line one\nline \u{1F600} two".to_owned(),
        }),
        loaded: false,
        report: Some(BuildReport {
            wall_ns: u64::MAX,
            cpu_ns: None,
            private_growth_bytes: Some(-5),
            peak_resident_bytes: Some(1 << 40),
            borrowed_base_bytes: 0,
            memory: MemoryReport::default(),
            threads_seen: Some(2),
            affinity: Ok(vec![0]),
        }),
        saved: None,
        sampled_peak_bytes: None,
        attempt_wall_ns: 7,
    }))
}

pub fn run_record() -> Record {
    let descriptor = Descriptor {
        adapter: "exact".to_owned(),
        library: "exact".to_owned(),
        library_version: "1.0".to_owned(),
        supports: vec![Support {
            metric: Metric::L2,
            element: ElementType::F32,
        }],
        modes: vec![Mode::Single],
        saves: false,
        deterministic_build: true,
        seeded: false,
        build_facts: BTreeMap::new(),
        build_params: Vec::new(),
        search_params: Vec::new(),
    };
    Record::Run(Box::new(RunRecord {
        run_id: "run-1".to_owned(),
        started_unix_s: 1_700_000_000,
        annbench_version: "0.1.0".to_owned(),
        command: "annbench run configs/quickstart.yaml".to_owned(),
        config_texts: BTreeMap::from([("quickstart.yaml".to_owned(), "k: [10]\n".to_owned())]),
        config_hash: "c0".to_owned(),
        machine: machine(),
        environment: BTreeMap::from([
            ("kernel".to_owned(), Fact::Known("6.1".to_owned())),
            (
                "governor".to_owned(),
                Fact::Unavailable("no cpufreq".to_owned()),
            ),
        ]),
        adapters: BTreeMap::from([(
            "exact".to_owned(),
            AdapterInfo {
                descriptor,
                executable_sha256: "e0".to_owned(),
            },
        )]),
        selftest: Some(SelfTest {
            checks: vec![SelfTestCheck {
                name: "null".to_owned(),
                passed: true,
                detail: "60 ns".to_owned(),
            }],
            overhead_ns: 60,
            clock_pair_ps: 34_000,
        }),
        accepted_checksums: Vec::new(),
        accepted_violations: Vec::new(),
        budget_ns: Some(1_800_000_000_000),
        stop_at_recall: Some(0.999),
    }))
}

pub fn failed(cause: Cause) -> Outcome {
    Outcome::Failed(Failure {
        stage: annbench_core::wire::Stage::Search,
        cause,
        message: "it failed".to_owned(),
        stderr_tail: String::new(),
    })
}
