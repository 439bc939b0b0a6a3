//! The other metrics as records have them.

use super::RelevanceQuality;
use serde::{Deserialize, Serialize};

/// Metrics of the answers of one repetition that are not recall@k, over the scored queries. All by id
/// but `relative_distance_error` and `ann_benchmarks_recall`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherMetrics {
    /// Queries in the figures.
    pub scored_queries: u64,
    /// k-recall@n: of the k nearest, those among the n entries, for k of 1, 10 and 100 up to n, which
    /// is the k that was asked for.
    pub k_recall_at_n: Vec<KRecallAtN>,
    /// 1-recall@R for R of 1, 10 and 100 up to the k that was asked for.
    pub one_recall_at_r: Vec<OneRecallAtR>,
    /// Queries whose nearest true neighbour is the 1st, 2nd, ... k-th entry.
    pub nearest_at_rank: Vec<u64>,
    /// Mean reciprocal rank of the nearest true neighbour among the first k entries; 0 where it is none
    /// of them.
    pub mrr: f64,
    /// How much farther the answers are than the true neighbours; or why there are no ratios.
    pub relative_distance_error: Result<RelativeDistanceError, String>,
    /// Recall as ann-benchmarks computes it; or why it does not.
    pub ann_benchmarks_recall: Result<AnnBenchmarksRecall, String>,
    /// Recall as big-ann-benchmarks computes it.
    pub big_ann_recall: BigAnnRecall,
    /// Against judgements of relevance; absent where the set has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qrels: Option<RelevanceQuality>,
}

/// k-recall@n.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KRecallAtN {
    /// True neighbours looked for.
    pub k: u64,
    /// Entries looked at.
    pub n: u64,
    /// True neighbours found.
    pub id_hits: u64,
    /// id_hits / (k * queries).
    pub recall: f64,
}

/// 1-recall@R.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneRecallAtR {
    /// Entries looked at.
    pub r: u64,
    /// Queries whose nearest true neighbour is among them.
    pub queries_found: u64,
    /// queries_found / queries.
    pub recall: f64,
}

/// The mean over queries of the mean over i of d(q, R_i) / d(q, T_i) - 1, the i-th nearest of the
/// answer against the i-th true neighbour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelativeDistanceError {
    /// Queries in the mean.
    pub queries: u64,
    /// Queries left out because they have fewer than k distinct rows.
    pub short_queries: u64,
    /// Queries left out because all of their true neighbours are at distance 0.
    pub zero_queries: u64,
    /// True neighbours at distance 0, which have no ratio, over all scored queries.
    pub zero_pairs: u64,
    /// The mean; nothing without queries.
    pub mean: Option<f64>,
}

/// Entries at most 1e-3 farther than the k-th true distance, repeats counted each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnBenchmarksRecall {
    /// Such entries.
    pub slots_within: u64,
    /// slots_within / (k * queries).
    pub recall: f64,
}

/// Distinct ids that are in the truth, extended by the columns whose distance is within 1e-6 of the
/// k-th.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BigAnnRecall {
    /// Such ids.
    pub extended_hits: u64,
    /// extended_hits / (k * queries).
    pub recall: f64,
}
