//! What a shell completes: the scripts of `annbench completions` call the command itself, with what was
//! typed, so that names are those that are there at that moment.

use crate::args::{Args, PlaceArgs};
use crate::places::Places;
use crate::subject::catalogue;
use annbench_runner::{adapter_folders, list_adapters};
use clap::CommandFactory;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::CompleteEnv;

/// The variable by which a script tells that a shell is asking, and which.
pub const VARIABLE: &str = "ANNBENCH_COMPLETE";

/// Answers a shell that asks, and ends the process then.
pub fn answer_shell() {
    CompleteEnv::with_factory(Args::command)
        .var(VARIABLE)
        .complete();
}

/// The names of all datasets. A shell has no place for errors: where there are none, it gets none.
pub fn datasets() -> Vec<CompletionCandidate> {
    let places = Places::new(&PlaceArgs {
        datasets: None,
        data: None,
    });
    let names = catalogue(&places).names().unwrap_or_default();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The names of the installed adapters.
pub fn adapters() -> Vec<CompletionCandidate> {
    let installed = list_adapters(&adapter_folders()).into_iter();
    installed
        .map(|one| CompletionCandidate::new(one.adapter))
        .collect()
}
