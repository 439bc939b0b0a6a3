//! One file per verb.

pub mod adapters;
pub mod agreement;
pub mod audit;
pub mod audit_quantiser;
pub mod check;
pub mod completions;
pub mod datasets;
pub mod explain;
pub mod fetch;
pub mod man;
pub mod plan;
pub mod report;
pub mod rescore;
pub mod run;
pub mod selftest;
pub mod truth;

use anyhow::Context;

/// Threads for truth and scoring: all this process may use, outside of every measurement.
pub fn scoring_pool() -> anyhow::Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .thread_name(|number| format!("score-{number}"))
        .build()
        .context("starting the scoring threads")
}
