//! A directory that may be read but not written.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_results::*;
use common::run_record;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Runs `test` as nobody where the caller is root, whom permissions do not bind. The identity for
/// file accesses belongs to the thread, so the others keep theirs.
fn unprivileged<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: geteuid and setfsuid only read and set this thread's identity.
            unsafe {
                if libc::geteuid() == 0 {
                    libc::setfsuid(65_534);
                }
            }
            test()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_read_only_run_can_be_read_and_refuses_to_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let allow =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(dir.path(), 0o755);
    let run = dir.path().join("run");
    Store::create_or_open(&run)
        .unwrap()
        .append(&run_record())
        .unwrap();
    for file in [RECORDS_FILE, "lock"] {
        allow(&run.join(file), 0o444);
    }
    allow(&run.join(RAW_DIR), 0o555);
    allow(&run, 0o555);
    let fresh = run.join("new");

    let (read, written, created) = unprivileged(|| {
        (
            RunRecords::open(&run),
            Store::create_or_open(&run),
            Store::create_or_open(&fresh),
        )
    });
    allow(&run, 0o755);

    assert_eq!(read.unwrap().records, [run_record()]);
    for (result, path) in [(written, run.join("lock")), (created, fresh.join(RAW_DIR))] {
        let error = result.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}: cannot create", path.display())),
            "{error}"
        );
        assert!(error.contains("with --out"), "{error}");
    }
    assert_eq!(RunRecords::open(&run).unwrap().records, [run_record()]);
}
