//! The measured loop and what surrounds it.
//!
//! Searching threads live from the first pass to the last, each with its own searcher, its own
//! stripe of the queries and its own buffers. Buffers are allocated and touched before a round and
//! written to disk after the last one: while a round runs, nothing of ours allocates, locks, logs
//! or touches a file.

use super::clock::{measure_noise, nanoseconds};
use super::crew::{Crew, Round};
use super::{output, process};
use crate::wire::{Fault, FaultKind, Repetition, SearchReport, SearchRequest};
use crate::{Index, Mode, Vectors};
use std::sync::Barrier;
use std::time::Instant;

/// Latencies that one round may hold, so that a round's buffers stay below 256 MiB.
const ROUND_LATENCIES: u64 = 1 << 25;
/// Passes are planned this much longer than asked for, so that one round usually suffices.
const MARGIN_PERCENT: u64 = 105;

/// Measures one point on an index that stands, in this process.
///
/// `queries` is `[queries, dim]`, `cpus` are bound to in order of preference (none: as it is). The
/// raw files go to `request.output_dir`.
///
/// # Errors
/// A [`Fault`] when the searcher refuses, fails or panics, or the files cannot be written.
pub fn measure(
    index: &dyn Index,
    queries: Vectors<'_>,
    cpus: &[usize],
    request: &SearchRequest,
) -> Result<SearchReport, Fault> {
    let request_start = Instant::now();
    let spec = &request.spec;
    refuse_senseless(queries, request)?;
    let affinity = if cpus.is_empty() {
        Err("not asked for".to_owned())
    } else {
        process::bind_all_threads(&cpus[..spec.threads.min(cpus.len())])
    };
    let stripes = match spec.mode {
        Mode::Single => spec.threads,
        Mode::Batch => 1,
    };
    let barrier = Barrier::new(stripes);
    std::thread::scope(|scope| {
        let searcher_start = Instant::now();
        let crew = Crew::assemble(scope, index, queries, spec, stripes, cpus, &barrier)?;
        let searcher_wall_ns = nanoseconds(searcher_start, Instant::now());
        let mut pace = Pace {
            queries: queries.n() as u64,
            pass_ns: None,
        };
        let noise_before = measure_noise();
        let (mut warm_up_passes, mut warm_up_wall_ns) = (0, 0);
        while warm_up_passes == 0 || warm_up_wall_ns < request.warm_up_ns {
            let round =
                crew.run(pace.passes(request.warm_up_ns.saturating_sub(warm_up_wall_ns)))?;
            pace.observe(&round);
            warm_up_passes += round.passes;
            warm_up_wall_ns += round.wall_ns;
        }
        let mut measured = Vec::with_capacity(request.repetitions);
        for _ in 0..request.repetitions {
            measured.push(run_repetition(&crew, &mut pace, request.min_pass_ns)?);
        }
        let noise_after = measure_noise();
        let passes = warm_up_passes + measured.iter().map(|r| r.round.passes).sum::<u64>();
        let counters = crew.dismiss()?;
        let repetitions = write_repetitions(request, queries.n(), measured)?;
        Ok(SearchReport {
            repetitions,
            warm_up_passes,
            warm_up_wall_ns,
            searcher_wall_ns,
            counted_queries: passes * queries.n() as u64,
            counters,
            affinity,
            noise_before,
            noise_after,
            request_wall_ns: nanoseconds(request_start, Instant::now()),
        })
    })
}

fn refuse_senseless(queries: Vectors<'_>, request: &SearchRequest) -> Result<(), Fault> {
    let spec = &request.spec;
    let complaint = if spec.k == 0 {
        "k is 0".to_owned()
    } else if spec.threads == 0 || request.repetitions == 0 {
        "threads and repetitions must be at least 1".to_owned()
    } else if spec.mode == Mode::Single && spec.threads > queries.n() {
        format!(
            "{} threads have only {} queries to share",
            spec.threads,
            queries.n()
        )
    } else {
        return Ok(());
    };
    Err(Fault {
        kind: FaultKind::Rejected,
        message: complaint,
    })
}

/// How many passes fill a given time, from the last round seen.
struct Pace {
    queries: u64,
    pass_ns: Option<u64>,
}

