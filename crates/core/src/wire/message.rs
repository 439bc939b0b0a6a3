use crate::{
    BuildSpec, Counters, Descriptor, ElementType, InvalidId, MemoryReport, PointSpec, SearchSpec,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Vectors in a file: where they start and what they are. Rows follow one another without gaps; sets
/// are `n + 1` offsets u64, from 0 on, and then their members u32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapSpec {
    /// The file.
    pub path: PathBuf,
    /// First byte of row 0, or of the first offset.
    pub offset_bytes: u64,
    /// Bytes of all rows, offsets included.
    pub len_bytes: u64,
    /// Number of rows.
    pub n: usize,
    /// Components per row; for sets, one more than the largest number that a set may hold.
    pub dim: usize,
    /// Component type, little-endian.
    pub element: ElementType,
}

/// A message with the number of the request that it is or answers, so that a reply can never be
/// taken for another's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbered<T> {
    /// Counts requests from 1; 0 is the hello.
    pub number: u64,
    /// The message.
    pub message: T,
}

/// What the runner asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Judge points without building anything; answered by [`Reply::Checked`].
    Check {
        /// The points.
        points: Vec<PointSpec>,
    },
    /// Map base and queries; answered by [`Reply::Opened`].
    Open {
        /// The base vectors.
        base: MapSpec,
        /// The queries.
        queries: MapSpec,
        /// Whether to copy the base into anonymous memory.
        copy_base: bool,
        /// CPUs the process may run on, in order of preference; empty: leave as it is.
        cpus: Vec<usize>,
    },
    /// Build the index; answered by [`Reply::Built`].
    Build {
        /// What to build.
        spec: BuildSpec,
    },
    /// Save the built index; answered by [`Reply::Saved`].
    Save {
        /// An existing, empty directory.
        dir: PathBuf,
    },
    /// Load an index instead of building it; answered by [`Reply::Built`].
    Load {
        /// Where it was saved.
        dir: PathBuf,
        /// What was built.
        spec: BuildSpec,
    },
    /// Measure one query-time point; answered by [`Reply::Searched`].
    Search(SearchRequest),
    /// End the process; answered by the pipe's end.
    Close,
}

impl Request {
    /// The word for it in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Request::Check { .. } => "check",
            Request::Open { .. } => "open",
            Request::Build { .. } => "build",
            Request::Save { .. } => "save",
            Request::Load { .. } => "load",
            Request::Search(_) => "search",
            Request::Close => "close",
        }
    }
}

/// One query-time point and how to measure it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRequest {
    /// The point.
    pub spec: SearchSpec,
    /// Repetitions, all of them kept.
    pub repetitions: usize,
    /// Shortest wall time of a repetition; the query set is repeated to reach it.
    pub min_pass_ns: u64,
    /// Shortest wall time of the untimed warm-up; at least one pass is made.
    pub warm_up_ns: u64,
    /// Existing directory for the raw files.
    pub output_dir: PathBuf,
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The worker's first words.
    Hello {
        /// [`super::PROTOCOL_VERSION`] of the worker.
        protocol: u32,
        /// [`super::REVISION`] of the worker; absent in an adapter that does not link this crate.
        #[serde(default)]
        revision: Option<String>,
        /// What the adapter is.
        descriptor: Box<Descriptor>,
    },
    /// A verdict per point, in order.
    Checked {
        /// The verdicts.
        verdicts: Vec<Verdict>,
    },
    /// The vectors are mapped.
    Opened(OpenReport),
    /// The index stands.
    Built(Box<BuildReport>),
    /// The index is on disk.
    Saved {
        /// Size of the directory.
        bytes: u64,
    },
    /// The point is measured.
    Searched(Box<SearchReport>),
    /// The stage did not succeed; the worker goes on.
    Failed(Fault),
}

impl Reply {
    /// The word for it in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Reply::Hello { .. } => "hello",
            Reply::Checked { .. } => "checked",
            Reply::Opened(_) => "opened",
            Reply::Built(_) => "built",
            Reply::Saved { .. } => "saved",
            Reply::Searched(_) => "searched",
            Reply::Failed(_) => "failed",
        }
    }
}

/// Whether a point can be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It can.
    Accepted,
    /// It cannot, and why.
    Rejected(String),
}

/// A step of a worker's life, for records and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Starting the executable and its handshake.
    Start,
    /// Judging points.
    Check,
    /// Mapping vectors.
    Open,
    /// Building.
    Build,
    /// Saving.
    Save,
    /// Loading.
    Load,
    /// Searching.
    Search,
}

