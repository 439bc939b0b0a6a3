//! The lines of `records.jsonl`. Integers as measured, units in names; see results/README.md.

use crate::{OtherMetrics, StrataQuality};
use annbench_core::wire::{BuildReport, SearchReport, Stage};
use annbench_core::{Descriptor, ElementType, Metric, Mode, Params};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// Written once per invocation, first.
    Run(Box<RunRecord>),
    /// Written once per build attempt.
    Build(Box<BuildRecord>),
    /// Written once per search point.
    Search(Box<SearchRecord>),
}

impl Record {
    /// The word in `kind`: run, build or search.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Run(_) => "run",
            Record::Build(_) => "build",
            Record::Search(_) => "search",
        }
    }
}

/// A value that this machine may not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// What it told.
    Known(String),
    /// Why it did not.
    Unavailable(String),
}

/// One invocation of `annbench run`: who measured, with what, on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Unique name of the invocation.
    pub run_id: String,
    /// Seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// Version of annbench.
    pub annbench_version: String,
    /// The command line that reproduces the run, without machine paths.
    pub command: String,
    /// Text of every configuration file read, by name.
    pub config_texts: BTreeMap<String, String>,
    /// SHA-256 of the texts in name order.
    pub config_hash: String,
    /// The part of the machine that belongs to a point's identity.
    pub machine: Machine,
    /// Everything else the machine told: kernel, CPU flags, governor, SMT, compiler, thread
    /// variables, limits.
    pub environment: BTreeMap<String, Fact>,
    /// Adapters used, by name.
    pub adapters: BTreeMap<String, AdapterInfo>,
    /// Calibration of the harness on this machine, in this run.
    pub selftest: Option<SelfTest>,
    /// Checksums that were overridden by name.
    pub accepted_checksums: Vec<String>,
    /// Rules on datasets that were overridden by name, as `DATASET:RULE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_violations: Vec<String>,
    /// The time after which nothing was begun; nothing where it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// The recall beyond which slower points were skipped; nothing where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_at_recall: Option<f64>,
}

/// The machine, as far as it defines a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// CPU model.
    pub cpu_model: String,
    /// Logical CPUs that the run may use, by affinity and quota of the control group.
    pub cpus: u64,
    /// Main memory rounded up to whole GiB: the exact size changes with kernel and boot.
    pub memory_bytes: u64,
}

/// An adapter executable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdapterInfo {
    /// What it says of itself.
    pub descriptor: Descriptor,
    /// SHA-256 of the executable.
    pub executable_sha256: String,
}

/// Results of the calibration searchers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Every check, in order.
    pub checks: Vec<SelfTestCheck>,
    /// Median latency of a searcher that does nothing: the harness's own share, per query.
    pub overhead_ns: u64,
    /// Two clock reads in the same run, in picoseconds.
    pub clock_pair_ps: u64,
}

/// One check of the self-test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTestCheck {
    /// Its name: exact, random, null, spin.
    pub name: String,
    /// Whether it held.
    pub passed: bool,
    /// What was expected and what was found.
    pub detail: String,
}

/// The dataset a point ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetInfo {
    /// Catalogue name. Not part of any identity.
    pub name: String,
    /// Content fingerprint of the base.
    pub base_fingerprint: String,
    /// Content fingerprint of the queries.
    pub queries_fingerprint: String,
    /// Metric.
    pub metric: Metric,
    /// Element type of the set itself.
    pub element: ElementType,
    /// Base rows.
    pub n: u64,
    /// Queries.
    pub queries: u64,
    /// Components.
    pub dim: u64,
}

/// Where truth came from and whether it still stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthInfo {
    /// Content fingerprint of ids and recomputed distances.
    pub fingerprint: String,
    /// Its origin.
    pub origin: TruthOrigin,
    /// Columns it has.
    pub width: u64,
    /// Queries of whose neighbours an exact search has proved that none is nearer: all of computed truth, of
    /// shipped truth those that were searched. Older records do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proved_queries: Option<u64>,
    /// Evidence against it, found by an exact search for some queries when the dataset was opened.
    pub refuted_by: Option<String>,
}

/// Where truth came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TruthOrigin {
    /// Shipped with the dataset; ids range-checked, distances recomputed.
    Shipped,
    /// Computed by annbench's exact engine over the whole base.
    Computed,
}

