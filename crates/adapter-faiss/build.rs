//! Compiles the shim against the headers of the FAISS that faiss-sys has just built, with the SIMD
//! flags that FAISS itself was compiled with.
#![allow(
    clippy::print_stdout,
    reason = "this is how a build script talks to cargo"
)]

use std::error::Error;
use std::path::PathBuf;

const SOURCES: [&str; 8] = [
    "shim/binary.cpp",
    "shim/cpu.c",
    "shim/error.hpp",
    "shim/facts.cpp",
    "shim/index.cpp",
    "shim/search.cpp",
    "shim/required.cpp",
    "shim/shape.hpp",
];

fn main() -> Result<(), Box<dyn Error>> {
    // faiss-sys (`links = "faiss_c"`) runs cmake through the cmake crate, which prints
    // `cargo:root=<install prefix>`; cargo hands it on under this name.
    let root = PathBuf::from(
        std::env::var("DEP_FAISS_C_ROOT")
            .map_err(|_| "faiss-sys did not say where it built FAISS: is `static` enabled?")?,
    );
    let cache = root.join("build/CMakeCache.txt");
    for file in SOURCES {
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rerun-if-changed={}", cache.display());
    println!("cargo:rerun-if-env-changed=CXXFLAGS");

    let text = std::fs::read_to_string(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    let flags = text
        .lines()
        .find_map(|line| line.strip_prefix("CMAKE_CXX_FLAGS:STRING="))
        .ok_or_else(|| format!("{}: no CMAKE_CXX_FLAGS", cache.display()))?
        .trim();
    refuse_stale_flags(flags)?;
    println!("cargo:rustc-env=ANNBENCH_FAISS_CXX_FLAGS={flags}");

    let machine_flags = flags.split_whitespace().filter(|f| f.starts_with("-m"));
    let mut shim = cc::Build::new();
    shim.cpp(true)
        .std("c++17")
        .flag("-fopenmp")
        .flag("-isystem")
        .flag(root.join("include").display().to_string())
        .flags(machine_flags)
        .files(SOURCES.iter().filter(|f| f.ends_with(".cpp")))
        .try_compile("annbench_faiss_shim")?;
    // Runs before everything else on whatever CPU it finds: no SIMD flags here.
    cc::Build::new()
        .file("shim/cpu.c")
        .try_compile("annbench_faiss_cpu")?;
    println!("cargo:rustc-link-lib=dl");
    Ok(())
}

/// Cargo does not rebuild faiss-sys when CXXFLAGS change; an executable would then be recorded
/// with flags that it does not have.
fn refuse_stale_flags(built_with: &str) -> Result<(), String> {
    let wanted = std::env::var("CXXFLAGS").unwrap_or_default();
    let missing: Vec<&str> = wanted
        .split_whitespace()
        .filter(|flag| !built_with.split_whitespace().any(|f| f == *flag))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "CXXFLAGS has {}, but FAISS was compiled before with `{built_with}`; run `cargo clean \
         --release -p faiss-sys` (or scripts/build-adapters faiss, which does so) and build again",
        missing.join(" ")
    ))
}
