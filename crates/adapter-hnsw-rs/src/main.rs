//! The hnsw_rs library as an adapter executable.

use annbench_adapter_hnsw_rs::HnswRs;
use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&HnswRs)
}
