//! One worker of a job: judge the points (the first time), build or load, search until done or dead.

use crate::environment::thread_variables;
use crate::event::Event;
use crate::job::Bench;
use crate::job_run::JobRun;
use crate::outcome::{contradiction, describe, outcome_of};
use crate::planned::PlannedPoint;
use crate::plausible::check_build;
use crate::run_error::RunError;
use crate::steer::Next;
use crate::subject::GivenVectors;
use crate::worker::{RequestError, Worker, WorkerSettings};
use annbench_core::wire::{BuildReport, Reply, Request, Stage, Verdict};
use annbench_results::{Cause, Failure, Outcome, RawDraft, SaveOutcome, SkipCause};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Longest time to map and copy the vectors.
const OPEN_LIMIT: Duration = Duration::from_secs(3600);
/// A build shorter than this is repeated after a crash instead of being saved ahead of one.
const WORTH_SAVING_NS: u64 = 2_000_000_000;

impl Bench<'_> {
    /// One worker: judge the points (the first time), build or load, search until done or dead.
    pub(crate) fn attempt<'p>(
        &mut self,
        run: &JobRun<'_, '_>,
        given: &GivenVectors,
        pending: &mut VecDeque<&'p PlannedPoint>,
        left: &mut Vec<&'p PlannedPoint>,
        state: &mut JobState,
        build_id: &str,
    ) -> Result<(), Broken> {
        let start = Instant::now();
        // Over all points of the job, whichever are left: what is measured may not depend on where an
        // earlier attempt ended.
        let points = run.job.points.iter();
        let most_threads = points.map(|p| p.spec.threads).max().unwrap_or(1);
        let environment = thread_variables(most_threads.max(self.measure.build_threads));
        let settings = WorkerSettings {
            environment: environment.clone(),
            memory_limit_bytes: self.limits.memory_bytes,
        };
        run.check_unchanged()?;
        let (mut worker, descriptor) = Worker::start(run.installed, &settings, self.interrupted)?;
        if !state.checked {
            self.check(run, &mut worker, pending)?;
            state.checked = true;
            if pending.is_empty() {
                worker.close();
                return Ok(());
            }
        }
        self.open(&mut worker, given)?;
        // A file that was replaced before the worker mapped it shows now.
        run.check_unchanged()?;
        let report = self.build(run, given, &mut worker, state.saved.as_ref())?;
        let build_wall_ns = report.wall_ns;

        let (wall, loaded) = (start.elapsed(), state.saved.is_some());
        let mut record = run.build_record(&self.run_id, build_id, Outcome::Ok, wall, loaded);
        record.report = Some(report);
        let worth_saving =
            descriptor.saves && pending.len() > 1 && build_wall_ns >= WORTH_SAVING_NS;
        let mut died_saving = false;
        if worth_saving && state.may_save && state.saved.is_none() {
            let saved = match self.save(&mut worker) {
                Ok(Ok(index)) => {
                    state.saved = Some(index);
                    SaveOutcome::Saved
                }
                Ok(Err(reason)) => SaveOutcome::Failed { reason },
                Err(RequestError::Interrupted) => return Err(Broken::Run(RunError::Interrupted)),
                Err(RequestError::Ended(failure)) => {
                    died_saving = true;
                    SaveOutcome::Failed {
                        reason: describe(&Outcome::Failed(failure)),
                    }
                }
            };
            record.saved = Some(saved);
        }
        record.sampled_peak_bytes = worker.peak_bytes();
        self.append_build(record)?;
        if died_saving {
            // The points deserve another build, unsaved.
            state.may_save = false;
            return Ok(());
        }
        let mut searched = 0;
        while !pending.is_empty() {
            if worker.has_stray_reply() {
                // Nothing that it says next could be trusted, and no point is to blame.
                return match searched {
                    0 => Err(stray_reply(&worker)),
                    _ => Ok(()),
                };
            }
            let Some(point) = pending.pop_front() else {
                break;
            };
            match self.steer.next(point, self.store.records()) {
                Next::Measure => {}
                Next::Skip { cause, because } => {
                    self.skip(run, point, None, Outcome::Skipped { cause, because })?;
                    continue;
                }
                Next::Leave => {
                    left.push(point);
                    continue;
                }
            }
            searched += 1;
            let goes_on = self.search(run, &mut worker, point, build_id, &environment)?;
            self.steer.measured(point);
            if !goes_on {
                return Ok(());
            }
        }
        worker.close();
        Ok(())
    }

    fn check(
        &mut self,
        run: &JobRun<'_, '_>,
        worker: &mut Worker,
        pending: &mut VecDeque<&PlannedPoint>,
    ) -> Result<(), Broken> {
        let points: Vec<_> = pending.iter().map(|p| run.job.point_spec(p)).collect();
        let verdicts = match worker.check(&points, self.interrupted)? {
            Ok(verdicts) => verdicts,
            Err(other) => return Err(unexpected(Stage::Check, other, worker)),
        };
        for verdict in verdicts {
            let Some(point) = pending.pop_front() else {
                break;
            };
            match verdict {
                Verdict::Accepted => pending.push_back(point),
                Verdict::Rejected(reason) => {
                    self.finish(run, point, None, Outcome::Rejected { reason })?;
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, worker: &mut Worker, given: &GivenVectors) -> Result<(), Broken> {
        let request = Request::Open {
            base: given.base.clone(),
            queries: given.queries.clone(),
            copy_base: !self.measure.base_mapped,
            cpus: self.cpus.clone(),
        };
        match worker.request(Stage::Open, &request, OPEN_LIMIT, self.interrupted)? {
            Reply::Opened(_) => Ok(()),
            other => Err(unexpected(Stage::Open, other, worker)),
        }
    }

    fn build(
        &mut self,
        run: &JobRun<'_, '_>,
        given: &GivenVectors,
        worker: &mut Worker,
        saved: Option<&SavedIndex>,
    ) -> Result<BuildReport, Broken> {
        (self.observe)(Event::Building {
            job: run.label(),
            loaded: saved.is_some(),
        });
        let spec = run.job.spec.clone();
        let (stage, request) = match saved {
            Some(index) => (
                Stage::Load,
                Request::Load {
                    dir: index.draft.path().to_owned(),
                    spec,
                },
            ),
            None => (Stage::Build, Request::Build { spec }),
        };
        let limit = Duration::from_nanos(self.limits.build_ns);
        let share = self.steer.build_share().filter(|share| share.time < limit);
        let asked = Instant::now();
        let within = share.as_ref().map_or(limit, |share| share.time);
        let reply = worker.request(stage, &request, within, self.interrupted);
        let reply = match (reply, share) {
            (Err(RequestError::Ended(failure)), Some(share))
                if matches!(failure.cause, Cause::Timeout { .. }) =>
            {
                return Err(Broken::Build(Outcome::Skipped {
                    cause: SkipCause::Budget,
                    because: share.because,
                }));
            }
            (reply, _) => reply?,
        };
        match reply {
            Reply::Built(report) => match check_build(&report, &given.base, asked.elapsed()) {
                Ok(()) => Ok(*report),
                Err(lie) => Err(Broken::Build(contradiction(stage, &lie, worker))),
            },
            other => Err(unexpected(stage, other, worker)),
        }
    }

    /// Saves the index aside, in case a search ends the worker. Where that does not work, the reason:
    /// after a crash the index is then built again.
    fn save(&mut self, worker: &mut Worker) -> Result<Result<SavedIndex, String>, RequestError> {
        let draft = match self.store.begin_raw() {
            Ok(draft) => draft,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let dir = draft.path().to_owned();
        let limit = Duration::from_nanos(self.limits.build_ns);
        let reply = worker.request(Stage::Save, &Request::Save { dir }, limit, self.interrupted)?;
        Ok(match reply {
            Reply::Saved { .. } => Ok(SavedIndex { draft }),
            Reply::Failed(fault) => Err(fault.message),
            other => Err(format!(
                "expected saved, found the reply `{}`",
                other.name()
            )),
        })
    }
}

/// What is known about a job from one worker to the next.
pub(crate) struct JobState {
    /// The adapter has judged the points.
    pub(crate) checked: bool,
    /// Saving has not ended a worker.
    pub(crate) may_save: bool,
    pub(crate) saved: Option<SavedIndex>,
}

/// An index on disk in case of a crash; removed when dropped.
pub(crate) struct SavedIndex {
    draft: RawDraft,
}

/// Why an attempt ended before its points were done.
pub(crate) enum Broken {
    /// The build (or what comes before it) did not succeed.
    Build(Outcome),
    /// The run cannot go on.
    Run(RunError),
}

impl From<RequestError> for Broken {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Ended(failure) => Broken::Build(Outcome::Failed(failure)),
            RequestError::Interrupted => Broken::Run(RunError::Interrupted),
        }
    }
}

impl From<RunError> for Broken {
    fn from(error: RunError) -> Self {
        Broken::Run(error)
    }
}

/// A reply of another kind than the request asks for, or the failure that the worker reports instead.
pub(crate) fn unexpected(stage: Stage, reply: Reply, worker: &Worker) -> Broken {
    Broken::Build(match reply {
        Reply::Failed(fault) => outcome_of(stage, fault, worker),
        other => misplaced(stage, &other, worker),
    })
}

/// A reply of another kind than the request asks for.
pub(crate) fn misplaced(stage: Stage, reply: &Reply, worker: &Worker) -> Outcome {
    Outcome::Failed(Failure {
        stage,
        cause: Cause::Protocol,
        message: format!(
            "expected the reply to a request to {stage}, found the reply `{}`; mend the adapter",
            reply.name()
        ),
        stderr_tail: worker.stderr_tail(),
    })
}

fn stray_reply(worker: &Worker) -> Broken {
    Broken::Build(Outcome::Failed(Failure {
        stage: Stage::Build,
        cause: Cause::Protocol,
        message: "expected one reply to a request, found more; mend the adapter".to_owned(),
        stderr_tail: worker.stderr_tail(),
    }))
}
