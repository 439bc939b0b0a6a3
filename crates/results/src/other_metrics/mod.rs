//! Metrics of answers under names of their own. None of them is recall@k.
//!
//! They are computed from stored ids, in the pass that scores recall, so that `rescore` gives them to
//! earlier runs. Ranks are places among the first k entries as the library gave them: repeats and empty
//! slots take places up and count for nothing, unless a rule of others says otherwise.

mod lengths;
mod query;
mod record;
mod relevance;
mod summary;
mod theirs;

pub use record::{
    AnnBenchmarksRecall, BigAnnRecall, KRecallAtN, OneRecallAtR, OtherMetrics,
    RelativeDistanceError,
};
pub use relevance::{Judgement, Relevance, RelevanceError, RelevanceQuality};
pub use theirs::{extended_truth_width, slots_within};

pub use lengths::length;
pub(crate) use query::{OtherQuery, OtherScore, OtherScratch};
pub(crate) use summary::{mean_reciprocal, summarise_others};

/// The k of k-recall@n and the R of 1-recall@R, as far as the answers reach.
pub(crate) const LADDER: [usize; 3] = [1, 10, 100];