/// Everything that defines a build. Its hash is the build key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildIdentity {
    /// Base content.
    pub base_fingerprint: String,
    /// Metric.
    pub metric: Metric,
    /// Element type handed to the library.
    pub element_given: ElementType,
    /// Adapter name.
    pub adapter: String,
    /// SHA-256 of its executable.
    pub executable_sha256: String,
    /// Version of the library.
    pub library_version: String,
    /// Build parameters.
    pub build_params: Params,
    /// Build threads.
    pub build_threads: u64,
    /// Seed.
    pub seed: u64,
    /// Whether the base was copied into anonymous memory or searched mapped.
    pub base_residence: BaseResidence,
    /// The machine.
    pub machine: Machine,
}

/// Where the base lives during a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseResidence {
    /// Copied once into anonymous memory before the build.
    Copied,
    /// Mapped from its file.
    Mapped,
}

/// Everything that defines a point. Its hash is the point id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointIdentity {
    /// The build.
    pub build: BuildIdentity,
    /// Query content.
    pub queries_fingerprint: String,
    /// Search parameters.
    pub search_params: Params,
    /// Neighbours asked for.
    pub k: u64,
    /// Mode.
    pub mode: Mode,
    /// Search threads.
    pub threads: u64,
    /// Repetitions.
    pub repetitions: u64,
    /// Shortest pass.
    pub min_pass_ns: u64,
    /// Shortest warm-up.
    pub warm_up_ns: u64,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// It worked.
    Ok,
    /// Nothing was attempted: the point makes no sense here.
    Rejected {
        /// Why.
        reason: String,
    },
    /// It was attempted and did not succeed.
    Failed(Failure),
    /// It was not attempted because of something else.
    Skipped {
        /// What kind of thing.
        #[serde(default)]
        cause: SkipCause,
        /// Because of what.
        because: String,
    },
}

impl Outcome {
    /// Why it was skipped; `None` when it was not.
    pub fn skip_cause(&self) -> Option<SkipCause> {
        match self {
            Outcome::Skipped { cause, .. } => Some(*cause),
            _ => None,
        }
    }

    /// The word for tables: ok, rejected, failed or skipped.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Rejected { .. } => "rejected",
            Outcome::Failed(_) => "failed",
            Outcome::Skipped { .. } => "skipped",
        }
    }
}

/// Why a point was not attempted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipCause {
    /// Its build did not succeed.
    #[default]
    Build,
    /// The time of the run was spent.
    Budget,
    /// A measured point had reached the recall beyond which slower ones were not asked for.
    Recall,
}

impl SkipCause {
    /// The words for tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Build => "build failed",
            Self::Budget => "budget spent",
            Self::Recall => "recall reached",
        }
    }
}

/// A failure with its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Where.
    pub stage: Stage,
    /// What.
    pub cause: Cause,
    /// In words.
    pub message: String,
    /// Last 4 KiB of the worker's standard error.
    pub stderr_tail: String,
}

/// What ended an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// The process exited by itself without a reply.
    Exit {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended the process.
    Signal {
        /// Its number.
        signal: i32,
        /// Its name, such as SIGSEGV.
        name: String,
    },
    /// The memory limit was exceeded, or an allocation failed under it.
    OutOfMemory {
        /// The limit.
        limit_bytes: u64,
        /// What was last seen, if anything was.
        observed_bytes: Option<u64>,
    },
    /// The deadline of the stage passed.
    Timeout {
        /// The deadline.
        limit_ns: u64,
    },
    /// Rust code panicked.
    Panic,
    /// The library reported an error.
    LibraryError,
    /// The worker did not speak the protocol.
    Protocol,
    /// Answers held ids that no base row has.
    InvalidAnswer,
    /// Reading input or writing raw results failed.
    Io,
}

impl Cause {
    /// The word for tables and plots.
    pub fn word(&self) -> &'static str {
        match self {
            Cause::Exit { .. } => "exit",
            Cause::Signal { .. } => "signal",
            Cause::OutOfMemory { .. } => "out of memory",
            Cause::Timeout { .. } => "timeout",
            Cause::Panic => "panic",
            Cause::LibraryError => "library error",
            Cause::Protocol => "protocol",
            Cause::InvalidAnswer => "invalid answer",
            Cause::Io => "i/o",
        }
    }
}

/// One attempt to build (or load) an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// The invocation that made it.
    pub run_id: String,
    /// Unique name of the attempt.
    pub build_id: String,
    /// Hash of `identity`.
    pub build_key: String,
    /// What was built.
    pub identity: BuildIdentity,
    /// On which dataset.
    pub dataset: DatasetInfo,
    /// Group of the sweep it came from, for people.
    pub group: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the index was loaded instead of built, after a crash.
    pub loaded: bool,
    /// What it cost; absent unless ok.
    pub report: Option<BuildReport>,
    /// Whether the index was saved in case of a crash; absent when that was not tried.
    pub saved: Option<SaveOutcome>,
    /// Highest private memory of the process tree that the runner saw, sampled at 10 Hz.
    pub sampled_peak_bytes: Option<u64>,
    /// Wall time of the attempt seen by the runner, process start and mapping included.
    pub attempt_wall_ns: u64,
}

