//! The exact engine's worker.

use annbench_adapter_exact::ExactAdapter;
use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&ExactAdapter)
}
