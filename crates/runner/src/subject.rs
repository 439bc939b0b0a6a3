use crate::unchanged::FileState;
use annbench_core::ElementType;
use annbench_core::wire::MapSpec;
use annbench_results::{DatasetInfo, ScoringSet, TruthInfo};

/// Base and queries as one worker maps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenVectors {
    /// Element type handed to the library.
    pub element: ElementType,
    /// The base.
    pub base: MapSpec,
    /// The queries.
    pub queries: MapSpec,
}

/// What planning needs to know of a dataset.
#[derive(Clone, Debug)]
pub struct SubjectFacts {
    /// Facts for the records.
    pub info: DatasetInfo,
    /// The same vectors in each element type they can be given in: the set's own first, then
    /// lossless widenings.
    pub given: Vec<GivenVectors>,
    /// The truth that answers will be scored against.
    pub truth: TruthInfo,
    /// Checksums that were overridden for this dataset.
    pub accepted_checksums: Vec<String>,
    /// Vectors of which values were rounded by name.
    pub narrowed: Vec<String>,
    /// Rules that it violates and that were overridden by name, each with its evidence.
    pub accepted_violations: Vec<String>,
    /// Its files as they were checked: a run stops when one of them changes.
    pub files: Vec<FileState>,
}

/// An opened dataset, as far as running and scoring need it.
#[derive(Clone, Debug)]
pub struct Subject<'d> {
    /// What is known of it.
    pub facts: SubjectFacts,
    /// What answers are scored against.
    pub scoring: ScoringSet<'d>,
}
