use annbench_results::StoreError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a run stops. What was measured before is in the store.
#[derive(Debug, Error)]
pub enum RunError {
    /// The user asked to stop.
    #[error("interrupted; the same command goes on from here")]
    Interrupted,
    /// Records cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A worker could not write its raw files.
    #[error("{0}")]
    Raw(String),
    /// A file that the results depend on is not what it was when the run began.
    #[error(
        "{path}: it was changed during the run, and what is measured now would pass for what was \
         checked then; run the same command again: it begins by looking at everything anew"
    )]
    Changed {
        /// The dataset's file or the adapter's executable.
        path: PathBuf,
    },
}
