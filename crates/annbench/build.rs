//! Records which compiler built the command, for the run's record.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=ANNBENCH_RUSTC_VERSION={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
