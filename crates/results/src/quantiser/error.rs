use annbench_core::Metric;
use thiserror::Error;

/// Why a compressed base could not be audited.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuantiserError {
    /// Values of the metric have no ratios, or are not audited.
    #[error(
        "metric {metric}: expected l2 or cosine, whose values are distances of numbers with ratios; audit the \
         compressed vectors as a dataset of their own, or measure recall with `annbench run`"
    )]
    Metric {
        /// The set's.
        metric: Metric,
    },
    /// The compressed vectors are not those of this base.
    #[error(
        "compressed vectors: expected {expected}, found {found}; provide a reconstructed vector for every base \
         row, in the order of the base"
    )]
    Shape {
        /// Rows, components and element types that fit.
        expected: String,
        /// What there is.
        found: String,
    },
    /// There is no (k+1)-th neighbour to tell apart.
    #[error("k = {k}: expected 1 to {most}, for the base has {n} rows; ask for another k")]
    K {
        /// What was asked for.
        k: usize,
        /// The largest that has one more row.
        most: usize,
        /// Base rows.
        n: usize,
    },
    /// No query has a nearest neighbour.
    #[error("of {queries} queries none has a direction; provide queries that are not zero")]
    Empty {
        /// Queries.
        queries: usize,
    },
    /// The watcher ended it.
    #[error("the audit was cancelled; nothing of it is kept")]
    Cancelled,
    /// A set that was proven kept was not.
    #[error(
        "query {query}: its set is proven kept, but {hits} of {k} were found; this is a defect of annbench, \
         please report it with the dataset"
    )]
    Contradiction {
        /// The query.
        query: usize,
        /// Of its nearest rows, those found.
        hits: u32,
        /// How many there are.
        k: usize,
    },
}
