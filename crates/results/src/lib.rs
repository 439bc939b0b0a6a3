//! Records, quality metrics, the Pareto front and the store.
//!
//! A run directory holds `records.jsonl` and raw `.npy` files; everything that people read is
//! derived from these. Nothing here starts a process, draws a plot or reads a dataset's files.

mod record;

pub use record::{
    AdapterInfo, BaseResidence, BuildIdentity, BuildRecord, Cause, DatasetInfo, Fact, Failure,
    Latency, Machine, Measured, Outcome, PointIdentity, Quality, Record, RunRecord, SearchRecord,
    SelfTest, SelfTestCheck, Speed, TruthInfo, TruthOrigin,
};
