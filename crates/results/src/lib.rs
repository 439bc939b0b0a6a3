//! Records, quality metrics, the Pareto front and the store.
//!
//! A run directory holds `records.jsonl` and raw `.npy` files; everything that people read is
//! derived from these. Nothing here starts a process, draws a plot or reads a dataset's files.

mod aggregate;
mod named_recall;
mod record;
mod score;
mod store;

pub use aggregate::{Answers, ScoreError, Scored, ScoringSet, score_answers};
pub use named_recall::{k_recall_at_m_hits, one_recall_at_r_hit};
pub use record::{
    AdapterInfo, BaseResidence, BuildIdentity, BuildRecord, Cause, DatasetInfo, Fact, Failure,
    Latency, Machine, Measured, Outcome, PointIdentity, Quality, Record, RunRecord, SearchRecord,
    SelfTest, SelfTestCheck, Speed, TruthInfo, TruthOrigin,
};
pub use score::{QueryScore, Scratch, TrueTopK, score_query};
pub use store::{
    Opening, RAW_DIR, RECORDS_FILE, RawDraft, RunRecords, Store, StoreError, finished_points,
    latest_searches,
};
