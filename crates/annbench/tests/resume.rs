//! A run may be killed at any moment: the same command goes on, and nothing finished is lost or
//! repeated, nothing half-written is counted.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Outcome, Record, RunRecords};
use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use support::{Bench, QUICK_CAMPAIGN, random_sweep};

const POINTS: usize = 30;

/// Kills in the test; `ANNBENCH_KILLS` asks for more.
fn kills() -> usize {
    std::env::var("ANNBENCH_KILLS").map_or(20, |text| text.parse().unwrap())
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("configs/sweep.yaml", &random_sweep(POINTS));
    bench.write("configs/campaign.yaml", QUICK_CAMPAIGN);
    bench
}

fn start(bench: &Bench) -> Child {
    bench
        .command(&[
            "run",
            "configs/campaign.yaml",
            "--out",
            "run",
            "--skip-selftest",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(pid: u32, signal: &str) {
    let killed = std::process::Command::new("kill")
        .args([signal, &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    // The process may have ended by itself in the meantime.
    let _ = killed;
}

/// Workers of the runner `pid`.
fn workers(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children
        .unwrap_or_default()
        .split_whitespace()
        .map(|child| child.parse().unwrap())
        .collect()
}

/// Seeded, so that a failure can be had again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

#[test]
fn kills_at_random_moments_lose_and_repeat_nothing() {
    let bench = bench();
    let mut dice = Dice(2026);
    let mut finished_before: BTreeMap<String, String> = BTreeMap::new();
    for number in 0..kills() {
        let mut runner = start(&bench);
        std::thread::sleep(Duration::from_millis(20 + dice.roll(300)));
        let orphans = workers(runner.id());
        if number % 3 == 2 {
            // A worker dies; its runner goes on, and is killed a moment later.
            for &worker in &orphans {
                kill(worker, "-KILL");
            }
            std::thread::sleep(Duration::from_millis(dice.roll(60)));
        }
        let orphans = [orphans, workers(runner.id())].concat();
        runner.kill().unwrap();
        runner.wait().unwrap();
        for worker in orphans {
            assert!(gone(worker), "worker {worker} outlived its runner");
        }
        let Ok(run) = RunRecords::open(&bench.path("run")) else {
            continue;
        };
        let finished: BTreeMap<String, String> = run
            .latest_searches()
            .into_iter()
            .map(|search| (search.point_id.clone(), search.outcome.word().to_owned()))
            .collect();
        for (point, outcome) in &finished_before {
            assert_eq!(
                finished.get(point),
                Some(outcome),
                "a finished point was lost"
            );
        }
        finished_before = finished;
        if number % 10 == 9 {
            // Start anew, so that kills also meet the beginning of a run.
            std::fs::rename(bench.path("run"), bench.path(&format!("run.{number}"))).unwrap();
            check(&bench, &format!("run.{number}"), false);
            finished_before.clear();
        }
    }
    bench.answer(&[
        "run",
        "configs/campaign.yaml",
        "--out",
        "run",
        "--skip-selftest",
    ]);
    check(&bench, "run", true);
    // Points whose worker was killed are failures until they are asked for again.
    let again = [
        "run",
        "configs/campaign.yaml",
        "--out",
        "run",
        "--skip-selftest",
        "--retry",
        "failed",
    ];
    bench.answer(&again);
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let latest = run.latest_searches();
    assert_eq!(latest.len(), POINTS);
    assert!(latest.iter().all(|search| search.outcome == Outcome::Ok));
}

fn gone(pid: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => return true,
            // A zombie waits for its new parent, and runs no more.
            Ok(stat)
                if stat
                    .rsplit(')')
                    .next()
                    .unwrap()
                    .trim_start()
                    .starts_with('Z') =>
            {
                return true;
            }
            Ok(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    false
}

/// Every record is whole and unique, and its raw files are there.
fn check(bench: &Bench, run: &str, complete: bool) {
    let dir = bench.path(run);
    let records = RunRecords::open(&dir).unwrap();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for record in &records.records {
        let Record::Search(search) = record else {
            continue;
        };
        *seen.entry(&search.point_id).or_default() += 1;
        if search.outcome == Outcome::Ok {
            let measured = search.measured.as_ref().unwrap();
            for repetition in &measured.report.repetitions {
                let files = [
                    &repetition.ids_file,
                    &repetition.returned_file,
                    &repetition.latency_file,
                ];
                for name in files.into_iter().flatten() {
                    assert!(dir.join(&measured.raw_dir).join(name).is_file());
                }
            }
        }
    }
    assert!(
        seen.values().all(|&times| times == 1),
        "{run}: a point was measured twice"
    );
    if complete {
        assert_eq!(seen.len(), POINTS);
        assert_eq!(records.torn_bytes, 0);
        let partial = std::fs::read_dir(dir.join("raw"))
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .contains("partial")
            })
            .count();
        assert_eq!(partial, 0);
    }
}

#[test]
fn an_interrupt_stops_cleanly_and_a_second_runner_is_kept_out() {
    let bench = bench();
    bench.write(
        "configs/campaign.yaml",
        &QUICK_CAMPAIGN.replace("min_pass: 5ms", "min_pass: 500ms"),
    );
    let runner = bench
        .command(&[
            "run",
            "configs/campaign.yaml",
            "--out",
            "run",
            "--skip-selftest",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while workers(runner.id()).is_empty() || RunRecords::open(&bench.path("run")).is_err() {
        assert!(Instant::now() < deadline, "no worker was started");
        std::thread::sleep(Duration::from_millis(5));
    }
    let complaint = bench.complaint(
        &[
            "run",
            "configs/campaign.yaml",
            "--out",
            "run",
            "--skip-selftest",
        ],
        2,
    );
    assert!(complaint.contains("run"), "{complaint}");
    let pid = runner.id();
    let workers = workers(pid);
    kill(pid, "-INT");
    let output = runner.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(
        stderr.contains("go on with: annbench run configs/campaign.yaml"),
        "{stderr}"
    );
    assert!(workers.into_iter().all(gone));
    check(&bench, "run", false);
}
