use super::answers::Answers;
use super::clock::nanoseconds;
use super::guard::{fault, guard, panic_message};
use super::process;
use crate::wire::{Fault, FaultKind, MAX_INVALID_EXAMPLES};
use crate::{
    AdapterError, Counters, Index, Mode, NeighborRows, SearchSpec, Searcher, TopK, Vectors,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, mpsc};
use std::time::Instant;

/// One thread's buffers for one round of `passes` passes over its stripe.
pub(super) struct Buffers {
    pub passes: u64,
    pub first: Answers,
    pub last: Answers,
    pub latencies_ns: Vec<u64>,
}

impl Buffers {
    fn touched(passes: u64, queries: usize, spec: &SearchSpec) -> Self {
        let latencies = match spec.mode {
            Mode::Single => passes as usize * queries,
            Mode::Batch => 0,
        };
        Self {
            passes,
            first: Answers::touched(queries, spec.k, MAX_INVALID_EXAMPLES),
            last: Answers::touched(queries, spec.k, 0),
            latencies_ns: vec![1; latencies],
        }
    }
}

/// What a searching thread is told.
pub(super) enum Command {
    Prepare { passes: u64 },
    Go,
}

/// What it tells.
pub(super) enum Event {
    Ready,
    Failed(Fault),
    Ran {
        start: Instant,
        end: Instant,
        buffers: Box<Buffers>,
    },
}

/// One searching thread.
pub(super) struct Stripe<'e> {
    pub number: usize,
    pub index: &'e dyn Index,
    pub queries: Vectors<'e>,
    pub first_query: u32,
    pub spec: &'e SearchSpec,
    pub cpus: &'e [usize],
    pub commands: mpsc::Receiver<Command>,
    pub events: mpsc::Sender<(usize, Event)>,
    pub barrier: &'e Barrier,
}

impl Stripe<'_> {
    /// Makes the searcher and follows commands until they end.
    pub fn serve(self) -> Result<Counters, Fault> {
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
                    if self.spec.mode == Mode::Batch {
                        buffers.first.settle(self.spec.k);
                        buffers.last.settle(self.spec.k);
                    }
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
        // Only the counts: slots that the library leaves are emptied after the clock has stopped.
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
