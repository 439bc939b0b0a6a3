//! The structure of the workspace, as crates/ARCHITECTURE.md describes it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which workspace crates each crate may use outside its tests. Anything not here is an error, and
/// so is a line that no longer holds.
const GRAPH: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("config", &["core"]),
    ("exact", &["core"]),
    ("dataset", &["core", "exact"]),
    ("results", &["core"]),
    ("runner", &["config", "core", "results"]),
    ("report", &["core", "results"]),
    ("conformance", &["core"]),
    (
        "annbench",
        &[
            "config", "core", "dataset", "exact", "report", "results", "runner",
        ],
    ),
    ("adapter-calibration", &["core"]),
    ("adapter-exact", &["core", "exact"]),
    ("adapter-faiss", &["core"]),
    ("adapter-faults", &["core"]),
    ("adapter-hnsw-rs", &["core"]),
];

/// Files that may hold `unsafe`, each with the reason in its comments.
const UNSAFE: &[&str] = &[
    "crates/adapter-faiss/src/counters.rs",
    "crates/adapter-faiss/src/facts.rs",
    "crates/adapter-faiss/src/ffi.rs",
    "crates/adapter-faiss/src/native.rs",
    "crates/adapter-faults/src/fault.rs",
    "crates/adapter-hnsw-rs/src/graph.rs",
    "crates/core/src/metric.rs",
    "crates/core/src/worker/control.rs",
    "crates/core/src/worker/process.rs",
    "crates/core/src/worker/vectors.rs",
    "crates/dataset/src/mapped.rs",
    "crates/exact/src/kernel/avx512.rs",
    "crates/exact/src/kernel/mod.rs",
    "crates/results/tests/disk_full.rs",
    "crates/results/tests/read_only_dir.rs",
    "crates/runner/src/cpus.rs",
    "crates/runner/src/worker.rs",
];

const TOP_LEVEL: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "configs",
    "crates",
    "datasets",
    "results",
    "rust-toolchain.toml",
    "scripts",
    "target",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn dependencies(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]"
            && let Some(rest) = line.strip_prefix("annbench-")
        {
            let name = rest.split(['.', ' ', '=']).next().unwrap_or_default();
            found.push(name.to_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn the_crate_graph_is_the_documented_one() {
    let expected: BTreeMap<&str, Vec<String>> = GRAPH
        .iter()
        .map(|(name, uses)| (*name, uses.iter().map(|&u| u.to_owned()).collect()))
        .collect();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(manifest) = std::fs::read_to_string(path.join("Cargo.toml")) else {
            continue;
        };
        let name = path.file_name().unwrap().to_str().unwrap();
        // An adapter nobody has heard of may use core and nothing else of ours.
        let core_only = vec!["core".to_owned()];
        let allowed = match expected.get(name) {
            Some(allowed) => allowed,
            None if name.starts_with("adapter-") => &core_only,
            None => panic!("crate {name} has no line in GRAPH"),
        };
        assert_eq!(
            &dependencies(&manifest),
            allowed,
            "workspace crates that {name} uses"
        );
    }
}

#[test]
fn the_architecture_names_every_crate_and_dependency() {
    let text = std::fs::read_to_string(root().join("crates/ARCHITECTURE.md")).unwrap();
    for (name, _) in GRAPH {
        assert!(
            text.contains(&format!("`{name}`")),
            "crate {name} is not described"
        );
    }
    let mut manifests = vec![root().join("Cargo.toml")];
    for (name, _) in GRAPH {
        manifests.push(root().join("crates").join(name).join("Cargo.toml"));
    }
    for manifest in manifests {
        let mut section = String::new();
        for line in std::fs::read_to_string(&manifest).unwrap().lines() {
            if line.starts_with('[') {
                section = line.to_owned();
            } else if section.contains("dependencies]")
                && let Some((name, _)) = line.split_once(['=', '.'])
                && !name.trim().starts_with("annbench-")
                && !name.trim().is_empty()
                && !name.trim_start().starts_with('#')
            {
                let name = name.trim();
                assert!(
                    text.contains(&format!("`{name}`")),
                    "dependency {name} of {} has no line in ARCHITECTURE.md",
                    manifest.display()
                );
            }
        }
    }
}

#[test]
fn unsafe_code_stays_where_it_is_named() {
    let mut files = Vec::new();
    collect(&root().join("crates"), &mut files);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let is_unsafe = code.into_iter().any(|line| {
            line.contains("unsafe {")
                || line.contains("unsafe fn")
                || line.contains("unsafe extern")
        });
        if name.ends_with("tidy.rs") {
            continue;
        }
        assert_eq!(
            is_unsafe,
            UNSAFE.contains(&name.as_str()),
            "{name}: UNSAFE names exactly the files that hold unsafe code"
        );
    }
}

#[test]
fn the_top_level_holds_what_it_should() {
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name.starts_with('.')
                || TOP_LEVEL.contains(&name.as_str())
                || name.starts_with("target"),
            "{name} does not belong at the top level"
        );
    }
}

#[test]
fn nothing_reads_files_from_outside_the_project() {
    let mut files = Vec::new();
    collect(&root().join("crates"), &mut files);
    // Written in two parts, so that this file does not find itself.
    let outside = ["../", "shared"].concat();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&outside), "{}", file.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