impl Stage {
    /// The word used in records and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Start => "start",
            Stage::Check => "check",
            Stage::Open => "open",
            Stage::Build => "build",
            Stage::Save => "save",
            Stage::Load => "load",
            Stage::Search => "search",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// What kind of failure the worker itself could report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The adapter refused.
    Rejected,
    /// The library reported an error.
    Error,
    /// Rust code panicked; the panic was caught.
    Panic,
    /// The worker could not write its raw files or read its input.
    Io,
    /// The request makes no sense in this state.
    Protocol,
}

/// A failure that did not end the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// In the library's words.
    pub message: String,
}

/// What opening cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenReport {
    /// Private memory after opening: the base copy, if any, is in it.
    pub anonymous_bytes: Option<u64>,
}

/// What a build cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildReport {
    /// Wall time of the call.
    pub wall_ns: u64,
    /// CPU time of all threads during the call.
    pub cpu_ns: Option<u64>,
    /// Growth of private memory since before the call, freed memory given back first.
    pub private_growth_bytes: Option<i64>,
    /// Highest resident set of the process up to now, base copy included.
    pub peak_resident_bytes: Option<u64>,
    /// Base bytes that searches still read.
    pub borrowed_base_bytes: u64,
    /// The adapter's own statement.
    pub memory: MemoryReport,
    /// Threads of the process at the end.
    pub threads_seen: Option<u64>,
    /// CPUs that the build was bound to, or why it was not.
    pub affinity: Result<Vec<usize>, String>,
}

/// How quiet the machine was: a fixed piece of work, timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    /// Pairs of clock reads made.
    pub clock_pairs: u64,
    /// Median of a pair, in picoseconds: total of a run of pairs over their number.
    pub clock_pair_ps: u64,
    /// Largest gap between two consecutive reads: what the scheduler took away at once.
    pub longest_gap_ns: u64,
    /// One-minute load average times 100, where the system tells.
    pub load_average_x100: Option<u64>,
}

/// Answers that are no ids, of which a repetition tells at most.
pub const MAX_INVALID_EXAMPLES: usize = 32;

/// One repetition of a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetition {
    /// Passes over the whole query set.
    pub passes: u64,
    /// Wall time from the first thread's start to the last one's end, over all passes.
    pub wall_ns: u64,
    /// CPU time of the whole process in that time.
    pub cpu_ns: Option<u64>,
    /// Threads of the process right after.
    pub threads_seen: Option<u64>,
    /// Minor page faults in that time.
    pub minor_faults: Option<u64>,
    /// Major page faults in that time.
    pub major_faults: Option<u64>,
    /// Hash of the ids of the first pass.
    pub ids_hash: String,
    /// Hash of the ids of the last pass; another value means that answers vary between passes.
    pub last_ids_hash: String,
    /// File with the ids u32 `[queries, k]`, absent when equal to the first repetition's.
    pub ids_file: Option<String>,
    /// File with the returned counts u32 `[queries]`, absent when equal to the first repetition's.
    pub returned_file: Option<String>,
    /// File with the latencies u64 ns `[passes, queries]`, absent in batch mode.
    pub latency_file: Option<String>,
    /// Hash of the latencies, absent in batch mode.
    pub latency_hash: Option<String>,
    /// Answers among the first k that are no ids at all.
    pub invalid_count: u64,
    /// The first of them, at most [`MAX_INVALID_EXAMPLES`].
    pub invalid: Vec<InvalidId>,
}

/// What a measured point yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchReport {
    /// All repetitions, in order.
    pub repetitions: Vec<Repetition>,
    /// Passes and wall time of the untimed warm-up.
    pub warm_up_passes: u64,
    /// Wall time of the untimed warm-up.
    pub warm_up_wall_ns: u64,
    /// Wall time of making the searchers.
    pub searcher_wall_ns: u64,
    /// Queries counted by `counters`.
    pub counted_queries: u64,
    /// Work counted by the library over those queries.
    pub counters: Counters,
    /// CPUs the searchers were bound to, or why they were not.
    pub affinity: Result<Vec<usize>, String>,
    /// The machine before the first repetition.
    pub noise_before: Noise,
    /// The machine after the last.
    pub noise_after: Noise,
    /// Wall time the worker spent on this request, measuring and all else.
    pub request_wall_ns: u64,
}