impl Pace {
    fn passes(&self, wanted_ns: u64) -> u64 {
        let Some(pass_ns) = self.pass_ns else {
            return 1;
        };
        let most = (ROUND_LATENCIES / self.queries).max(1);
        let wanted_ns = wanted_ns.saturating_mul(MARGIN_PERCENT) / 100;
        wanted_ns.div_ceil(pass_ns.max(1)).clamp(1, most)
    }

    fn observe(&mut self, round: &Round) {
        self.pass_ns = Some(round.wall_ns / round.passes);
    }
}

struct Measured {
    round: Round,
    threads_seen: Option<u64>,
}

/// Runs rounds until `min_pass_ns` of wall time are full, and joins them.
fn run_repetition(crew: &Crew<'_>, pace: &mut Pace, min_pass_ns: u64) -> Result<Measured, Fault> {
    let mut whole = crew.run(pace.passes(min_pass_ns))?;
    pace.observe(&whole);
    while whole.wall_ns < min_pass_ns {
        let more = crew.run(pace.passes(min_pass_ns - whole.wall_ns))?;
        pace.observe(&more);
        whole.join(more);
    }
    Ok(Measured {
        round: whole,
        threads_seen: process::thread_count(),
    })
}

fn write_repetitions(
    request: &SearchRequest,
    queries: usize,
    measured: Vec<Measured>,
) -> Result<Vec<Repetition>, Fault> {
    let dir = &request.output_dir;
    let io_fault = |error: std::io::Error| Fault {
        kind: FaultKind::Io,
        message: format!(
            "writing raw results to {}: {error}; free space or choose another --out",
            dir.display()
        ),
    };
    let mut repetitions: Vec<Repetition> = Vec::with_capacity(measured.len());
    for (
        number,
        Measured {
            round,
            threads_seen,
        },
    ) in measured.into_iter().enumerate()
    {
        let ids_hash = round.first.hash();
        let same_as_first = repetitions
            .first()
            .is_some_and(|first| first.ids_hash == ids_hash);
        let (ids_file, returned_file) = if same_as_first {
            (None, None)
        } else {
            let (ids, returned) = output::write_answers(dir, number, &round.first, request.spec.k)
                .map_err(io_fault)?;
            (Some(ids), Some(returned))
        };
        let (latency_file, latency_hash) = match request.spec.mode {
            Mode::Single => (
                Some(
                    output::write_latencies(dir, number, queries, &round.latencies_ns)
                        .map_err(io_fault)?,
                ),
                Some(super::latency_hash(&round.latencies_ns)),
            ),
            Mode::Batch => (None, None),
        };
        repetitions.push(Repetition {
            passes: round.passes,
            wall_ns: round.wall_ns,
            cpu_ns: round.cpu_ns,
            threads_seen,
            minor_faults: round.faults.map(|f| f.0),
            major_faults: round.faults.map(|f| f.1),
            last_ids_hash: round
                .last
                .map_or_else(|| ids_hash.clone(), |last| last.hash()),
            ids_hash,
            ids_file,
            returned_file,
            latency_file,
            latency_hash,
            invalid_count: round.first.invalid_count,
            invalid: round.first.invalid,
        });
    }
    Ok(repetitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AdapterError, Counters, EMPTY_SLOT, MemoryReport, NeighborRows, Params, Rows, SearchSpec,
        Searcher, TopK, Vector, npy,
    };
    use std::path::Path;

    /// Answers each query with its own first component and the one above it.
    struct Echo;

    struct EchoSearcher {
        searched: u64,
    }

    impl Index for Echo {
        fn searcher<'i>(
            &'i self,
            spec: &SearchSpec,
        ) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
            match spec.params.get("refuse") {
                Some(_) => Err(AdapterError::Rejected("refused".to_owned())),
                None => Ok(Box::new(EchoSearcher { searched: 0 })),
            }
        }

        fn memory(&self) -> MemoryReport {
            MemoryReport::default()
        }
    }

    impl Searcher for EchoSearcher {
        fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
            let Vector::F32(components) = query else {
                return Err(AdapterError::Unsupported("bytes"));
            };
            assert!(components[0] < 1000.0, "too large");
            self.searched += 1;
            top.extend([components[0] as i64, components[0] as i64 + 1, -1, 7]);
            Ok(())
        }

        fn search_batch(
            &mut self,
            queries: Vectors<'_>,
            out: &mut NeighborRows<'_>,
        ) -> Result<(), AdapterError> {
            for i in 0..queries.n() {
                self.search(queries.row(i), &mut out.row(i))?;
            }
            Ok(())
        }

        fn counters(&self) -> Counters {
            Counters {
                distance_computations: Some(self.searched),
                vertices_visited: None,
            }
        }
    }

    fn request(dir: &Path, mode: Mode, threads: usize) -> SearchRequest {
        let mut spec = SearchSpec::new(3, Params::new());
        spec.mode = mode;
        spec.threads = threads;
        SearchRequest {
            spec,
            repetitions: 3,
            min_pass_ns: 200_000,
            warm_up_ns: 1000,
            output_dir: dir.to_owned(),
        }
    }

    fn queries() -> Vec<f32> {
        (0..20).map(|i| i as f32).collect()
    }

    #[test]
    fn stripes_join_in_the_order_of_the_queries() {
        let components = queries();
        let vectors = Vectors::F32(Rows::new(&components, 2).unwrap());
        let expected: Vec<u32> = (0..10u32)
            .flat_map(|q| [2 * q, 2 * q + 1, EMPTY_SLOT])
            .collect();
        for (mode, threads) in [(Mode::Single, 1), (Mode::Single, 3), (Mode::Batch, 2)] {
            let dir = tempfile::tempdir().unwrap();
            let report = measure(&Echo, vectors, &[], &request(dir.path(), mode, threads)).unwrap();
            assert_eq!(report.repetitions.len(), 3);
            let (shape, ids) = npy::read::<u32>(&dir.path().join("ids.r0.npy")).unwrap();
            assert_eq!((shape, &ids), (vec![10, 3], &expected));
            let (_, returned) = npy::read::<u32>(&dir.path().join("returned.r0.npy")).unwrap();
            assert_eq!(returned, [4; 10]);
            let mut passes = report.warm_up_passes;
            for (number, repetition) in report.repetitions.iter().enumerate() {
                passes += repetition.passes;
                assert!(repetition.wall_ns >= 200_000);
                assert_eq!(repetition.ids_hash, report.repetitions[0].ids_hash);
                assert_eq!(repetition.last_ids_hash, repetition.ids_hash);
                assert_eq!(repetition.ids_file.is_some(), number == 0);
                match (mode, &repetition.latency_file) {
                    (Mode::Single, Some(name)) => {
                        let (shape, _) = npy::read::<u64>(&dir.path().join(name)).unwrap();
                        assert_eq!(shape, [repetition.passes as usize, 10]);
                    }
                    (Mode::Batch, None) => {}
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(report.counted_queries, passes * 10);
            assert_eq!(report.counters.distance_computations, Some(passes * 10));
        }
    }

    #[test]
    fn a_panic_a_refusal_and_a_library_error_end_the_point_only() {
        let dir = tempfile::tempdir().unwrap();
        let large = [1.0f32, 1.0, 2000.0, 1.0];
        let vectors = Vectors::F32(Rows::new(&large, 2).unwrap());
        for threads in [1, 2] {
            let fault = measure(
                &Echo,
                vectors,
                &[],
                &request(dir.path(), Mode::Single, threads),
            )
            .unwrap_err();
            assert_eq!(fault.kind, FaultKind::Panic);
            assert!(fault.message.contains("too large"), "{}", fault.message);
        }
        let mut refused = request(dir.path(), Mode::Single, 1);
        refused.spec.params = Params::new().with("refuse", crate::ParamValue::Bool(true));
        let fault = measure(&Echo, vectors, &[], &refused).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Rejected);
        let bytes = [1u8, 2];
        let vectors = Vectors::U8(Rows::new(&bytes, 2).unwrap());
        let fault =
            measure(&Echo, vectors, &[], &request(dir.path(), Mode::Single, 1)).unwrap_err();
        assert!(fault.message.contains("not supported"), "{}", fault.message);
    }

    #[test]
    fn more_threads_than_queries_and_an_unwritable_folder_are_refused() {
        let components = queries();
        let vectors = Vectors::F32(Rows::new(&components, 2).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let fault =
            measure(&Echo, vectors, &[], &request(dir.path(), Mode::Single, 11)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Rejected);
        let missing = dir.path().join("missing");
        let fault = measure(&Echo, vectors, &[], &request(&missing, Mode::Single, 1)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Io);
        assert!(fault.message.contains("--out"), "{}", fault.message);
    }
}
