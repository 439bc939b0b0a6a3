//! The worker process: one adapter, one build, all its searches.
//!
//! `main` of an adapter executable is one call of [`run`]. The process speaks the protocol of
//! [`crate::wire`] over its standard input and output, which it takes away from the library at
//! once: afterwards descriptor 0 is empty and descriptor 1 is standard error, so that a library's
//! prints cannot corrupt a message.

mod answers;
mod clock;
mod control;
mod crew;
mod guard;
mod measure;
mod output;
mod process;
mod serve;
mod stripe;
mod vectors;

use crate::{Adapter, Descriptor};
use std::process::ExitCode;

pub use answers::{answers_hash, latency_hash};
pub use clock::measure_noise;
pub use measure::measure;

/// Serves one adapter until the runner closes the pipe. Called from `main` and nothing else.
///
/// With `--describe` it prints the adapter's descriptor as JSON and ends.
pub fn run(adapter: &dyn Adapter) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        None => {}
        Some("--describe") => return print_description(adapter),
        Some(other) => {
            eprintln!(
                "unknown argument `{other}`: an adapter is started by annbench; by hand it takes --describe only"
            );
            return ExitCode::from(2);
        }
    }
    let control = match control::take_over() {
        Ok(control) => control,
        Err(error) => {
            eprintln!("cannot take over standard input and output: {error}");
            return ExitCode::FAILURE;
        }
    };
    match serve::serve(adapter, control) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot answer the runner: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the adapter says of itself, and how this executable was compiled.
fn describe(adapter: &dyn Adapter) -> Descriptor {
    let mut descriptor = adapter.descriptor();
    for (fact, value) in [
        ("rustc", crate::wire::COMPILER),
        ("rustflags", env!("ANNBENCH_RUSTFLAGS")),
        ("opt_level", env!("ANNBENCH_OPT_LEVEL")),
    ] {
        let value = if value.is_empty() { "none" } else { value };
        descriptor
            .build_facts
            .insert(fact.to_owned(), value.to_owned());
    }
    descriptor
}

fn print_description(adapter: &dyn Adapter) -> ExitCode {
    use std::io::Write;
    let written = serde_json::to_string_pretty(&self::describe(adapter))
        .map_err(std::io::Error::other)
        .and_then(|text| writeln!(std::io::stdout(), "{text}"));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot print the descriptor: {error}");
            ExitCode::FAILURE
        }
    }
}
