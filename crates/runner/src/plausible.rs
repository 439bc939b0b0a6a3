//! Whether a worker's reports can be true. Its clocks and files are not trusted where they can be
//! checked against the request, against one another and against the runner's own clock.

use annbench_core::Mode;
use annbench_core::wire::{
    BuildReport, MAX_INVALID_EXAMPLES, MapSpec, SearchReport, SearchRequest,
};
use annbench_results::check_raw_file;
use std::collections::BTreeSet;
use std::time::Duration;

/// Refuses a report that contradicts its request, its files or the time that the request took.
pub(crate) fn check_report(
    report: &SearchReport,
    request: &SearchRequest,
    queries: u64,
    elapsed: Duration,
) -> Result<(), String> {
    let spec = &request.spec;
    if report.repetitions.len() != request.repetitions {
        return Err(format!(
            "expected {} repetitions, found {}",
            request.repetitions,
            report.repetitions.len()
        ));
    }
    let folder = std::fs::symlink_metadata(&request.output_dir);
    if !folder.is_ok_and(|folder| folder.is_dir()) {
        return Err(format!(
            "{}: expected the folder for raw files, found it gone or replaced",
            request.output_dir.display()
        ));
    }
    let mut files = BTreeSet::new();
    let slots = queries.saturating_mul(spec.k as u64);
    let mut wall_ns = u128::from(report.warm_up_wall_ns);
    for (number, repetition) in report.repetitions.iter().enumerate() {
        let complain = |what: String| Err(format!("repetition {number}: {what}"));
        wall_ns += u128::from(repetition.wall_ns);
        if repetition.passes == 0 || repetition.wall_ns < request.min_pass_ns {
            return complain(format!(
                "expected at least one pass and {} ns, found {} passes in {} ns",
                request.min_pass_ns, repetition.passes, repetition.wall_ns
            ));
        }
        if repetition.invalid_count > slots {
            return complain(format!(
                "{} answers that are no ids among {slots} slots",
                repetition.invalid_count
            ));
        }
        let examples = repetition.invalid.len() as u64;
        if examples > repetition.invalid_count.min(MAX_INVALID_EXAMPLES as u64) {
            return complain(format!(
                "{examples} examples of {} answers that are no ids, expected at most \
                 {MAX_INVALID_EXAMPLES}",
                repetition.invalid_count
            ));
        }
        let calls = u128::from(repetition.passes) * u128::from(queries);
        if calls > u128::from(repetition.wall_ns) * spec.threads.max(1) as u128 {
            return complain(format!(
                "{calls} answers in {} ns: no machine gives one in less than a nanosecond",
                repetition.wall_ns
            ));
        }
        if repetition.latency_file.is_some() != (spec.mode == Mode::Single) {
            return complain(format!(
                "expected latencies in single mode and only there, found a file: {:?}",
                repetition.latency_file
            ));
        }
        let latencies = repetition.passes.saturating_mul(queries);
        for (file, values, size) in [
            (&repetition.ids_file, slots, 4),
            (&repetition.returned_file, queries, 4),
            (&repetition.latency_file, latencies, 8),
        ] {
            if let Some(name) = file {
                if !files.insert(name.as_str()) {
                    return complain(format!("raw file {name} is named twice"));
                }
                check_raw_file(&request.output_dir, name, values, size)?;
            }
        }
    }
    if wall_ns > elapsed.as_nanos() {
        return Err(format!(
            "the passes are said to have taken {wall_ns} ns, the whole request took {} ns",
            elapsed.as_nanos()
        ));
    }
    Ok(())
}

/// What a build's own clock may leave of the request's time, beside as much again: starting threads,
/// reading memory and answering.
const BESIDE_BUILD: Duration = Duration::from_secs(1);

