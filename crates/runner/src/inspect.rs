use crate::environment::thread_variables;
use crate::installed::{FindError, Installed};
use crate::worker::{RequestError, Worker, WorkerSettings};
use annbench_core::PointSpec;
use annbench_core::wire::{Reply, Stage, Verdict};
use annbench_results::{AdapterInfo, Failure};
use std::sync::atomic::AtomicBool;

use thiserror::Error;

/// Memory that judging points may take: nothing is built.
const CHECK_MEMORY_BYTES: u64 = 8 << 30;

/// Why an adapter could not be asked.
#[derive(Debug, Error)]
pub enum InspectError {
    /// Its executable is not there or cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It started, and failed.
    #[error(
        "adapter `{adapter}` failed at {stage}: {message}{stderr}",
        stage = failure.stage,
        message = failure.message,
        stderr = quoted(&failure.stderr_tail)
    )]
    Failed {
        /// Its name.
        adapter: String,
        /// How.
        failure: Box<Failure>,
    },
    /// It calls itself something else.
    #[error(
        "the executable of adapter `{expected}` calls itself `{found}`; name the executable after \
         the adapter"
    )]
    Name {
        /// Name it was looked up by.
        expected: String,
        /// Name in its descriptor.
        found: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

fn quoted(stderr_tail: &str) -> String {
    match stderr_tail.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}

/// Starts an adapter and takes down what it says of itself.
///
/// # Errors
/// [`InspectError`].
pub fn inspect_adapter(
    installed: &Installed,
    interrupted: &AtomicBool,
) -> Result<AdapterInfo, InspectError> {
    let executable_sha256 = installed.executable_sha256()?;
    let (worker, descriptor) =
        Worker::start(installed, &settings(), interrupted).map_err(|e| failed(installed, e))?;
    worker.close();
    if descriptor.adapter != installed.adapter {
        return Err(InspectError::Name {
            expected: installed.adapter.clone(),
            found: descriptor.adapter,
        });
    }
    Ok(AdapterInfo {
        descriptor,
        executable_sha256,
    })
}

/// Has an adapter judge points without building anything: a verdict each, in order.
///
/// # Errors
/// [`InspectError`].
pub fn check_points(
    installed: &Installed,
    points: &[PointSpec],
    interrupted: &AtomicBool,
) -> Result<Vec<Verdict>, InspectError> {
    let (mut worker, _) =
        Worker::start(installed, &settings(), interrupted).map_err(|e| failed(installed, e))?;
    let reply = worker
        .check(points, interrupted)
        .map_err(|e| failed(installed, e))?;
    let message = match reply {
        Ok(verdicts) => {
            worker.close();
            return Ok(verdicts);
        }
        Err(Reply::Failed(fault)) => fault.message,
        Err(other) => format!("expected a verdict for each point, found {}", other.name()),
    };
    Err(InspectError::Failed {
        adapter: installed.adapter.clone(),
        failure: Box::new(Failure {
            stage: Stage::Check,
            cause: annbench_results::Cause::Protocol,
            message,
            stderr_tail: worker.stderr_tail(),
        }),
    })
}

fn settings() -> WorkerSettings {
    WorkerSettings {
        environment: thread_variables(1),
        memory_limit_bytes: CHECK_MEMORY_BYTES,
    }
}

fn failed(installed: &Installed, error: RequestError) -> InspectError {
    match error {
        RequestError::Interrupted => InspectError::Interrupted,
        RequestError::Ended(failure) => InspectError::Failed {
            adapter: installed.adapter.clone(),
            failure: Box::new(failure),
        },
    }
}
