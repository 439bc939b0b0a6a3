//! A worker whose runner is killed. In a test binary of its own: what it leaves behind is inherited by
//! the testing process, where another test looks for such things.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_core::wire::{Numbered, Reply, Request, SearchRequest, read_frame, write_frame};
use std::os::unix::process::CommandExt;
use support::{Made, fault, installed, measure, plan};

#[test]
fn when_the_runner_is_gone_a_worker_takes_what_it_started_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made::generate(folder.path());
    let (subject, measure) = (made.subject(), measure());
    let job = plan(
        &subject,
        &measure,
        fault("none", 0),
        vec![fault("grandchild", 9)],
    );
    let given = job.given.clone().unwrap();
    let mark = format!("orphan-test-{}", std::process::id());
    let mut child = std::process::Command::new(installed().path)
        .env(annbench_core::wire::MARK, &mark)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut ask = |request: &Request| {
        let number = 1;
        let message = request;
        write_frame(&mut stdin, &Numbered { number, message }).unwrap();
        let reply: Numbered<Reply> = read_frame(&mut stdout).unwrap();
        reply.message
    };
    let open = Request::Open {
        base: given.base,
        queries: given.queries,
        copy_base: true,
        cpus: Vec::new(),
    };
    assert!(matches!(ask(&open), Reply::Hello { .. }));
    let build = Request::Build {
        spec: job.spec.clone(),
    };
    assert!(matches!(ask(&build), Reply::Opened(_)));
    let search = Request::Search(SearchRequest {
        spec: job.points[0].spec.clone(),
        repetitions: 1,
        min_pass_ns: 0,
        warm_up_ns: 0,
        output_dir: folder.path().to_owned(),
    });
    assert!(matches!(ask(&search), Reply::Built(_)));
    let ids = folder.path().join("ids.r0.npy");
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !ids.exists() && std::time::Instant::now() < patience {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let started = |mark: &str| {
        let entry = format!("{}={mark}", annbench_core::wire::MARK);
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|process| {
                std::fs::read(process.path().join("environ")).is_ok_and(|environment| {
                    environment
                        .split(|&b| b == 0)
                        .any(|v| v == entry.as_bytes())
                })
            })
            .count()
    };
    assert_eq!(started(&mark), 2, "the worker and what it left");
    // What a runner that is killed does to its workers.
    drop(stdin);
    child.wait().unwrap();
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while started(&mark) > 0 && std::time::Instant::now() < patience {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(started(&mark), 0);
}
