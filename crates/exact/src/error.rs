use crate::Level;
use annbench_core::{ElementType, Metric};
use thiserror::Error;

/// Why an exact search was refused or stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExactError {
    /// Base and queries have different dimensions.
    #[error(
        "queries have {queries} components, the base has {base}; both must come from one dataset"
    )]
    Dimension {
        /// Components of a base row.
        base: usize,
        /// Components of a query.
        queries: usize,
    },
    /// Base and queries have different element types.
    #[error("queries are {queries}, the base is {base}; widen one of them first")]
    Element {
        /// Element type of the base.
        base: ElementType,
        /// Element type of the queries.
        queries: ElementType,
    },
    /// The metric is not defined on the element type.
    #[error("{metric} is not defined on {element}; correct the metric or the element type")]
    Metric {
        /// The metric.
        metric: Metric,
        /// Element type of the base.
        element: ElementType,
    },
    /// No neighbours were asked for.
    #[error("k is 0; ask for at least one neighbour")]
    NoNeighbors,
    /// More neighbours were asked for than there are rows.
    #[error("k is {k}, but the base has only {n} rows; ask for at most {n}")]
    TooManyNeighbors {
        /// Neighbours asked for.
        k: usize,
        /// Base rows.
        n: usize,
    },
    /// More other rows were asked for than each row has.
    #[error("k is {k}, but each row has only {others} others; ask for at most {others}")]
    TooManyOthers {
        /// Neighbours asked for.
        k: usize,
        /// Base rows less one.
        others: usize,
    },
    /// Base rows were asked about that are not there.
    #[error("rows {start} to {end} were asked about, but the base has {n}; ask within 0 to {n}")]
    RowRange {
        /// The first of them.
        start: usize,
        /// The one after the last.
        end: usize,
        /// Base rows.
        n: usize,
    },
    /// What was found before is not what this search goes on from.
    #[error(
        "{found_k} neighbours of {found_queries} queries were found before, not {k} of {queries}; search the rows before with the same queries and k"
    )]
    OtherQueries {
        /// Queries of this search.
        queries: usize,
        /// Neighbours that must be known of each.
        k: usize,
        /// Queries of the search before.
        found_queries: usize,
        /// Neighbours that it has found of each.
        found_k: usize,
    },
    /// A list of neighbours names a row that is not there.
    #[error(
        "entry {at} of the neighbours is row {id}, but the base has {n} rows; these are another base's neighbours"
    )]
    Id {
        /// The id.
        id: u32,
        /// Its place in the list.
        at: usize,
        /// Base rows.
        n: usize,
    },
    /// The base has more rows than 32-bit ids can name.
    #[error("the base has {n} rows; ids are 32 bits wide, so at most {max} rows can be searched")]
    TooManyRows {
        /// Base rows.
        n: usize,
        /// The most that is possible.
        max: usize,
    },
    /// This CPU lacks an instruction set, or the system does not permit it.
    #[error(
        "this machine cannot use {}; ask for one of: {}",
        level.name(),
        Level::available().iter().map(|l| l.name()).collect::<Vec<_>>().join(", ")
    )]
    Level {
        /// What was asked for.
        level: Level,
    },
    /// The caller's progress function asked to stop.
    #[error("the exact search was cancelled; nothing of it is kept")]
    Cancelled,
}
