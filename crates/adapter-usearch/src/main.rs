//! The usearch library as an adapter executable.

use annbench_adapter_usearch::Usearch;
use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&Usearch)
}
