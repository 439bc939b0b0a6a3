//! One job: one build and all its searches, in one worker process as long as that lives.

use crate::attempt::{Broken, JobState};
use crate::event::Event;
use crate::installed::Installed;
use crate::job_run::JobRun;
use crate::outcome::describe;
use crate::planned::{PlannedJob, PlannedPoint};
use crate::run_error::RunError;
use crate::steer::{Next, Steer};
use crate::subject::Subject;
use crate::unchanged::FileState;
use annbench_config::{Limits, Measure};
use annbench_results::{BuildRecord, Outcome, Record, SearchRecord, SkipCause, Store};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

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
    /// Decides which points are measured.
    pub steer: &'a mut dyn Steer,
    /// Told what goes on.
    pub observe: &'a mut dyn FnMut(Event),
    /// Set when the user asks to stop.
    pub interrupted: &'a AtomicBool,
}

impl Bench<'_> {
    /// Runs `points` of `job` in their order and appends a record for each, and one for every build
    /// attempt. Returns the points that `steer` left, which have no record.
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
    ) -> Result<Vec<&'p PlannedPoint>, RunError> {
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
        let mut left = Vec::new();
        let Ok(given) = &job.given else {
            return Ok(left);
        };
        self.skip_ahead(&run, &mut pending, &mut left)?;
        if pending.is_empty() {
            return Ok(left);
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
            match self.attempt(&run, given, &mut pending, &mut left, &mut state, &build_id) {
                Ok(()) => self.skip_ahead(&run, &mut pending, &mut left)?,
                Err(Broken::Run(error)) => return Err(error),
                Err(Broken::Build(outcome)) => {
                    let fate = fate_of_points(&outcome);
                    let (wall, loaded) = (attempt.elapsed(), state.saved.is_some());
                    let record = run.build_record(&self.run_id, &build_id, outcome, wall, loaded);
                    self.append_build(record)?;
                    if state.saved.take().is_some() {
                        // A saved index that does not load is worth one more build.
                        self.skip_ahead(&run, &mut pending, &mut left)?;
                        continue;
                    }
                    for point in pending.drain(..) {
                        let build = Some(build_id.clone());
                        match fate.clone() {
                            skipped @ Outcome::Skipped { .. } => {
                                self.skip(&run, point, build, skipped)?;
                            }
                            other => self.finish(&run, point, build, other)?,
                        }
                    }
                }
            }
        }
        Ok(left)
    }

    /// Takes the points away that nobody would measure, so that nothing is built for them.
    fn skip_ahead<'p>(
        &mut self,
        run: &JobRun<'_, '_>,
        pending: &mut VecDeque<&'p PlannedPoint>,
        left: &mut Vec<&'p PlannedPoint>,
    ) -> Result<(), RunError> {
        for _ in 0..pending.len() {
            let Some(point) = pending.pop_front() else {
                break;
            };
            match self.steer.next(point, self.store.records()) {
                Next::Measure => pending.push_back(point),
                Next::Skip { cause, because } => {
                    self.skip(run, point, None, Outcome::Skipped { cause, because })?;
                }
                Next::Leave => left.push(point),
            }
        }
        Ok(())
    }

    /// A point that is not attempted gets its record, unless it has one that says more: that it was
    /// measured or failed when it was attempted, or that its build failed.
    pub(crate) fn skip(
        &mut self,
        run: &JobRun<'_, '_>,
        point: &PlannedPoint,
        build_id: Option<String>,
        outcome: Outcome,
    ) -> Result<(), RunError> {
        let known = latest_outcome(self.store.records(), point);
        let says_more = known.is_some_and(|known| match known {
            Outcome::Ok | Outcome::Failed(_) => true,
            // A failed build is news to a point that was skipped for want of time, not the reverse.
            Outcome::Skipped { cause, .. } => {
                *cause == SkipCause::Build && outcome.skip_cause() != Some(SkipCause::Build)
            }
            Outcome::Rejected { .. } => false,
        });
        if says_more || known == Some(&outcome) {
            (self.observe)(Event::PointDone {
                point: point.label(),
                outcome,
                recall: None,
                qps: None,
            });
            return Ok(());
        }
        self.finish(run, point, build_id, outcome)
    }

    /// A point that was not measured gets its record.
    pub(crate) fn finish(
        &mut self,
        run: &JobRun<'_, '_>,
        point: &PlannedPoint,
        build_id: Option<String>,
        outcome: Outcome,
    ) -> Result<(), RunError> {
        let record = run.search_record(&self.run_id, point, build_id, outcome);
        self.append_point(point, record)
    }

    pub(crate) fn append_point(
        &mut self,
        point: &PlannedPoint,
        record: SearchRecord,
    ) -> Result<(), RunError> {
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
    pub(crate) fn append_build(&mut self, record: BuildRecord) -> Result<(), RunError> {
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

/// What becomes of the points of a build that did not succeed.
fn fate_of_points(build: &Outcome) -> Outcome {
    match build {
        // There was no time for it, or the library refuses it, and so all of them.
        Outcome::Skipped { .. } | Outcome::Rejected { .. } => build.clone(),
        outcome => Outcome::Skipped {
            cause: SkipCause::Build,
            because: format!("the build did not succeed: {}", describe(outcome)),
        },
    }
}

fn latest_outcome<'r>(records: &'r [Record], point: &PlannedPoint) -> Option<&'r Outcome> {
    records.iter().rev().find_map(|record| match record {
        Record::Search(search) if search.point_id == point.point_id => Some(&search.outcome),
        _ => None,
    })
}
