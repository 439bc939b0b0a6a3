//! Records, quality metrics, the Pareto front and the store.
//!
//! A run directory holds `records.jsonl` and raw `.npy` files; everything that people read is
//! derived from these. Nothing here starts a process, draws a plot or reads a dataset's files.

#![forbid(unsafe_code)]

mod aggregate;
mod agreement;
mod consistency;
mod explained;
mod identity;
mod intact;
mod machine;
mod measured;
mod other_metrics;
mod pareto;
mod quantiser;
mod raw;
mod record;
mod refutation;
mod rescore;
mod score;
mod speed;
mod store;
mod strata;

pub use aggregate::{Answers, ScoreError, Scored, ScoringSet, score_answers};
pub use agreement::{Agreement, AgreementError, MeasuredPoint, agreement, is_exact};
pub use consistency::{check_name, check_record};
pub use explained::check_latencies;
pub use identity::{IdentityError, build_key, point_id};
pub use intact::check_raw;
pub use machine::{collect_environment, collect_machine};
pub use measured::{MeasuredError, MeasuredScores, score_measured};
pub use other_metrics::{
    AnnBenchmarksRecall, BigAnnRecall, Judgement, KRecallAtN, OneRecallAtR, OtherMetrics,
    RelativeDistanceError, Relevance, RelevanceError, RelevanceQuality, extended_truth_width,
    length, slots_within,
};
pub use pareto::{CurvePoint, fastest_at_recall, pareto_front, qps_at_recall};
pub use quantiser::{
    CompressedSet, QuantiserAudit, QuantiserError, QueryCertificate, Ratio, RatioRange,
    audit_quantiser,
};
pub use raw::check_raw_file;
pub use record::{
    AdapterInfo, BaseResidence, BuildIdentity, BuildRecord, Cause, DatasetInfo, Fact, Failure,
    Latency, Machine, Measured, Outcome, PointIdentity, Quality, Record, RunRecord, SaveOutcome,
    SearchRecord, SelfTest, SelfTestCheck, SkipCause, Speed, TruthInfo, TruthOrigin,
};
pub use refutation::{Refutations, TruthStatus};
pub use rescore::{NoDataset, RescoreError, RescoreSubject, Rescored, rescore};
pub use score::{QueryScore, Scratch, TrueTopK, score_query};
pub use speed::{RepetitionTimes, SpeedError, speed};
pub use store::{
    Opening, RAW_DIR, RECORDS_FILE, RawDraft, RunRecords, Store, StoreError, finished_points,
    latest_searches,
};
pub use strata::{
    AntiHubQuality, AntiHubs, BARS, Bar, BarStrata, CountBucket, Difficulty, DifficultyMeasure,
    DifficultyQuality, Hubness, HubnessQuality, Occurrences, OneThird, Strata, StrataQuality,
    Stratum, StratumOutcome, contrasts, expansions, lids, nearest_percentiles, robustness,
};
