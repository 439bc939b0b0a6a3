//! The FAISS library as an adapter executable.

use annbench_adapter_faiss::Faiss;
use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&Faiss)
}
