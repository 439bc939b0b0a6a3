//! A run directory: `records.jsonl`, `raw/<point>/*.npy` and `lock`.
//!
//! A record is appended only after its raw files are in place, so that whatever a line names is
//! there. Whatever an interruption leaves behind is told apart by where it stands: a torn last line,
//! a partial raw folder, a raw folder that no line names.

mod error;
mod journal;
mod read;
mod write;

pub use error::StoreError;
pub use read::{RunRecords, finished_points, latest_searches};
pub use write::{Opening, RawDraft, Store};

/// Name of the file of records.
pub const RECORDS_FILE: &str = "records.jsonl";
/// Name of the folder of raw files.
pub const RAW_DIR: &str = "raw";
const LOCK_FILE: &str = "lock";
/// Start of the names of raw folders that are being filled.
const PARTIAL_PREFIX: &str = "partial-";
/// What a rewrite of the records is written to before it takes their place.
const REWRITE_FILE: &str = "records.jsonl.rewrite";
