//! The measured loop and what surrounds it.
//!
//! Searching threads live from the first pass to the last, each with its own searcher, its own
//! stripe of the queries and its own buffers. Buffers are allocated and touched before a round and
//! written to disk after the last one: while a round runs, nothing of ours allocates, locks, logs
//! or touches a file.

use super::clock::{measure_noise, nanoseconds};
use super::serve::{fault, guard, panic_message};
use super::{output, process};
use crate::wire::{Fault, FaultKind, Repetition, SearchReport, SearchRequest};
use crate::{
    AdapterError, Counters, EMPTY_SLOT, Index, InvalidId, Mode, NeighborRows, SearchSpec, Searcher,
    TopK, Vectors,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, mpsc};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

/// Latencies that one round may hold, so that a round's buffers stay below 256 MiB.
const ROUND_LATENCIES: u64 = 1 << 25;
/// Examples of answers that are no ids, kept per repetition and thread.
const INVALID_EXAMPLES: usize = 32;
/// Passes are planned this much longer than asked for, so that one round usually suffices.
const MARGIN_PERCENT: u64 = 105;

/// Answers to a stripe of queries: ids `[queries, k]` and a returned count for each query.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub ids: Vec<u32>,
    pub returned: Vec<u32>,
    pub invalid: Vec<InvalidId>,
    pub invalid_count: u64,
}

impl Answers {
    fn touched(queries: usize, k: usize, examples: usize) -> Self {
        Self {
            // Non-zero values are really written, so the pages exist before the clock starts.
            ids: vec![EMPTY_SLOT; queries * k],
            returned: vec![1; queries],
            invalid: Vec::with_capacity(examples),
            invalid_count: 0,
        }
    }

    fn extend(&mut self, other: Answers) {
        self.ids.extend(other.ids);
        self.returned.extend(other.returned);
        self.invalid.extend(other.invalid);
        self.invalid.truncate(INVALID_EXAMPLES);
        self.invalid_count += other.invalid_count;
    }

    fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytemuck::cast_slice(&self.ids));
        hasher.update(bytemuck::cast_slice(&self.returned));
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// One thread's buffers for one round of `passes` passes over its stripe.
struct Buffers {
    passes: u64,
    first: Answers,
    last: Answers,
    latencies_ns: Vec<u64>,
}

impl Buffers {
    fn touched(passes: u64, queries: usize, spec: &SearchSpec) -> Self {
        let latencies = match spec.mode {
            Mode::Single => passes as usize * queries,
            Mode::Batch => 0,
        };
        Self {
            passes,
            first: Answers::touched(queries, spec.k, INVALID_EXAMPLES),
            last: Answers::touched(queries, spec.k, 0),
            latencies_ns: vec![1; latencies],
        }
    }
}

enum Command {
    Prepare { passes: u64 },
    Go,
}

enum Event {
    Ready,
    Failed(Fault),
    Ran {
        start: Instant,
        end: Instant,
        buffers: Box<Buffers>,
    },
}

/// All stripes of one round put together.
struct Round {
    passes: u64,
    wall_ns: u64,
    cpu_ns: Option<u64>,
    faults: Option<(u64, u64)>,
    first: Answers,
    last: Answers,
    latencies_ns: Vec<u64>,
}

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
        whole.passes += more.passes;
        whole.wall_ns += more.wall_ns;
        whole.cpu_ns = whole.cpu_ns.zip(more.cpu_ns).map(|(a, b)| a + b);
        whole.faults = whole
            .faults
            .zip(more.faults)
            .map(|(a, b)| (a.0 + b.0, a.1 + b.1));
        whole.last = more.last;
        whole.latencies_ns.extend(more.latencies_ns);
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
        let latency_file = match request.spec.mode {
            Mode::Single => Some(
                output::write_latencies(dir, number, queries, &round.latencies_ns)
                    .map_err(io_fault)?,
            ),
            Mode::Batch => None,
        };
        repetitions.push(Repetition {
            passes: round.passes,
            wall_ns: round.wall_ns,
            cpu_ns: round.cpu_ns,
            threads_seen,
            minor_faults: round.faults.map(|f| f.0),
            major_faults: round.faults.map(|f| f.1),
            last_ids_hash: if round.passes > 1 {
                round.last.hash()
            } else {
                ids_hash.clone()
            },
            ids_hash,
            ids_file,
            returned_file,
            latency_file,
            invalid_count: round.first.invalid_count,
            invalid: round.first.invalid,
        });
    }
    Ok(repetitions)
}

/// The searching threads of one point.
struct Crew<'s> {
    spec: SearchSpec,
    commands: Vec<mpsc::Sender<Command>>,
    events: mpsc::Receiver<(usize, Event)>,
    threads: Vec<ScopedJoinHandle<'s, Result<Counters, Fault>>>,
}

