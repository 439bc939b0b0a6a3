//! Whether a worker's report can be true. Its clocks and files are not trusted where they can be
//! checked against the request, against one another and against the runner's own clock.

use annbench_core::Mode;
use annbench_core::wire::{SearchReport, SearchRequest};
use annbench_results::Speed;
use std::path::{Component, Path};
use std::time::Duration;

/// A `.npy` header of ours is shorter than this.
const HEADER_BYTES: u64 = 4096;

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
                let most = values.saturating_mul(size).saturating_add(HEADER_BYTES);
                check_file(&request.output_dir, name, most)?;
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

/// A raw file is a plain file in its folder, of a size that its shape explains: anything else might
/// block, or be read for ever.
fn check_file(dir: &Path, name: &str, most_bytes: u64) -> Result<(), String> {
    let mut parts = Path::new(name).components();
    let plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    if !plain {
        return Err(format!(
            "raw file {name:?}: expected a name without folders"
        ));
    }
    let found = std::fs::symlink_metadata(dir.join(name))
        .map_err(|error| format!("raw file {name}: {error}"))?;
    if !found.is_file() || found.len() > most_bytes {
        return Err(format!(
            "raw file {name}: expected a plain file of at most {most_bytes} bytes, found {:?} of {}",
            found.file_type(),
            found.len()
        ));
    }
    Ok(())
}

/// Refuses latencies that, added up, are more than the threads had time for.
pub(crate) fn check_latencies(
    report: &SearchReport,
    speed: &Speed,
    threads: usize,
    queries: u64,
) -> Result<(), String> {
    for (number, (repetition, latency)) in report
        .repetitions
        .iter()
        .zip(&speed.service_latency)
        .enumerate()
    {
        let calls = (repetition.passes * queries) as f64;
        let sum_ns = latency.mean_ns * calls;
        let room_ns = repetition.wall_ns as f64 * threads as f64;
        // The mean is a rounded quotient.
        if sum_ns > room_ns * (1.0 + 1e-9) {
            return Err(format!(
                "repetition {number}: latencies add up to {sum_ns:.0} ns, {threads} threads had \
                 {room_ns:.0} ns"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::wire::{Noise, Repetition};
    use annbench_core::{Counters, Params, SearchSpec};

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
                lie(&|r| r.repetitions[0].latency_file = None),
                "latencies in single mode",
            ),
            (
                lie(&|r| r.repetitions[0].ids_file = Some("../ids".to_owned())),
                "without folders",
            ),
            (
                lie(&|r| r.repetitions[0].ids_file = Some("no".to_owned())),
                "raw file no",
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
}
