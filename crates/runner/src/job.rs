//! One job: one build and all its searches, in one worker process as long as that lives.

use crate::environment::thread_variables;
use crate::event::Event;
use crate::installed::Installed;
use crate::outcome::{contradiction, describe, outcome_of};
use crate::planned::{PlannedJob, PlannedPoint};
use crate::plausible::{check_latencies, check_report};
use crate::subject::{GivenVectors, Subject};
use crate::unchanged::FileState;
use crate::worker::{RequestError, Worker, WorkerSettings};
use annbench_config::{Limits, Measure};
use annbench_core::wire::{
    BuildReport, FaultKind, Reply, Request, SearchReport, SearchRequest, Stage, Verdict,
};
use annbench_results::{
    BuildRecord, Cause, Failure, Measured, MeasuredScores, Outcome, RawDraft, Record, SearchRecord,
    Store, StoreError, score_measured,
};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Longest time to map and copy the vectors.
const OPEN_LIMIT: Duration = Duration::from_secs(3600);
/// A build shorter than this is repeated after a crash instead of being saved ahead of one.
const WORTH_SAVING_NS: u64 = 2_000_000_000;

/// Why a run stops. What was measured before is in the store.
#[derive(Debug, Error)]
pub enum RunError {
    /// The user asked to stop.
    #[error("interrupted; the same command goes on from here")]
    Interrupted,
    /// Records cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A worker could not write its raw files.
    #[error("{0}")]
    Raw(String),
    /// A file that the results depend on is not what it was when the run began.
    #[error(
        "{path}: it was changed during the run, and what is measured now would pass for what was \
         checked then; run the same command again: it begins by looking at everything anew"
    )]
    Changed {
        /// The dataset's file or the adapter's executable.
        path: PathBuf,
    },
    /// The run directory's path cannot be made absolute.
    #[error("{path}: {cause}; run from a folder that exists")]
    Path {
        /// The directory.
        path: PathBuf,
        /// The cause.
        cause: std::io::Error,
    },
}

/// Everything that the jobs of a run share.
pub struct Bench<'a> {
    /// Name of the invocation.
    pub run_id: String,
    /// How points are measured.
    pub measure: &'a Measure,
    /// What a worker may take.
    pub limits: &'a Limits,
    /// CPUs in order of preference.
    pub cpus: Vec<usize>,
    /// Threads for scoring.
    pub pool: &'a rayon::ThreadPool,
    /// Where records go.
    pub store: &'a mut Store,
    /// Told what goes on.
    pub observe: &'a mut dyn FnMut(Event),
    /// Set when the user asks to stop.
    pub interrupted: &'a AtomicBool,
}