impl<'s> Crew<'s> {
    fn assemble<'e: 's>(
        scope: &'s Scope<'s, 'e>,
        index: &'e dyn Index,
        queries: Vectors<'e>,
        spec: &'e SearchSpec,
        stripes: usize,
        cpus: &'e [usize],
        barrier: &'e Barrier,
    ) -> Result<Self, Fault> {
        let (event_sender, events) = mpsc::channel();
        let mut crew = Self {
            spec: spec.clone(),
            commands: Vec::with_capacity(stripes),
            events,
            threads: Vec::with_capacity(stripes),
        };
        for stripe in 0..stripes {
            let first = stripe * queries.n() / stripes;
            let end = (stripe + 1) * queries.n() / stripes;
            let (command_sender, commands) = mpsc::channel();
            let worker = Stripe {
                number: stripe,
                index,
                queries: queries.slice(first..end),
                first_query: first as u32,
                spec,
                // A batch call spreads over the library's threads, which inherit this mask.
                cpus: match spec.mode {
                    Mode::Single if cpus.is_empty() => cpus,
                    Mode::Single => std::slice::from_ref(&cpus[stripe % cpus.len()]),
                    Mode::Batch => &cpus[..spec.threads.min(cpus.len())],
                },
                commands,
                events: event_sender.clone(),
                barrier,
            };
            let thread = std::thread::Builder::new()
                .name(format!("search-{stripe}"))
                .spawn_scoped(scope, move || worker.serve())
                .map_err(|error| Fault {
                    kind: FaultKind::Io,
                    message: format!("starting search thread {stripe}: {error}"),
                })?;
            crew.commands.push(command_sender);
            crew.threads.push(thread);
        }
        drop(event_sender);
        crew.await_ready()?;
        Ok(crew)
    }

    fn send(&self, command: impl Fn() -> Command) {
        for commands in &self.commands {
            // A thread that is gone has sent its reason as an event.
            let _ = commands.send(command());
        }
    }

    fn event(&self) -> Result<(usize, Event), Fault> {
        match self.events.recv() {
            Ok((_, Event::Failed(fault))) => Err(fault),
            Ok(event) => Ok(event),
            Err(_) => Err(vanished()),
        }
    }

    fn await_ready(&self) -> Result<(), Fault> {
        for _ in &self.commands {
            self.event()?;
        }
        Ok(())
    }

    /// Runs `passes` passes on all stripes at once.
    fn run(&self, passes: u64) -> Result<Round, Fault> {
        self.send(|| Command::Prepare { passes });
        self.await_ready()?;
        let faults_before = process::page_faults();
        let cpu_before = process::cpu_time_ns();
        self.send(|| Command::Go);
        let mut stripes: Vec<Option<(Instant, Instant, Box<Buffers>)>> = Vec::new();
        stripes.resize_with(self.commands.len(), || None);
        for _ in &self.commands {
            if let (
                number,
                Event::Ran {
                    start,
                    end,
                    buffers,
                },
            ) = self.event()?
            {
                stripes[number] = Some((start, end, buffers));
            }
        }
        let cpu_after = process::cpu_time_ns();
        let faults_after = process::page_faults();
        let mut stripes: Vec<_> = stripes.into_iter().flatten().collect();
        let (Some(start), Some(end)) = (
            stripes.iter().map(|s| s.0).min(),
            stripes.iter().map(|s| s.1).max(),
        ) else {
            return Err(vanished());
        };
        let latencies_ns = join_latencies(&mut stripes, passes);
        let mut round = Round {
            passes,
            wall_ns: nanoseconds(start, end).max(1),
            cpu_ns: cpu_after.zip(cpu_before).map(|(a, b)| a - b),
            faults: faults_after
                .zip(faults_before)
                .map(|(a, b)| (a.0 - b.0, a.1 - b.1)),
            first: Answers::default(),
            last: Answers::default(),
            latencies_ns,
        };
        for (_, _, buffers) in stripes {
            round.first.extend(buffers.first);
            round.last.extend(buffers.last);
        }
        debug_assert_eq!(
            round.first.ids.len(),
            round.first.returned.len() * self.spec.k
        );
        Ok(round)
    }

    /// Ends the threads and sums their counters.
    fn dismiss(self) -> Result<Counters, Fault> {
        drop(self.commands);
        let mut total: Option<Counters> = None;
        for thread in self.threads {
            let counters = thread.join().map_err(|payload| Fault {
                kind: FaultKind::Panic,
                message: panic_message(payload.as_ref()),
            })??;
            total = Some(total.map_or(counters, |sum| sum.plus(counters)));
        }
        Ok(total.unwrap_or_default())
    }
}

fn vanished() -> Fault {
    Fault {
        kind: FaultKind::Panic,
        message: "a search thread ended without a result".to_owned(),
    }
}