/// How saving an index ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum SaveOutcome {
    /// It is on disk until the job is done.
    Saved,
    /// After a crash it would be built again.
    Failed {
        /// Why.
        reason: String,
    },
}

/// One measured (or failed, rejected, skipped) point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// The invocation that made it.
    pub run_id: String,
    /// Hash of `identity`.
    pub point_id: String,
    /// What was measured.
    pub identity: PointIdentity,
    /// The build it searched, absent when none stood.
    pub build_id: Option<String>,
    /// On which dataset.
    pub dataset: DatasetInfo,
    /// The library's own name and version, as on plots.
    pub library: String,
    /// Group of the sweep it came from, for people.
    pub group: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Raw measurement; absent when the search did not return.
    pub measured: Option<Measured>,
    /// The truth it was scored against.
    pub truth: Option<TruthInfo>,
    /// Scores of the first repetition; kept even when the answer was invalid.
    pub quality: Option<Quality>,
    /// The same scores by strata; absent where none are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<StrataQuality>,
    /// Metrics of the first repetition that are not recall@k; absent where an earlier version scored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_metrics: Option<OtherMetrics>,
    /// Scores of later repetitions whose ids differ from the first, by repetition number.
    #[serde(deserialize_with = "by_number")]
    pub other_quality: BTreeMap<u64, Quality>,
    /// Derived from the raw times.
    pub speed: Option<Speed>,
    /// Checksums that were overridden for this dataset.
    pub accepted_checksums: Vec<String>,
    /// Vectors of this dataset of which values were rounded by name.
    #[serde(default)]
    pub narrowed: Vec<String>,
    /// Rules that this dataset violates and that were overridden by name, each with its evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_violations: Vec<String>,
}

/// Keys of JSON objects are text, and serde does not turn them back into numbers below an enum that
/// is tagged by a field.
fn by_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u64, Quality>, D::Error> {
    BTreeMap::<String, Quality>::deserialize(deserializer)?
        .into_iter()
        .map(|(number, quality)| match number.parse() {
            Ok(number) => Ok((number, quality)),
            Err(_) => Err(D::Error::custom(format!(
                "repetition {number:?}: expected a whole number"
            ))),
        })
        .collect()
}

/// The raw measurement of a point, with its files in the run directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Folder of the raw files, relative to the run directory.
    pub raw_dir: String,
    /// What the worker reported.
    #[serde(flatten)]
    pub report: SearchReport,
    /// Thread variables in the worker's environment.
    pub thread_env: BTreeMap<String, String>,
}

/// Quality of the answers of one repetition. Sums over the scored queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Neighbours asked for.
    pub k: u64,
    /// Queries that entered the figures.
    pub scored_queries: u64,
    /// Queries left out because they have no direction (zero vectors under cosine).
    pub undefined_queries: u64,
    /// Strict, tie-aware hits: the numerator of recall@k.
    pub hits: u64,
    /// Hits against the canonical ids.
    pub id_hits: u64,
    /// Queries whose `hits` and `id_hits` differ.
    pub queries_where_ids_differ: u64,
    /// Repeated ids that were dropped.
    pub duplicates: u64,
    /// Slots among the first k that held no id.
    pub short: u64,
    /// Entries beyond k that were cut.
    pub over_returned: u64,
    /// Ids that no base row has.
    pub invalid: u64,
    /// Returned ids strictly nearer than the k-th true neighbour, outside the truth. Above zero
    /// they refute the truth.
    pub beats_truth: u64,
    /// Queries where the tie tolerance decided.
    pub queries_using_tolerance: u64,
    /// hits / (k * scored_queries).
    pub recall_mean: f64,
    /// Lowest recall of a query.
    pub recall_min: f64,
    /// The ceil(0.05 m)-th lowest recall (inverse CDF).
    pub recall_p05: f64,
    /// Share of queries with recall 1.
    pub perfect_share: f64,
}

/// Speed derived from raw times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Queries per second of each repetition.
    pub qps: Vec<f64>,
    /// Median over repetitions.
    pub qps_median: f64,
    /// Lowest repetition.
    pub qps_min: f64,
    /// Highest repetition.
    pub qps_max: f64,
    /// Closed-loop service latency of each repetition; empty in batch mode.
    pub service_latency: Vec<Latency>,
}

/// Service latency of one repetition over all its passes, by order statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}
