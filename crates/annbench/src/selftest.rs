//! Searchers with known answers and durations, run through the same worker, loop and scoring as
//! any library.

use crate::interrupt;
use annbench_config::{Job, JobPoint, Limits, Measure};
use annbench_core::wire::MapSpec;
use annbench_core::{ElementType, Metric, Mode, ParamValue, Params, Rows, Vectors};
use annbench_results::{
    DatasetInfo, Machine, Outcome, ScoringSet, SearchRecord, SelfTest, SelfTestCheck, Store,
    TruthInfo, TruthOrigin, latest_searches,
};
use annbench_runner::{
    Bench, Everything, GivenVectors, PlannedJob, Subject, SubjectFacts, adapter_folders,
    find_adapter, inspect_adapter, preferred_cpus,
};
use anyhow::{Context, bail};
use std::ops::ControlFlow;
use std::path::Path;

/// Base rows: enough that k/n is small, few enough that an exact scan takes no time.
const N: usize = 2000;
const QUERIES: usize = 200;
const DIM: usize = 16;
const K: usize = 10;
/// Two-sided 99.99 % quantile of the normal distribution: the draws are seeded, so a right harness
/// passes always, and a wrong one has no luck.
const Z: f64 = 3.890_591_886;
const SPIN_NS: u64 = 1_000_000;

/// Runs all calibration searchers.
///
/// # Errors
/// When the calibration adapter is missing or a searcher does not return; a check that fails is a
/// result, not an error.
pub fn run_selftest(machine: &Machine, pool: &rayon::ThreadPool) -> anyhow::Result<SelfTest> {
    let installed = find_adapter("calibration", &adapter_folders())?;
    let adapter = inspect_adapter(&installed, interrupt::flag())?;
    let folder = tempfile::tempdir().context("a temporary folder for the self-test")?;
    let made = Made::generate(folder.path(), pool)?;
    let subject = made.subject();
    let measure = Measure {
        modes: vec![Mode::Single],
        threads: vec![1],
        build_threads: 1,
        repetitions: 3,
        min_pass_ns: 50_000_000,
        warm_up_ns: 10_000_000,
        seed: 1,
        base_mapped: false,
    };
    let limits = Limits {
        build_ns: 60_000_000_000,
        search_ns: 60_000_000_000,
        memory_bytes: 4 << 30,
    };
    let log = folder.path().join("spin.log");
    let text = |name: &str| Params::new().with("searcher", ParamValue::Text(name.to_owned()));
    let searches = [
        text("exact"),
        text("random").with("seed", ParamValue::Int(1)),
        text("null"),
        text("spin")
            .with("spin_ns", ParamValue::Int(SPIN_NS as i64))
            .with("log", ParamValue::Text(log.display().to_string())),
    ];
    let job = Job {
        dataset: subject.facts.info.name.clone(),
        adapter: "calibration".to_owned(),
        group: "selftest".to_owned(),
        build: Params::new(),
        points: searches
            .into_iter()
            .map(|search| JobPoint {
                group: "selftest".to_owned(),
                search,
                k: K,
                mode: Mode::Single,
                threads: 1,
                refused: None,
            })
            .collect(),
    };
    let planned = PlannedJob::new(&job, &measure, &subject.facts, &adapter, machine)?;
    let mut store = Store::create_or_open(&folder.path().join("run"))?;
    Bench {
        run_id: "selftest".to_owned(),
        measure: &measure,
        limits: &limits,
        cpus: preferred_cpus(),
        pool,
        store: &mut store,
        steer: &mut Everything,
        observe: &mut |_| {},
        interrupted: interrupt::flag(),
    }
    .run_job(&planned, &planned.points, &installed, &subject)?;
    let records = latest_searches(store.records());
    let [exact, random, null, spin] = records.as_slice() else {
        bail!(
            "the self-test recorded {} points instead of 4",
            records.len()
        );
    };
    for record in &records {
        if record.outcome != Outcome::Ok {
            bail!(
                "calibration searcher {}: {}",
                record.identity.search_params,
                crate::progress::outcome_text(&record.outcome)
            );
        }
    }
    let overhead_ns = wall_per_query_ns(null);
    let clock_pair_ps = null
        .measured
        .as_ref()
        .map_or(0, |m| m.report.noise_before.clock_pair_ps);
    let checks = vec![
        check_exact(exact),
        check_random(random),
        check_null(null, overhead_ns, clock_pair_ps),
        check_spin(spin, &log)?,
    ];
    Ok(SelfTest {
        checks,
        overhead_ns,
        clock_pair_ps,
    })
}