/// Refuses a report of a build that contradicts the runner's clock or the size of the base.
pub(crate) fn check_build(
    report: &BuildReport,
    base: &MapSpec,
    elapsed: Duration,
) -> Result<(), String> {
    let wall = Duration::from_nanos(report.wall_ns);
    if wall > elapsed {
        return Err(format!(
            "the build is said to have taken {} ns, the whole request took {} ns",
            report.wall_ns,
            elapsed.as_nanos()
        ));
    }
    if elapsed > 2 * wall + BESIDE_BUILD {
        return Err(format!(
            "the build is said to have taken {} ns, the whole request took {} ns: what did it do in \
             the rest?",
            report.wall_ns,
            elapsed.as_nanos()
        ));
    }
    if report.borrowed_base_bytes > base.len_bytes {
        return Err(format!(
            "searches are said to read {} bytes of a base of {}",
            report.borrowed_base_bytes, base.len_bytes
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::wire::{Noise, Repetition};
    use annbench_core::{Counters, ElementType, InvalidId, MemoryReport, Params, SearchSpec};
    use annbench_results::{Speed, check_latencies};
    use std::path::Path;

    fn request(dir: &Path) -> SearchRequest {
        SearchRequest {
            spec: SearchSpec::new(2, Params::new()),
            repetitions: 1,
            min_pass_ns: 10,
            warm_up_ns: 0,
            output_dir: dir.to_owned(),
        }
    }

    fn report() -> SearchReport {
        let noise = Noise {
            clock_pairs: 1,
            clock_pair_ps: 1,
            longest_gap_ns: 1,
            load_average_x100: None,
        };
        SearchReport {
            repetitions: vec![Repetition {
                passes: 2,
                wall_ns: 100,
                cpu_ns: None,
                threads_seen: None,
                minor_faults: None,
                major_faults: None,
                ids_hash: String::new(),
                last_ids_hash: String::new(),
                ids_file: Some("ids".to_owned()),
                returned_file: None,
                latency_file: Some("latency".to_owned()),
                latency_hash: None,
                invalid_count: 0,
                invalid: Vec::new(),
            }],
            warm_up_passes: 1,
            warm_up_wall_ns: 5,
            searcher_wall_ns: 0,
            counted_queries: 0,
            counters: Counters::default(),
            affinity: Ok(Vec::new()),
            noise_before: noise.clone(),
            noise_after: noise,
            request_wall_ns: 0,
        }
    }

    #[test]
    fn a_true_report_passes_and_each_lie_is_named() {
        let dir = std::env::temp_dir().join(format!("annbench-plausible-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("ids"), [0; 50]).unwrap();
        std::fs::write(dir.join("latency"), [0; 50]).unwrap();
        let (request, elapsed) = (request(&dir), Duration::from_nanos(200));
        let check = |report: &SearchReport| check_report(report, &request, 3, elapsed);
        assert_eq!(check(&report()), Ok(()));
        let lie = |change: &dyn Fn(&mut SearchReport)| {
            let mut report = report();
            change(&mut report);
            check(&report).unwrap_err()
        };
        let words = [
            (lie(&|r| r.repetitions.clear()), "expected 1 repetitions"),
            (lie(&|r| r.repetitions[0].passes = 0), "at least one pass"),
            (lie(&|r| r.repetitions[0].wall_ns = 9), "at least one pass"),
            (
                lie(&|r| r.repetitions[0].wall_ns = 500),
                "the whole request took 200 ns",
            ),
            (
                lie(&|r| r.repetitions[0].invalid_count = u64::MAX),
                "among 6 slots",
            ),
            (
                lie(&|r| r.repetitions[0].passes = 1000),
                "less than a nanosecond",
            ),
            (
                lie(&|r| r.repetitions[0].latency_file = Some("ids".to_owned())),
                "named twice",
            ),
            (
                lie(&|r| {
                    let example = InvalidId {
                        query: 0,
                        position: 0,
                        value: -7,
                    };
                    r.repetitions[0].invalid = vec![example; 2];
                    r.repetitions[0].invalid_count = 1;
                }),
                "2 examples of 1",
            ),
            (
                lie(&|r| r.repetitions[0].latency_file = None),
                "latencies in single mode",
            ),
            (
                lie(&|r| r.repetitions[0].ids_file = Some("../ids".to_owned())),
                "without folders",
            ),
            (
                lie(&|r| r.repetitions[0].ids_file = Some("no".to_owned())),
                "No such file",
            ),
        ];
        for (found, expected) in words {
            assert!(found.contains(expected), "{found}");
        }
        std::fs::write(dir.join("ids"), [0; 5000]).unwrap();
        assert!(check(&report()).unwrap_err().contains("at most 4120 bytes"));
        std::fs::remove_file(dir.join("ids")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.join("ids")).unwrap();
        assert!(check(&report()).unwrap_err().contains("plain file"));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn latencies_must_fit_the_wall_time_and_explain_it() {
        let speed = |mean_ns: f64| Speed {
            qps: Vec::new(),
            qps_median: 0.0,
            qps_min: 0.0,
            qps_max: 0.0,
            service_latency: vec![annbench_results::Latency {
                mean_ns,
                p50_ns: 0,
                p95_ns: 0,
                p99_ns: 0,
                p999_ns: 0,
                max_ns: 0,
            }],
        };
        let mut report = report();
        report.repetitions[0].wall_ns = 1_000_000;
        report.repetitions[0].cpu_ns = Some(1_000_000);
        let check = |mean_ns, threads| check_latencies(&report, &speed(mean_ns), threads, 3);
        // Six calls.
        assert_eq!(check(160_000.0, 1), Ok(()));
        assert!(check(170_000.0, 1).unwrap_err().contains("had 1000000 ns"));
        assert_eq!(check(170_000.0, 2), Ok(()));
        assert!(check(1.0, 1).unwrap_err().contains("does not explain"));
        assert!(check(1.0, 2).unwrap_err().contains("does not explain"));
        // Most of a short repetition may be the turn of another process, but not of a long one.
        report.repetitions[0].cpu_ns = Some(20_000);
        assert_eq!(check_latencies(&report, &speed(10.0), 1, 3), Ok(()));
        report.repetitions[0].wall_ns = 2_000_000_000;
        assert!(check_latencies(&report, &speed(10.0), 1, 3).is_err());
        // A searcher that does nothing is timed in less than the loop takes.
        report.repetitions[0].wall_ns = 600;
        assert_eq!(check_latencies(&report, &speed(1.0), 1, 3), Ok(()));
    }

    #[test]
    fn a_build_that_the_runners_clock_contradicts_is_refused() {
        let base = MapSpec {
            path: "base".into(),
            offset_bytes: 0,
            len_bytes: 100,
            n: 10,
            dim: 10,
            element: ElementType::U8,
        };
        let check = |wall_s: u64, borrowed: u64| {
            let report = BuildReport {
                wall_ns: wall_s * 1_000_000_000,
                cpu_ns: None,
                private_growth_bytes: None,
                peak_resident_bytes: None,
                borrowed_base_bytes: borrowed,
                memory: MemoryReport::default(),
                threads_seen: None,
                affinity: Ok(Vec::new()),
            };
            check_build(&report, &base, Duration::from_secs(10))
        };
        assert_eq!(check(9, 100), Ok(()));
        assert!(check(11, 0).unwrap_err().contains("whole request"));
        assert!(check(1, 0).unwrap_err().contains("in the rest"));
        assert!(check(9, 101).unwrap_err().contains("a base of 100"));
    }
}