/// Latencies `[passes, queries]` from the stripes' `[passes, stripe]`.
fn join_latencies(stripes: &mut [(Instant, Instant, Box<Buffers>)], passes: u64) -> Vec<u64> {
    if let [(_, _, only)] = stripes {
        return std::mem::take(&mut only.latencies_ns);
    }
    let total = stripes.iter().map(|s| s.2.latencies_ns.len()).sum();
    let mut joined = Vec::with_capacity(total);
    for pass in 0..passes as usize {
        for (_, _, buffers) in stripes.iter() {
            let width = buffers.latencies_ns.len() / passes as usize;
            joined.extend_from_slice(&buffers.latencies_ns[pass * width..(pass + 1) * width]);
        }
    }
    joined
}

/// One searching thread.
struct Stripe<'e> {
    number: usize,
    index: &'e dyn Index,
    queries: Vectors<'e>,
    first_query: u32,
    spec: &'e SearchSpec,
    cpus: &'e [usize],
    commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<(usize, Event)>,
    barrier: &'e Barrier,
}

impl Stripe<'_> {
    fn serve(self) -> Result<Counters, Fault> {
        if !self.cpus.is_empty() {
            // The report's affinity field tells whether binding works on this machine.
            let _ = process::bind_this_thread(self.cpus);
        }
        let mut searcher = match guard(|| self.index.searcher(self.spec)) {
            Ok(searcher) => searcher,
            Err(fault) => {
                self.tell(Event::Failed(fault));
                return Ok(Counters::default());
            }
        };
        self.tell(Event::Ready);
        let mut prepared = None;
        while let Ok(command) = self.commands.recv() {
            match command {
                Command::Prepare { passes } => {
                    let buffers = Buffers::touched(passes, self.queries.n(), self.spec);
                    prepared = Some(Box::new(buffers));
                    self.tell(Event::Ready);
                }
                Command::Go => {
                    let Some(mut buffers) = prepared.take() else {
                        break;
                    };
                    self.barrier.wait();
                    let start = Instant::now();
                    let ran = catch_unwind(AssertUnwindSafe(|| {
                        self.run(searcher.as_mut(), &mut buffers)
                    }));
                    let end = Instant::now();
                    self.tell(match ran {
                        Ok(Ok(())) => Event::Ran {
                            start,
                            end,
                            buffers,
                        },
                        Ok(Err(error)) => Event::Failed(fault(error)),
                        Err(payload) => Event::Failed(Fault {
                            kind: FaultKind::Panic,
                            message: panic_message(payload.as_ref()),
                        }),
                    });
                }
            }
        }
        guard(|| Ok(searcher.counters()))
    }

    fn tell(&self, event: Event) {
        // The coordinator is gone only when the point has failed already.
        let _ = self.events.send((self.number, event));
    }

    fn run(&self, searcher: &mut dyn Searcher, buffers: &mut Buffers) -> Result<(), AdapterError> {
        let queries = self.queries.n();
        for pass in 0..buffers.passes as usize {
            let answers = if pass == 0 {
                &mut buffers.first
            } else {
                &mut buffers.last
            };
            match self.spec.mode {
                Mode::Single => {
                    let latencies = &mut buffers.latencies_ns[pass * queries..(pass + 1) * queries];
                    self.pass_single(searcher, answers, latencies)?;
                }
                Mode::Batch => self.pass_batch(searcher, answers)?,
            }
        }
        Ok(())
    }

    fn pass_single(
        &self,
        searcher: &mut dyn Searcher,
        answers: &mut Answers,
        latencies_ns: &mut [u64],
    ) -> Result<(), AdapterError> {
        let slots = answers.ids.chunks_exact_mut(self.spec.k);
        let rows = slots.zip(&mut answers.returned).zip(latencies_ns);
        for (i, ((slots, returned), latency_ns)) in rows.enumerate() {
            let query = self.queries.row(i);
            let mut top = TopK::new(
                slots,
                returned,
                self.first_query + i as u32,
                &mut answers.invalid,
                &mut answers.invalid_count,
            );
            let before = Instant::now();
            let searched = searcher.search(query, &mut top);
            let after = Instant::now();
            *latency_ns = nanoseconds(before, after);
            searched?;
        }
        Ok(())
    }

    fn pass_batch(
        &self,
        searcher: &mut dyn Searcher,
        answers: &mut Answers,
    ) -> Result<(), AdapterError> {
        // Whether the library fills every row or not, what it leaves is an empty slot.
        answers.ids.fill(EMPTY_SLOT);
        answers.returned.fill(0);
        let rows = NeighborRows::new(
            &mut answers.ids,
            &mut answers.returned,
            self.spec.k,
            self.first_query,
            &mut answers.invalid,
            &mut answers.invalid_count,
        );
        match rows {
            Some(mut rows) => searcher.search_batch(self.queries, &mut rows),
            None => Err(AdapterError::Failed("answer buffers do not fit".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryReport, Params, Rows, Vector, npy};
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
