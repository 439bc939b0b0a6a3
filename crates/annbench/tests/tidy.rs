//! The structure of the workspace, as crates/ARCHITECTURE.md describes it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which workspace crates each crate may use outside its tests. Anything not here is an error, and
/// so is a line that no longer holds, such as one for a crate that is gone.
const GRAPH: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("yaml", &[]),
    ("config", &["core", "yaml"]),
    ("exact", &["core"]),
    ("dataset", &["core", "exact", "stats", "yaml"]),
    ("fetch", &[]),
    ("results", &["core", "stats"]),
    ("stats", &[]),
    ("runner", &["config", "core", "results", "yaml"]),
    ("report", &["core", "results"]),
    ("conformance", &["core"]),
    (
        "annbench",
        &[
            "config", "core", "dataset", "exact", "fetch", "report", "results", "runner", "yaml",
        ],
    ),
    ("adapter-calibration", &["core"]),
    ("adapter-exact", &["core", "exact"]),
    ("adapter-faiss", &["core"]),
    ("adapter-faults", &["core"]),
    ("adapter-hnsw-rs", &["core"]),
];

/// Files that hold `unsafe`, each with the reason in its comments.
const UNSAFE: &[&str] = &[
    "crates/adapter-faiss/src/bits/native.rs",
    "crates/adapter-faiss/src/counters.rs",
    "crates/adapter-faiss/src/facts.rs",
    "crates/adapter-faiss/src/ffi.rs",
    "crates/adapter-faiss/src/native.rs",
    "crates/adapter-faults/src/fault.rs",
    "crates/adapter-hnsw-rs/src/bits.rs",
    "crates/adapter-hnsw-rs/src/graph.rs",
    "crates/core/src/distance.rs",
    "crates/core/src/worker/control.rs",
    "crates/core/src/worker/process.rs",
    "crates/core/src/worker/vectors.rs",
    "crates/dataset/src/mapped.rs",
    "crates/dataset/tests/allocations/mod.rs",
    "crates/exact/src/kernel/avx512.rs",
    "crates/exact/src/kernel/bits.rs",
    "crates/exact/src/kernel/bytes.rs",
    "crates/exact/src/kernel/floats.rs",
    "crates/exact/src/panel/amx.rs",
    "crates/exact/src/panel/avx2.rs",
    "crates/exact/src/panel/avx512.rs",
    "crates/exact/src/panel/lines.rs",
    "crates/exact/src/panel/mod.rs",
    "crates/exact/src/panel/over.rs",
    "crates/exact/src/panel/over_avx512.rs",
    "crates/exact/src/shortlist/encode.rs",
    "crates/results/tests/common/file_limit.rs",
    "crates/results/tests/read_only_dir.rs",
    "crates/runner/src/cpus.rs",
    "crates/runner/src/process.rs",
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
    let mut gone: BTreeSet<&str> = expected.keys().copied().collect();
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
        gone.remove(name);
    }
    assert!(
        gone.is_empty(),
        "GRAPH names crates that are gone: {gone:?}"
    );
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
    let found: BTreeSet<String> = files
        .iter()
        .filter(|file| holds_unsafe(&std::fs::read_to_string(file).unwrap()))
        .map(|file| {
            let name = file.strip_prefix(root()).unwrap();
            name.to_str().unwrap().to_owned()
        })
        .collect();
    let named: BTreeSet<String> = UNSAFE.iter().map(|&name| name.to_owned()).collect();
    let unnamed: Vec<_> = found.difference(&named).collect();
    assert!(unnamed.is_empty(), "not in UNSAFE: {unnamed:?}");
    let stale: Vec<_> = named.difference(&found).collect();
    assert!(stale.is_empty(), "without unsafe code, or gone: {stale:?}");
}

/// Whether the keyword stands in a line of code: a block, `fn`, `impl`, `extern`, `trait` or an
/// attribute such as `unsafe(no_mangle)`. Comments, names such as `unsafe_code` and what stands
/// between quotation marks on one line do not count.
fn holds_unsafe(text: &str) -> bool {
    text.lines().any(|line| {
        // Every second part is between quotation marks, those within a text left out.
        for part in line.replace("\\\"", "").split('"').step_by(2) {
            let (code, comment) = part
                .split_once("//")
                .map_or((part, None), |(c, r)| (c, Some(r)));
            let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| word == "unsafe") {
                return true;
            }
            if comment.is_some() {
                break;
            }
        }
        false
    })
}

#[test]
fn every_kind_of_unsafe_code_is_seen() {
    for code in [
        "unsafe { *p }",
        "    unsafe",
        "pub unsafe fn f() {}",
        "unsafe impl Send for T {}",
        "unsafe trait T {}",
        "unsafe extern \"C\" {",
        "#[unsafe(no_mangle)]",
        "let url = \"a://b\"; let x = unsafe{1};",
    ] {
        assert!(holds_unsafe(code), "{code}");
    }
    for code in [
        "#![forbid(unsafe_code)]",
        "// unsafe",
        "/// # unsafe { }",
        "f(); // unsafe { }",
        "say(\"unsafe\");",
        "",
    ] {
        assert!(!holds_unsafe(code), "{code}");
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
