use annbench_results::Fact;
use std::collections::BTreeMap;

/// Beginnings of variables that change how a library computes, allocates or is loaded.
const PREFIXES: [&str; 10] = [
    "BLIS_",
    "GLIBC_",
    "GOMP_",
    "KMP_",
    "LD_",
    "MALLOC_",
    "MKL_",
    "OMP_",
    "OPENBLAS_",
    "RAYON_",
];

/// What the machine tells, what limits it can keep, and what the workers inherit from whoever started
/// the run.
pub fn environment() -> BTreeMap<String, Fact> {
    let mut facts = annbench_results::collect_environment(annbench_core::wire::COMPILER);
    let linux = |what: &str| {
        if cfg!(target_os = "linux") {
            Fact::Known(what.to_owned())
        } else {
            Fact::Unavailable("only Linux tells".to_owned())
        }
    };
    let memory = "RssAnon + RssShmem of the process tree at 10 Hz; RLIMIT_DATA 2 GiB above";
    facts.insert("memory_limit".to_owned(), linux(memory));
    facts.insert(
        "affinity".to_owned(),
        linux("every task of a worker, physical cores first"),
    );
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            facts.insert(format!("inherited {name}"), Fact::Known(value.into_owned()));
        }
    }
    facts
}
