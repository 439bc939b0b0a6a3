use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that must be so for numbers measured on a dataset to mean what they seem to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// Base, queries and truth have the shapes that belong together.
    Shape,
    /// Every component is a finite number.
    Finite,
    /// Components differ, and those of the queries lie in the range of the base's.
    ElementRange,
    /// Norms are those that the metric leads one to expect: 1 in an angular set.
    Norms,
    /// No vector is zero where the metric is not defined at zero.
    ZeroVectors,
    /// No two base rows are the same.
    DuplicatesInBase,
    /// No two queries are the same.
    DuplicatesInQueries,
    /// No query is a row of the base.
    QueriesHeldOut,
    /// Few queries are nearly a row of the base.
    NearDuplicates,
    /// Ids of the truth name rows of the base, none twice.
    TruthIds,
    /// Neighbours stand in the order of their distances.
    TruthOrder,
    /// Shipped distances follow a convention of the metric.
    ShippedDistances,
    /// The truth is that of the entry's metric.
    MetricMatches,
    /// The truth is that of this base and of these queries.
    CorpusMatches,
    /// No row is nearer than the truth says.
    TruthExact,
    /// Few queries have a k-th neighbour that another row ties with.
    Ties,
    /// Queries are as far from the base as its rows are from each other.
    QueryDistribution,
    /// What is beside vectors and neighbours is about the rows of the set; judged where there is any.
    Beside,
}

impl Rule {
    /// Every rule, in the order in which they are judged.
    pub const ALL: [Rule; 18] = [
        Rule::Shape,
        Rule::Finite,
        Rule::ElementRange,
        Rule::Norms,
        Rule::ZeroVectors,
        Rule::DuplicatesInBase,
        Rule::DuplicatesInQueries,
        Rule::QueriesHeldOut,
        Rule::NearDuplicates,
        Rule::TruthIds,
        Rule::TruthOrder,
        Rule::ShippedDistances,
        Rule::MetricMatches,
        Rule::CorpusMatches,
        Rule::TruthExact,
        Rule::Ties,
        Rule::QueryDistribution,
        Rule::Beside,
    ];

    /// Its name on command lines, in records and in JSON. It does not change.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Shape => "shape",
            Rule::Finite => "finite",
            Rule::ElementRange => "element_range",
            Rule::Norms => "norms",
            Rule::ZeroVectors => "zero_vectors",
            Rule::DuplicatesInBase => "duplicates_in_base",
            Rule::DuplicatesInQueries => "duplicates_in_queries",
            Rule::QueriesHeldOut => "queries_held_out",
            Rule::NearDuplicates => "near_duplicates",
            Rule::TruthIds => "truth_ids",
            Rule::TruthOrder => "truth_order",
            Rule::ShippedDistances => "shipped_distances",
            Rule::MetricMatches => "metric_matches",
            Rule::CorpusMatches => "corpus_matches",
            Rule::TruthExact => "truth_exact",
            Rule::Ties => "ties",
            Rule::QueryDistribution => "query_distribution",
            Rule::Beside => "beside",
        }
    }

    /// The rule of that name.
    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Whether nothing should be measured while it is violated: recall would be that of another task.
    pub const fn is_enforced(self) -> bool {
        matches!(
            self,
            Rule::MetricMatches | Rule::CorpusMatches | Rule::QueriesHeldOut
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
