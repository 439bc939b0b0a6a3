use serde::Serialize;

/// What is shown of one query.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueryCertificate {
    /// Its number.
    pub query: u64,
    /// b / a of Euclidean distances (cosine: between unit vectors); nothing where it is infinite.
    pub kappa: Option<f64>,
    /// d_(k+1) / d_(k) of the same; nothing where d_(k) is 0.
    pub gap: Option<f64>,
    /// Whether the set of the k nearest is proven kept.
    pub preserved: bool,
    /// Whether it is kept: the exhaustive search of the compressed vectors finds it.
    pub kept: bool,
    /// Strict hits of the exhaustive search of the compressed vectors; k when the set is kept.
    pub hits: u32,
}

/// An audit of a compressed base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantiserAudit {
    /// Neighbours that are to stay.
    pub k: u64,
    /// Queries audited.
    pub queries: u64,
    /// Queries left out because they have no direction.
    pub undefined_queries: u64,
    /// Queries whose set is proven kept.
    pub preserved_queries: u64,
    /// Queries whose set is kept, proven or not.
    pub kept_queries: u64,
    /// Sum of the hits.
    pub hits: u64,
    /// Queries with an infinite kappa: a row that moves to or away from distance 0.
    pub unbounded_queries: u64,
    /// hits / (k * queries): recall@k of an exhaustive search of the compressed vectors.
    pub recall_mean: f64,
    /// Each query.
    pub by_query: Vec<QueryCertificate>,
}

impl QuantiserAudit {
    /// Of at least one query.
    pub(super) fn of(k: usize, undefined: usize, by_query: Vec<QueryCertificate>) -> Self {
        let count = |holds: &dyn Fn(&QueryCertificate) -> bool| {
            by_query.iter().filter(|query| holds(query)).count() as u64
        };
        let queries = by_query.len() as u64;
        let hits: u64 = by_query.iter().map(|query| u64::from(query.hits)).sum();
        Self {
            k: k as u64,
            queries,
            undefined_queries: undefined as u64,
            preserved_queries: count(&|query| query.preserved),
            kept_queries: count(&|query| query.kept),
            hits,
            unbounded_queries: count(&|query| query.kappa.is_none()),
            recall_mean: hits as f64 / (k as u64 * queries.max(1)) as f64,
            by_query,
        }
    }
}
