//! What stays the same through all attempts of a job, and the records that come of it.

use crate::installed::Installed;
use crate::planned::{PlannedJob, PlannedPoint};
use crate::run_error::RunError;
use crate::subject::Subject;
use crate::unchanged::FileState;
use annbench_results::{BuildRecord, Outcome, SearchRecord};
use std::collections::BTreeMap;
use std::time::Duration;

/// What stays the same through all attempts of a job.
pub(crate) struct JobRun<'j, 'd> {
    pub(crate) job: &'j PlannedJob,
    pub(crate) installed: &'j Installed,
    pub(crate) subject: &'j Subject<'d>,
    /// The executable, when it was the one that the job was planned with.
    pub(crate) executable: Option<FileState>,
}

impl JobRun<'_, '_> {
    /// Whether the dataset's files and the executable are still those that were looked at.
    pub(crate) fn check_unchanged(&self) -> Result<(), RunError> {
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

    /// The job and its dataset, for people.
    pub(crate) fn label(&self) -> String {
        format!("{} on {}", self.job.label(), self.subject.facts.info.name)
    }

    pub(crate) fn build_record(
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
            saved: None,
            sampled_peak_bytes: None,
            attempt_wall_ns: wall.as_nanos() as u64,
        }
    }

    pub(crate) fn search_record(
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
            strata: None,
            other_metrics: None,
            other_quality: BTreeMap::new(),
            speed: None,
            accepted_checksums: self.subject.facts.accepted_checksums.clone(),
            narrowed: self.subject.facts.narrowed.clone(),
            accepted_violations: self.subject.facts.accepted_violations.clone(),
        }
    }
}