impl Bench<'_> {
    /// Runs `points` of `job` and appends a record for each, and one for every build attempt.
    ///
    /// A point that ends its worker is recorded, and the rest continues in a new process. Call it
    /// from a long-lived thread: workers are tied to the life of the thread that starts them.
    ///
    /// # Errors
    /// [`RunError`]; a failing library is not an error but a record.
    pub fn run_job<'p>(
        &mut self,
        job: &PlannedJob,
        points: impl IntoIterator<Item = &'p PlannedPoint>,
        installed: &Installed,
        subject: &Subject<'_>,
    ) -> Result<(), RunError> {
        // Looked at before it is hashed, so that a change in between shows.
        let executable = FileState::of(&installed.path).ok().filter(|_| {
            installed.executable_sha256().ok().as_ref() == Some(&job.identity.executable_sha256)
        });
        let run = JobRun {
            job,
            installed,
            subject,
            executable,
        };
        let mut pending = VecDeque::new();
        for point in points {
            match (&point.refused, &job.given) {
                (Some(reason), _) | (None, Err(reason)) => {
                    let reason = reason.clone();
                    self.finish(&run, point, None, Outcome::Rejected { reason })?;
                }
                (None, Ok(_)) => pending.push_back(point),
            }
        }
        let Ok(given) = &job.given else {
            return Ok(());
        };
        if pending.is_empty() {
            return Ok(());
        }
        (self.observe)(Event::JobStarted {
            job: run.label(),
            points: pending.len(),
        });
        let mut state = JobState {
            checked: false,
            may_save: true,
            saved: None,
        };
        while !pending.is_empty() {
            let attempt = Instant::now();
            let build_id = self.new_build_id(job);
            match self.attempt(&run, given, &mut pending, &mut state, &build_id) {
                Ok(()) => {}
                Err(Broken::Run(error)) => return Err(error),
                Err(Broken::Build(outcome)) => {
                    let because = format!("the build did not succeed: {}", describe(&outcome));
                    let (wall, loaded) = (attempt.elapsed(), state.saved.is_some());
                    let record = run.build_record(&self.run_id, &build_id, outcome, wall, loaded);
                    self.append_build(record)?;
                    if state.saved.take().is_some() {
                        // A saved index that does not load is worth one more build.
                        continue;
                    }
                    for point in pending.drain(..) {
                        let because = because.clone();
                        let build = Some(build_id.clone());
                        self.finish(&run, point, build, Outcome::Skipped { because })?;
                    }
                }
            }
        }
        Ok(())
    }

    /// One worker: judge the points (the first time), build or load, search until done or dead.
    fn attempt(
        &mut self,
        run: &JobRun<'_, '_>,
        given: &GivenVectors,
        pending: &mut VecDeque<&PlannedPoint>,
        state: &mut JobState,
        build_id: &str,
    ) -> Result<(), Broken> {
        let start = Instant::now();
        let most_threads = pending.iter().map(|p| p.spec.threads).max().unwrap_or(1);
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
        let report = self.build(run, &mut worker, state.saved.as_ref())?;
        let build_wall_ns = report.wall_ns;

        let (wall, loaded) = (start.elapsed(), state.saved.is_some());
        let mut record = run.build_record(&self.run_id, build_id, Outcome::Ok, wall, loaded);
        record.report = Some(report);
        record.sampled_peak_bytes = worker.peak_bytes();
        self.append_build(record)?;
        let worth_saving =
            descriptor.saves && pending.len() > 1 && build_wall_ns >= WORTH_SAVING_NS;
        if worth_saving && state.may_save && state.saved.is_none() {
            match self.save(&mut worker) {
                Ok(index) => state.saved = index,
                Err(RequestError::Interrupted) => return Err(Broken::Run(RunError::Interrupted)),
                // It died while being saved: the points deserve another, unsaved.
                Err(RequestError::Ended(_)) => {
                    state.may_save = false;
                    return Ok(());
                }
            }
        }
        while let Some(point) = pending.pop_front() {
            if !self.search(run, &mut worker, point, build_id, &environment)? {
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
        match worker.request(stage, &request, limit, self.interrupted)? {
            Reply::Built(report) => Ok(*report),
            other => Err(unexpected(stage, other, worker)),
        }
    }

    /// Saves the index aside, in case a search ends the worker. `None` when that does not work:
    /// after a crash the index is then built again.
    fn save(&mut self, worker: &mut Worker) -> Result<Option<SavedIndex>, RequestError> {
        let Ok(draft) = self.store.begin_raw() else {
            return Ok(None);
        };
        let Ok(dir) = std::path::absolute(draft.path()) else {
            return Ok(None);
        };
        let limit = Duration::from_nanos(self.limits.build_ns);
        let reply = worker.request(Stage::Save, &Request::Save { dir }, limit, self.interrupted)?;
        Ok(matches!(reply, Reply::Saved { .. }).then_some(SavedIndex { draft }))
    }

    /// Measures one point. Returns whether the worker can go on.
    fn search(
        &mut self,
        run: &JobRun<'_, '_>,
        worker: &mut Worker,
        point: &PlannedPoint,
        build_id: &str,
        environment: &BTreeMap<String, String>,
    ) -> Result<bool, Broken> {
        (self.observe)(Event::Searching {
            point: point.label(),
        });
        let draft = self.store.begin_raw().map_err(RunError::from)?;
        let output_dir = std::path::absolute(draft.path()).map_err(|cause| RunError::Path {
            path: draft.path().to_owned(),
            cause,
        })?;
        let search = SearchRequest {
            spec: point.spec.clone(),
            repetitions: self.measure.repetitions,
            min_pass_ns: self.measure.min_pass_ns,
            warm_up_ns: self.measure.warm_up_ns,
            output_dir,
        };
        let request = Request::Search(search.clone());
        let start = Instant::now();
        let limit = Duration::from_nanos(self.limits.search_ns);
        let build = Some(build_id.to_owned());
        match worker.request(Stage::Search, &request, limit, self.interrupted) {
            Ok(Reply::Searched(report)) => {
                run.check_unchanged()?;
                let queries = run.subject.facts.info.queries;
                if let Err(lie) = check_report(&report, &search, queries, start.elapsed()) {
                    let outcome = contradiction(&lie, worker);
                    self.finish(run, point, build, outcome)?;
                    return Ok(false);
                }
                Ok(self.record_searched(
                    run,
                    point,
                    build_id,
                    *report,
                    environment,
                    draft,
                    worker,
                )?)
            }
            // The disk's fault is not the library's: the point stays unmeasured.
            Ok(Reply::Failed(fault)) if fault.kind == FaultKind::Io => {
                Err(Broken::Run(RunError::Raw(fault.message)))
            }
            Ok(Reply::Failed(fault)) => {
                let outcome = outcome_of(Stage::Search, fault, worker);
                self.finish(run, point, build, outcome)?;
                Ok(true)
            }
            Ok(other) => {
                let outcome = Outcome::Failed(Failure {
                    stage: Stage::Search,
                    cause: Cause::Protocol,
                    message: format!("expected a search report, found {}", other.name()),
                    stderr_tail: worker.stderr_tail(),
                });
                self.finish(run, point, build, outcome)?;
                Ok(false)
            }
            Err(RequestError::Ended(failure)) => {
                self.finish(run, point, build, Outcome::Failed(failure))?;
                Ok(false)
            }
            Err(RequestError::Interrupted) => Err(Broken::Run(RunError::Interrupted)),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is the record")]
    fn record_searched(
        &mut self,
        run: &JobRun<'_, '_>,
        point: &PlannedPoint,
        build_id: &str,
        report: SearchReport,
        environment: &BTreeMap<String, String>,
        draft: RawDraft,
        worker: &Worker,
    ) -> Result<bool, RunError> {
        let scored = score_measured(
            self.pool,
            &run.subject.scoring,
            point.spec.k,
            draft.path(),
            &report.repetitions,
        );
        // A worker that says it wrote what it did not write has failed, and what it says next cannot
        // be trusted: the run goes on in another.
        let MeasuredScores {
            quality,
            other_quality,
            speed,
            invalid_answer,
        } = match scored
            .map_err(|error| error.to_string())
            .and_then(|scores| {
                let queries = run.subject.facts.info.queries;
                check_latencies(&report, &scores.speed, point.spec.threads, queries)?;
                Ok(scores)
            }) {
            Ok(scores) => scores,
            Err(lie) => {
                let outcome = contradiction(&lie, worker);
                self.finish(run, point, Some(build_id.to_owned()), outcome)?;
                return Ok(false);
            }
        };
        let outcome = match invalid_answer {
            None => Outcome::Ok,
            Some(message) => Outcome::Failed(Failure {
                stage: Stage::Search,
                cause: Cause::InvalidAnswer,
                message,
                stderr_tail: worker.stderr_tail(),
            }),
        };
        let raw_dir = self.store.place_raw(draft, &point.point_id)?;
        let mut record = run.search_record(&self.run_id, point, Some(build_id.to_owned()), outcome);
        record.measured = Some(Measured {
            raw_dir,
            report,
            thread_env: environment.clone(),
        });
        record.truth = Some(run.subject.facts.truth.clone());
        record.quality = Some(quality);
        record.other_quality = other_quality;
        record.speed = Some(speed);
        self.append_point(point, record)?;
        Ok(true)
    }

    /// A point that was not measured gets its record.
    fn finish(
        &mut self,
        run: &JobRun<'_, '_>,
        point: &PlannedPoint,
        build_id: Option<String>,
        outcome: Outcome,
    ) -> Result<(), RunError> {
        let record = run.search_record(&self.run_id, point, build_id, outcome);
        self.append_point(point, record)
    }

    fn append_point(&mut self, point: &PlannedPoint, record: SearchRecord) -> Result<(), RunError> {
        let event = Event::PointDone {
            point: point.label(),
            outcome: record.outcome.clone(),
            recall: record.quality.as_ref().map(|q| q.recall_mean),
            qps: record.speed.as_ref().map(|s| s.qps_median),
        };
        self.store.append(&Record::Search(Box::new(record)))?;
        (self.observe)(event);
        Ok(())
    }

    /// Appends the record of a build attempt and tells of it.
    fn append_build(&mut self, record: BuildRecord) -> Result<(), RunError> {
        let event = Event::Built {
            outcome: record.outcome.clone(),
            wall_ns: record.report.as_ref().map(|report| report.wall_ns),
        };
        self.store.append(&Record::Build(Box::new(record)))?;
        (self.observe)(event);
        Ok(())
    }

    fn new_build_id(&self, job: &PlannedJob) -> String {
        let earlier = self
            .store
            .records()
            .iter()
            .filter(|record| matches!(record, Record::Build(b) if b.build_key == job.build_key))
            .count();
        format!("{}.{}", job.build_key, earlier + 1)
    }
}

/// What stays the same through all attempts of a job.
struct JobRun<'j, 'd> {
    job: &'j PlannedJob,
    installed: &'j Installed,
    subject: &'j Subject<'d>,
    /// The executable, when it was the one that the job was planned with.
    executable: Option<FileState>,
}

impl JobRun<'_, '_> {
    fn check_unchanged(&self) -> Result<(), RunError> {
        let files = &self.subject.facts.files;
        if let Some(changed) = files.iter().find(|file| !file.holds()) {
            return Err(RunError::Changed {
                path: changed.path().to_owned(),
            });
        }
        // Hashed once a job: hashing at every point would cost more than the harness may.
        match &self.executable {
            Some(executable) if executable.holds() => Ok(()),
            _ => Err(RunError::Changed {
                path: self.installed.path.clone(),
            }),
        }
    }
    fn label(&self) -> String {
        format!("{} on {}", self.job.label(), self.subject.facts.info.name)
    }

    fn build_record(
        &self,
        run_id: &str,
        build_id: &str,
        outcome: Outcome,
        wall: Duration,
        loaded: bool,
    ) -> BuildRecord {
        BuildRecord {
            run_id: run_id.to_owned(),
            build_id: build_id.to_owned(),
            build_key: self.job.build_key.clone(),
            identity: self.job.identity.clone(),
            dataset: self.subject.facts.info.clone(),
            group: self.job.group.clone(),
            outcome,
            loaded,
            report: None,
            sampled_peak_bytes: None,
            attempt_wall_ns: wall.as_nanos() as u64,
        }
    }

    fn search_record(
        &self,
        run_id: &str,
        point: &PlannedPoint,
        build_id: Option<String>,
        outcome: Outcome,
    ) -> SearchRecord {
        SearchRecord {
            run_id: run_id.to_owned(),
            point_id: point.point_id.clone(),
            identity: point.identity.clone(),
            build_id,
            dataset: self.subject.facts.info.clone(),
            library: self.job.library.clone(),
            group: point.group.clone(),
            outcome,
            measured: None,
            truth: Some(self.subject.facts.truth.clone()),
            quality: None,
            other_quality: BTreeMap::new(),
            speed: None,
            accepted_checksums: self.subject.facts.accepted_checksums.clone(),
        }
    }
}

/// What is known about a job from one worker to the next.
struct JobState {
    /// The adapter has judged the points.
    checked: bool,
    /// Saving has not ended a worker.
    may_save: bool,
    saved: Option<SavedIndex>,
}

/// An index on disk in case of a crash; removed when dropped.
struct SavedIndex {
    draft: RawDraft,
}

/// Why an attempt ended before its points were done.
enum Broken {
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

fn unexpected(stage: Stage, reply: Reply, worker: &Worker) -> Broken {
    Broken::Build(match reply {
        Reply::Failed(fault) => outcome_of(stage, fault, worker),
        other => Outcome::Failed(Failure {
            stage,
            cause: Cause::Protocol,
            message: format!("the reply `{}` does not fit the request", other.name()),
            stderr_tail: worker.stderr_tail(),
        }),
    })
}
