//! The process tree of a worker as `/proc` shows it. Elsewhere than on Linux nothing is found, and
//! the record says that limits were unavailable.

use annbench_core::wire::is_marked;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;

/// The processes `roots` and their descendants.
pub(crate) fn processes_under(roots: Vec<u32>) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open = roots;
    while let Some(pid) = open.pop() {
        if !found.insert(pid) {
            continue;
        }
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for task in tasks.flatten() {
            if let Ok(children) = fs::read_to_string(task.path().join("children")) {
                open.extend(
                    children
                        .split_whitespace()
                        .filter_map(|c| c.parse::<u32>().ok()),
                );
            }
        }
    }
    found
}

/// Children of this process that carry `mark`: what a worker started and left, and this process as
/// the subreaper has inherited.
pub(crate) fn adopted(mark: &OsStr) -> Vec<u32> {
    let own = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    own.filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|children| {
            let children = children.split_whitespace().map(str::parse::<u32>);
            children.flatten().collect::<Vec<_>>()
        })
        .filter(|&pid| is_marked(pid, mark))
        .collect()
}

/// RssAnon + RssShmem of `processes`; `None` when none of them can be read.
///
/// Pages shared with a file are not counted: a mapped base belongs to the page cache.
pub(crate) fn private_bytes(processes: &BTreeSet<u32>) -> Option<u64> {
    let mut total = None;
    for pid in processes {
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else {
            continue;
        };
        for key in ["RssAnon:", "RssShmem:"] {
            let kibibytes = status
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .and_then(|rest| rest.split_whitespace().next())
                .and_then(|number| number.parse::<u64>().ok());
            if let Some(kibibytes) = kibibytes {
                *total.get_or_insert(0) += kibibytes * 1024;
            }
        }
    }
    total
}
