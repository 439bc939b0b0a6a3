//! One worker per build: spawn, limits, deadlines, messages.
//!
//! A [`Bench`] runs the jobs of a campaign and appends a record for whatever happens. It knows no
//! adapter by name, draws nothing and prints nothing: what goes on is told as [`Event`]s.

mod attempt;
mod cpus;
mod environment;
mod event;
mod hello;
mod inspect;
mod installed;
mod job;
mod job_run;
mod outcome;
mod pipes;
mod planned;
mod plausible;
mod process;
mod run_error;
mod search;
mod steer;
mod subject;
mod tail;
mod tree;
mod unchanged;
mod worker;

pub use cpus::preferred_cpus;
pub use environment::thread_variables;
pub use event::Event;
pub use inspect::{InspectError, check_points, inspect_adapter};
pub use installed::{
    ADAPTER_PATH, FindError, Installed, adapter_folders, executable_name, find_adapter,
    list_adapters,
};
pub use job::Bench;
pub use planned::{PlannedJob, PlannedPoint};
pub use run_error::RunError;
pub use steer::{BuildShare, Everything, Next, Steer};
pub use subject::{GivenVectors, Subject, SubjectFacts};
pub use unchanged::FileState;
pub use worker::{RequestError, Worker, WorkerSettings};
