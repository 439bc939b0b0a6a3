//! What a campaign amounts to for one dataset: jobs, one worker process each.

use annbench_core::{ElementType, Metric, Mode, Params};

/// What sweeps may depend on: the dataset's facts, never its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetShape {
    /// Catalogue name.
    pub name: String,
    /// Metric.
    pub metric: Metric,
    /// Element type of the files.
    pub element: ElementType,
    /// Base rows.
    pub n: usize,
    /// Queries.
    pub queries: usize,
    /// Components.
    pub dim: usize,
}

/// Everything that is run in one worker process: one build and its searches.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Catalogue name of the dataset.
    pub dataset: String,
    /// Adapter name.
    pub adapter: String,
    /// Group that named the build first.
    pub group: String,
    /// Build parameters.
    pub build: Params,
    /// Searches, in the order of the sweep.
    pub points: Vec<JobPoint>,
}

/// One search of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPoint {
    /// Group the point came from.
    pub group: String,
    /// Search parameters.
    pub search: Params,
    /// Neighbours per query.
    pub k: usize,
    /// Mode.
    pub mode: Mode,
    /// Search threads.
    pub threads: usize,
    /// Why the sweep itself refuses the point (`require`, `skip`, k > n); `None` when it runs.
    pub refused: Option<String>,
}

/// How points are measured; the same for a whole campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Modes.
    pub modes: Vec<Mode>,
    /// Search thread counts.
    pub threads: Vec<usize>,
    /// Build threads.
    pub build_threads: usize,
    /// Repetitions.
    pub repetitions: usize,
    /// Shortest pass.
    pub min_pass_ns: u64,
    /// Shortest warm-up.
    pub warm_up_ns: u64,
    /// Seed of the builds.
    pub seed: u64,
    /// Whether the base is searched mapped instead of copied into anonymous memory.
    pub base_mapped: bool,
}

/// What a worker may take; a deadline per stage, a memory limit per process tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Deadline of a build.
    pub build_ns: u64,
    /// Deadline of one search point, all repetitions together.
    pub search_ns: u64,
    /// Private and shared memory of the process tree.
    pub memory_bytes: u64,
}
