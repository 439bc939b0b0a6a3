use annbench_results::Outcome;

/// What a run tells while it goes on. Nothing here is needed to understand the records.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A worker is being started for a job.
    JobStarted {
        /// Dataset, adapter and build parameters.
        job: String,
        /// Points that will be measured.
        points: usize,
    },
    /// The index is being built (or loaded again after a crash).
    Building {
        /// Dataset, adapter and build parameters.
        job: String,
        /// Whether it is loaded.
        loaded: bool,
    },
    /// The build ended.
    Built {
        /// How.
        outcome: Outcome,
        /// Wall time of the build itself, when it worked.
        wall_ns: Option<u64>,
    },
    /// A point is being searched.
    Searching {
        /// Search parameters, k, mode, threads.
        point: String,
    },
    /// A point has its record.
    PointDone {
        /// Search parameters, k, mode, threads.
        point: String,
        /// How it ended.
        outcome: Outcome,
        /// Mean recall, when scored.
        recall: Option<f64>,
        /// Median queries per second, when measured.
        qps: Option<f64>,
    },
}
