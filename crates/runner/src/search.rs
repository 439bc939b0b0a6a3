//! One point: asked, checked against the clock and its files, scored, recorded.

use crate::attempt::{Broken, misplaced};
use crate::event::Event;
use crate::job::Bench;
use crate::job_run::JobRun;
use crate::outcome::{contradiction, outcome_of};
use crate::planned::PlannedPoint;
use crate::plausible::check_report;
use crate::run_error::RunError;
use crate::worker::{RequestError, Worker};
use annbench_core::wire::{FaultKind, Reply, Request, SearchReport, SearchRequest, Stage};
use annbench_results::{
    Cause, Failure, Measured, MeasuredScores, Outcome, RawDraft, check_latencies, score_measured,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

impl Bench<'_> {
    /// Measures one point. Returns whether the worker can go on.
    pub(crate) fn search(
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
        let search = SearchRequest {
            spec: point.spec.clone(),
            repetitions: self.measure.repetitions,
            min_pass_ns: self.measure.min_pass_ns,
            warm_up_ns: self.measure.warm_up_ns,
            output_dir: draft.path().to_owned(),
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
                    let outcome = contradiction(Stage::Search, &lie, worker);
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
                let outcome = misplaced(Stage::Search, &other, worker);
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
            strata,
            other_metrics,
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
                let outcome = contradiction(Stage::Search, &lie, worker);
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
        record.quality = Some(quality);
        record.strata = strata;
        record.other_metrics = Some(other_metrics);
        record.other_quality = other_quality;
        record.speed = Some(speed);
        self.append_point(point, record)?;
        Ok(true)
    }
}
