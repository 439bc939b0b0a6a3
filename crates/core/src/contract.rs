use crate::{ElementType, Metric, NeighborRows, ParamError, Params, TopK, Vector, Vectors};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

/// How queries reach the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One query per call, closed loop, each thread its own stripe of the queries.
    Single,
    /// All queries in one call; the library spreads them over its own threads.
    Batch,
}

impl Mode {
    /// The word used in YAML, JSON and on plots.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Single => "single",
            Mode::Batch => "batch",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// true or false.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// Text.
    Text,
}

/// One line of an adapter's documentation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParamDoc {
    /// The parameter's name as it stands in YAML.
    pub name: String,
    /// What it takes.
    pub kind: ParamKind,
    /// Whether a point without it is refused.
    pub required: bool,
    /// What it does, in one line, with its range.
    pub doc: String,
}

impl ParamDoc {
    /// A parameter that every point must give.
    pub fn required(name: &str, kind: ParamKind, doc: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            required: true,
            doc: doc.to_owned(),
        }
    }

    /// A parameter that a point may leave to the library.
    pub fn optional(name: &str, kind: ParamKind, doc: &str) -> Self {
        Self {
            required: false,
            ..Self::required(name, kind, doc)
        }
    }
}

/// A pair of metric and element type that the library takes as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The metric.
    pub metric: Metric,
    /// The element type.
    pub element: ElementType,
}

/// What an adapter says of itself before anything is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Descriptor {
    /// The adapter's name in sweeps, in snake_case.
    pub adapter: String,
    /// The library's own name.
    pub library: String,
    /// The exact version of the library that is linked.
    pub library_version: String,
    /// What it takes, best first.
    pub supports: Vec<Support>,
    /// The modes it implements.
    pub modes: Vec<Mode>,
    /// Whether [`Index::save`] and [`Adapter::load`] work.
    pub saves: bool,
    /// Whether a build with one thread repeats exactly for the same seed.
    pub deterministic_build: bool,
    /// Whether the seed of a build reaches the library.
    pub seeded: bool,
    /// Facts about how the library was compiled: SIMD level, BLAS, compiler flags.
    pub build_facts: BTreeMap<String, String>,
    /// Parameters of a build.
    pub build_params: Vec<ParamDoc>,
    /// Parameters of a search.
    pub search_params: Vec<ParamDoc>,
}

/// Everything that defines a build but the vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BuildSpec {
    /// The metric to build for.
    pub metric: Metric,
    /// The element type in which the vectors are given.
    pub element: ElementType,
    /// Components per vector.
    pub dim: usize,
    /// Number of base vectors.
    pub n: usize,
    /// The library's own parameters.
    pub params: Params,
    /// How many threads the build may use.
    pub threads: usize,
    /// Seed for whatever the library draws at random, where it can be set.
    pub seed: u64,
}

impl BuildSpec {
    /// A build with one thread and seed 1; set the rest on the result.
    pub fn new(metric: Metric, element: ElementType, n: usize, dim: usize, params: Params) -> Self {
        Self {
            metric,
            element,
            dim,
            n,
            params,
            threads: 1,
            seed: 1,
        }
    }
}

/// Everything that defines a query-time point but the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchSpec {
    /// Number of neighbours per query.
    pub k: usize,
    /// How the queries arrive.
    pub mode: Mode,
    /// Single: concurrent searchers. Batch: threads the library may use for one call.
    pub threads: usize,
    /// The library's own parameters.
    pub params: Params,
}

impl SearchSpec {
    /// A point searched by one thread, one query per call; set the rest on the result.
    pub fn new(k: usize, params: Params) -> Self {
        Self {
            k,
            mode: Mode::Single,
            threads: 1,
            params,
        }
    }
}

/// A build and a search of it, as a plan would run them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointSpec {
    /// The build.
    pub build: BuildSpec,
    /// The search.
    pub search: SearchSpec,
}

/// Memory facts that only the adapter knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// Whether searching still reads the caller's base vectors.
    pub borrows_base: bool,
    /// What the library says its index takes, where it says so. Shown, never trusted.
    pub reported_bytes: Option<u64>,
}

/// Work counted by the library since the searcher was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Distances computed between a query and a base vector.
    pub distance_computations: Option<u64>,
    /// Graph vertices or inverted lists visited.
    pub vertices_visited: Option<u64>,
}

impl Counters {
    /// The sum of two searchers' counters; a figure that either lacks is absent.
    pub fn plus(self, other: Counters) -> Counters {
        fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            Some(a? + b?)
        }
        Counters {
            distance_computations: add(self.distance_computations, other.distance_computations),
            vertices_visited: add(self.vertices_visited, other.vertices_visited),
        }
    }
}

/// Why an adapter did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AdapterError {
    /// The point makes no sense for this library; nothing was attempted.
    #[error("{0}")]
    Rejected(String),
    /// The library tried and failed.
    #[error("{0}")]
    Failed(String),
    /// The adapter does not implement this.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
}

impl From<ParamError> for AdapterError {
    fn from(error: ParamError) -> Self {
        AdapterError::Rejected(error.to_string())
    }
}

/// One ANN library.
pub trait Adapter: Sync {
    /// What the library is and takes. Called once, before anything else.
    fn descriptor(&self) -> Descriptor;

    /// Refuses a point that the library could not run, before anything is built.
    ///
    /// The caller has already checked metric, element type and mode against the descriptor.
    ///
    /// # Errors
    /// [`AdapterError::Rejected`] with the reason.
    fn check(&self, point: &PointSpec) -> Result<(), AdapterError>;

    /// Builds an index over `base` (`[n, dim]`, row number = id). Timed as a whole.
    ///
    /// # Errors
    /// What the library reports; C++ exceptions must be caught and arrive here.
    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError>;

    /// Loads what [`Index::save`] wrote. Only called where the descriptor says `saves`.
    ///
    /// # Errors
    /// [`AdapterError::Unsupported`] by default.
    fn load<'b>(
        &self,
        _dir: &Path,
        _base: Vectors<'b>,
        _spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        Err(AdapterError::Unsupported("load"))
    }
}

/// A built index, shared by all searchers.
pub trait Index: Sync {
    /// Makes a searcher for one query-time point, on the thread that will search. Untimed: parsing,
    /// allocation and per-thread set-up belong here.
    ///
    /// Two searchers with different parameters may live at once; each keeps its own.
    ///
    /// # Errors
    /// What the library reports.
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError>;

    /// What the adapter knows about its memory.
    fn memory(&self) -> MemoryReport;

    /// Writes the index into the existing directory `dir`.
    ///
    /// # Errors
    /// [`AdapterError::Unsupported`] by default.
    fn save(&self, _dir: &Path) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("save"))
    }
}

/// The only trait in the timed region.
pub trait Searcher {
    /// Answers one query with up to `top.k()` ids, nearest first. Distances are not asked for.
    ///
    /// # Errors
    /// What the library reports; it fails the point.
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError>;

    /// Answers all queries in one call, with the library's own parallelism.
    ///
    /// # Errors
    /// [`AdapterError::Unsupported`] by default: never a loop over [`Searcher::search`].
    fn search_batch(
        &mut self,
        _queries: Vectors<'_>,
        _out: &mut NeighborRows<'_>,
    ) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("batch search"))
    }

    /// Work done since this searcher was made; read outside the timed region.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}
