//! The first words of a worker, and executables that say others.

#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_core::PointSpec;
use annbench_core::wire::{Request, Stage};
use annbench_results::{Cause, Failure};
use annbench_runner::{Installed, RequestError, Worker, WorkerSettings, thread_variables};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use support::{Lab, fault};

/// A shell script as an adapter.
fn script(folder: &Path, body: &str) -> Installed {
    let path = folder.join("annbench-adapter-x");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    Installed {
        adapter: "x".to_owned(),
        path,
    }
}

/// The shell command that prints `message` as a frame.
fn print_frame(message: &str) -> String {
    let octal: String = (message.len() as u32)
        .to_le_bytes()
        .iter()
        .map(|byte| format!("\\{byte:03o}"))
        .collect();
    format!("printf '{octal}%s' '{message}'")
}

fn settings() -> WorkerSettings {
    WorkerSettings {
        environment: thread_variables(1),
        memory_limit_bytes: 1 << 30,
    }
}

fn failure(ended: Result<(), RequestError>) -> Failure {
    match ended {
        Err(RequestError::Ended(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

const DESCRIPTOR: &str = r#"{"adapter":"x","library":"x","library_version":"1","supports":[],"modes":[],"saves":false,"deterministic_build":false,"seeded":false,"build_facts":{},"build_params":[],"search_params":[]}"#;

fn hello(protocol: u32, descriptor: &str) -> String {
    print_frame(&format!(
        r#"{{"number":0,"message":{{"reply":"hello","protocol":{protocol},"descriptor":{descriptor}}}}}"#
    ))
}

#[test]
fn a_worker_of_another_protocol_and_a_program_that_is_no_adapter_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (body, expected) in [
        (
            format!("{}; sleep 1", hello(99, DESCRIPTOR)),
            "expected protocol 1, found 99",
        ),
        (
            format!("{}; sleep 1", hello(99, "[7]")),
            "expected protocol 1, found 99",
        ),
        (
            format!("{}; sleep 1", hello(1, "[7]")),
            "expected a hello: a frame holds no message",
        ),
        (
            format!("echo Loading tables; {}; sleep 1", hello(1, DESCRIPTOR)),
            "found bytes that start with \"Load\"",
        ),
        ("exit 0".to_owned(), "exited with code 0"),
        ("echo sorry >&2; exit 4".to_owned(), "exited with code 4"),
    ] {
        let installed = script(folder.path(), &body);
        let ended = Worker::start(&installed, &settings(), &AtomicBool::new(false));
        let failure = failure(ended.map(|_| ()));
        assert_eq!(failure.stage, Stage::Start);
        assert!(failure.message.contains(expected), "{}", failure.message);
    }
}

#[test]
fn a_worker_that_does_not_read_its_pipe_runs_into_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!("{}; exec sleep 600", hello(1, DESCRIPTOR));
    let installed = script(folder.path(), &body);
    let interrupted = AtomicBool::new(false);
    let (mut worker, _) = Worker::start(&installed, &settings(), &interrupted)
        .unwrap_or_else(|error| panic!("{error:?}"));
    // More than a pipe holds.
    let request = Request::Check {
        points: vec![point(); 4000],
    };
    let limit = Duration::from_millis(300);
    let ended = worker.request(Stage::Check, &request, limit, &interrupted);
    let failure = failure(ended.map(|_| ()));
    assert_eq!(
        failure.cause,
        Cause::Timeout {
            limit_ns: 300_000_000
        }
    );
}

fn point() -> PointSpec {
    let lab = Lab::new();
    let job = lab.plan(fault("none", 0), vec![fault("none", 0)]);
    job.point_spec(&job.points[0])
}