fn check_exact(record: &SearchRecord) -> SelfTestCheck {
    let hits = record.quality.as_ref().map_or(0, |q| q.hits);
    SelfTestCheck {
        name: "exact".to_owned(),
        passed: hits == (QUERIES * K) as u64,
        detail: format!("a plain scan: expected {} hits, found {hits}", QUERIES * K),
    }
}

/// Hits of a random k-subset are hypergeometric: mean k^2/n a query, variance
/// k (k/n) (1 - k/n) (n - k)/(n - 1).
fn check_random(record: &SearchRecord) -> SelfTestCheck {
    let hits = record.quality.as_ref().map_or(0, |q| q.hits) as f64;
    let (n, k, m) = (N as f64, K as f64, QUERIES as f64);
    let mean = m * k * k / n;
    let deviation = (m * k * (k / n) * (1.0 - k / n) * (n - k) / (n - 1.0)).sqrt();
    let (low, high) = (mean - Z * deviation, mean + Z * deviation);
    SelfTestCheck {
        name: "random".to_owned(),
        passed: (low..=high).contains(&hits),
        detail: format!(
            "recall of {K} random ids of {N}: expected k/n = {:.4} within [{:.4}, {:.4}], found {:.4}",
            k / n,
            low.max(0.0) / (m * k),
            high / (m * k),
            hits / (m * k)
        ),
    }
}

/// Three pairs of clock reads are what a loop that reads the clock twice may cost at most.
fn check_null(record: &SearchRecord, overhead_ns: u64, clock_pair_ps: u64) -> SelfTestCheck {
    let hits = record.quality.as_ref().map_or(u64::MAX, |q| q.hits);
    SelfTestCheck {
        name: "null".to_owned(),
        passed: hits == 0 && overhead_ns * 1000 <= 3 * clock_pair_ps,
        detail: format!(
            "a searcher that does nothing: {overhead_ns} ns per query, {:.2} times two clock reads \
             ({:.1} ns); expected at most 3",
            overhead_ns as f64 * 1000.0 / clock_pair_ps.max(1) as f64,
            clock_pair_ps as f64 / 1000.0
        ),
    }
}

/// The harness reads its clock outside the searcher's own readings, so it can only see more.
fn check_spin(record: &SearchRecord, log: &Path) -> anyhow::Result<SelfTestCheck> {
    let own = read_log(log)?;
    let Some(measured) = &record.measured else {
        bail!("the spin searcher was not measured");
    };
    let mut first = measured.report.warm_up_passes as usize * QUERIES;
    let mut passed = true;
    let mut details = Vec::new();
    let latencies = record.speed.iter().flat_map(|s| &s.service_latency);
    for (repetition, latency) in measured.report.repetitions.iter().zip(latencies) {
        let calls = repetition.passes as usize * QUERIES;
        let Some(window) = own.get(first..first + calls) else {
            bail!("the spin log has {} calls, more were measured", own.len());
        };
        first += calls;
        let mut window = window.to_vec();
        window.sort_unstable();
        let median = window[(calls - 1) / 2];
        passed &= latency.p50_ns >= median && (latency.p50_ns - median) * 100 <= median;
        details.push(format!("{} against {median}", latency.p50_ns));
    }
    Ok(SelfTestCheck {
        name: "spin".to_owned(),
        passed,
        detail: format!(
            "median ns of a {} ms spin, the harness against the searcher's own log: {}; expected \
             never below and within 1 %",
            SPIN_NS / 1_000_000,
            details.join(", ")
        ),
    })
}

