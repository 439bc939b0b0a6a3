//! The exact (Flat) engine of this project as an adapter.

mod adapter;

use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&adapter::ExactAdapter)
}
