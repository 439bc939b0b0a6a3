use super::answers::Answers;
use super::clock::nanoseconds;
use super::guard::panic_message;
use super::process;
use super::stripe::{Buffers, Command, Event, Stripe};
use crate::wire::{Fault, FaultKind};
use crate::{Counters, Index, Mode, SearchSpec, Vectors};
use std::sync::{Barrier, mpsc};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

/// All stripes of one round put together.
pub(super) struct Round {
    pub passes: u64,
    pub wall_ns: u64,
    pub cpu_ns: Option<u64>,
    pub faults: Option<(u64, u64)>,
    pub first: Answers,
    /// Answers of the last pass; `None` where that is the first.
    pub last: Option<Answers>,
    pub latencies_ns: Vec<u64>,
}

impl Round {
    /// Appends the passes of a later round; the first pass stays the first.
    pub fn join(&mut self, later: Round) {
        self.passes += later.passes;
        self.wall_ns += later.wall_ns;
        self.cpu_ns = self.cpu_ns.zip(later.cpu_ns).map(|(a, b)| a + b);
        self.faults = self
            .faults
            .zip(later.faults)
            .map(|(a, b)| (a.0 + b.0, a.1 + b.1));
        // The last pass of a round of one pass is its first.
        self.last = Some(later.last.unwrap_or(later.first));
        self.latencies_ns.extend(later.latencies_ns);
    }
}

/// The searching threads of one point.
pub(super) struct Crew<'s> {
    spec: SearchSpec,
    commands: Vec<mpsc::Sender<Command>>,
    events: mpsc::Receiver<(usize, Event)>,
    threads: Vec<ScopedJoinHandle<'s, Result<Counters, Fault>>>,
}

impl<'s> Crew<'s> {
    /// Starts a thread per stripe and waits until each has its searcher.
    pub fn assemble<'e: 's>(
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
    pub fn run(&self, passes: u64) -> Result<Round, Fault> {
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
            last: (passes > 1).then(Answers::default),
            latencies_ns,
        };
        for (_, _, buffers) in stripes {
            round.first.extend(buffers.first);
            if let Some(last) = &mut round.last {
                last.extend(buffers.last);
            }
        }
        debug_assert_eq!(
            round.first.ids.len(),
            round.first.returned.len() * self.spec.k
        );
        Ok(round)
    }

    /// Ends the threads and sums their counters.
    pub fn dismiss(self) -> Result<Counters, Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn round(ids: [u32; 2], last: Option<[u32; 2]>) -> Round {
        let answers = |ids: [u32; 2]| Answers {
            ids: ids.to_vec(),
            returned: vec![2],
            ..Answers::default()
        };
        Round {
            passes: if last.is_some() { 3 } else { 1 },
            wall_ns: 10,
            cpu_ns: Some(9),
            faults: Some((1, 0)),
            first: answers(ids),
            last: last.map(answers),
            latencies_ns: vec![5; if last.is_some() { 3 } else { 1 }],
        }
    }

    #[test]
    fn a_round_of_one_pass_ends_with_its_own_answers() {
        let mut whole = round([1, 2], Some([3, 4]));
        whole.join(round([5, 6], None));
        assert_eq!(
            (whole.passes, whole.wall_ns, whole.cpu_ns),
            (4, 20, Some(18))
        );
        assert_eq!(whole.faults, Some((2, 0)));
        assert_eq!(whole.first.ids, [1, 2]);
        assert_eq!(
            whole.last.as_ref().map(|a| a.ids.as_slice()),
            Some(&[5, 6][..])
        );
        assert_eq!(whole.latencies_ns.len(), 4);
        whole.join(round([1, 2], Some([7, 8])));
        assert_eq!(whole.last.map(|a| a.ids), Some(vec![7, 8]));
    }
}