fn wall_per_query_ns(record: &SearchRecord) -> u64 {
    let repetitions = record.measured.iter().flat_map(|m| &m.report.repetitions);
    let mut per_query: Vec<u64> = repetitions
        .map(|r| r.wall_ns / (r.passes * QUERIES as u64))
        .collect();
    per_query.sort_unstable();
    per_query.get(per_query.len() / 2).copied().unwrap_or(0)
}

fn read_log(log: &Path) -> anyhow::Result<Vec<u64>> {
    let bytes = std::fs::read(log).with_context(|| format!("{}", log.display()))?;
    let (calls, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        bail!(
            "{}: {} bytes are no whole number of durations",
            log.display(),
            bytes.len()
        );
    }
    Ok(calls.iter().map(|call| u64::from_le_bytes(*call)).collect())
}

/// A small generated dataset with its exact truth.
struct Made {
    base: Vec<u8>,
    queries: Vec<u8>,
    truth_ids: Vec<u32>,
    truth_distances: Vec<f64>,
    given: GivenVectors,
}

impl Made {
    fn generate(folder: &Path, pool: &rayon::ThreadPool) -> anyhow::Result<Self> {
        let bytes = noise((N + QUERIES) * DIM);
        let (base, queries) = bytes.split_at(N * DIM);
        let write = |name: &str, bytes: &[u8]| -> anyhow::Result<MapSpec> {
            let path = folder.join(name);
            std::fs::write(&path, bytes).with_context(|| format!("{}", path.display()))?;
            Ok(MapSpec {
                path,
                offset_bytes: 0,
                len_bytes: bytes.len() as u64,
                n: bytes.len() / DIM,
                dim: DIM,
                element: ElementType::U8,
            })
        };
        let given = GivenVectors {
            element: ElementType::U8,
            base: write("base", base)?,
            queries: write("queries", queries)?,
        };
        let (base, queries) = (base.to_vec(), queries.to_vec());
        let neighbors = annbench_exact::search(
            vectors(&base)?,
            vectors(&queries)?,
            Metric::L2,
            K,
            pool,
            &|_, _| ControlFlow::Continue(()),
        )?;
        let (truth_ids, truth_distances) = neighbors.into_parts();
        Ok(Self {
            base,
            queries,
            truth_ids,
            truth_distances,
            given,
        })
    }

    fn subject(&self) -> Subject<'_> {
        let rows = |bytes| Vectors::U8(rows_of(bytes));
        let facts = SubjectFacts {
            info: DatasetInfo {
                name: "selftest".to_owned(),
                base_fingerprint: "generated".to_owned(),
                queries_fingerprint: "generated".to_owned(),
                metric: Metric::L2,
                element: ElementType::U8,
                n: N as u64,
                queries: QUERIES as u64,
                dim: DIM as u64,
            },
            given: vec![self.given.clone()],
            truth: TruthInfo {
                fingerprint: "generated".to_owned(),
                origin: TruthOrigin::Computed,
                width: K as u64,
                proved_queries: None,
                refuted_by: None,
            },
            accepted_checksums: Vec::new(),
            narrowed: Vec::new(),
            accepted_violations: Vec::new(),
            files: Vec::new(),
        };
        Subject {
            facts,
            scoring: ScoringSet {
                metric: Metric::L2,
                base: rows(&self.base),
                queries: rows(&self.queries),
                truth_ids: &self.truth_ids,
                truth_distances: &self.truth_distances,
                truth_width: K,
                max_base_norm: 0.0,
                strata: &[],
                relevance: None,
            },
        }
    }
}

fn vectors(bytes: &[u8]) -> anyhow::Result<Vectors<'_>> {
    Vectors::from_bytes(bytes, ElementType::U8, bytes.len() / DIM, DIM)
        .context("generated rows do not fit")
}

fn rows_of(bytes: &[u8]) -> Rows<'_, u8> {
    #[expect(
        clippy::expect_used,
        reason = "the length is a multiple of DIM by construction"
    )]
    Rows::new(bytes, DIM).expect("whole rows")
}

/// Bytes of SplitMix64 from seed 1.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
