//! What a worker reported, or contradicted, as the outcome of a record.

use crate::worker::{Worker, says_out_of_memory};
use annbench_core::wire::{Fault, FaultKind, Stage};
use annbench_results::{Cause, Failure, Outcome};

/// What a fault that the worker reported amounts to.
pub(crate) fn outcome_of(stage: Stage, fault: Fault, worker: &Worker) -> Outcome {
    let cause = match fault.kind {
        FaultKind::Rejected => {
            return Outcome::Rejected {
                reason: fault.message,
            };
        }
        FaultKind::Error if says_out_of_memory(&fault.message) => Cause::OutOfMemory {
            limit_bytes: worker.memory_limit_bytes(),
            observed_bytes: worker.peak_bytes(),
        },
        FaultKind::Error => Cause::LibraryError,
        FaultKind::Panic => Cause::Panic,
        FaultKind::Io => Cause::Io,
        FaultKind::Protocol => Cause::Protocol,
    };
    Outcome::Failed(Failure {
        stage,
        cause,
        message: fault.message,
        stderr_tail: worker.stderr_tail(),
    })
}

/// A worker that says what cannot be true has failed.
pub(crate) fn contradiction(stage: Stage, lie: &str, worker: &Worker) -> Outcome {
    Outcome::Failed(Failure {
        stage,
        cause: Cause::Protocol,
        message: format!("the report contradicts the raw results or the clock: {lie}"),
        stderr_tail: worker.stderr_tail(),
    })
}

/// The outcome in one line, for what depends on it.
pub(crate) fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Rejected { reason } => reason.clone(),
        Outcome::Failed(failure) => format!(
            "{} at {}: {}",
            failure.cause.word(),
            failure.stage,
            failure.message
        ),
        Outcome::Skipped { because, .. } => because.clone(),
    }
}
