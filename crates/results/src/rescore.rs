//! Scores again from stored ids and times.

use crate::aggregate::ScoringSet;
use crate::measured::{MeasuredError, score_measured};
use crate::raw::within;
use crate::store::latest_searches;
use crate::{Cause, DatasetInfo, Failure, Outcome, Record, SearchRecord, TruthInfo};
use annbench_core::wire::Stage;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// A dataset as scoring needs it, with the facts by which it is recognised.
#[derive(Clone, Debug)]
pub struct RescoreSubject<'d> {
    /// The dataset's facts.
    pub info: DatasetInfo,
    /// The truth in `scoring`.
    pub truth: TruthInfo,
    /// Base, queries and truth.
    pub scoring: ScoringSet<'d>,
}

/// The outcome of scoring a run again.
#[derive(Debug)]
pub struct Rescored {
    /// All records in their order, those of measured points with new figures.
    pub records: Vec<Record>,
    /// Points that were scored again.
    pub points: usize,
    /// Of these, the ids of those whose outcome, quality, speed or truth became another.
    pub changed: Vec<String>,
    /// How many of the others an earlier version had scored, which have figures now that it did not know.
    pub gained: usize,
    /// Points that could not be scored again, with the reason. Their records are as they were.
    pub unscored: Vec<(String, RescoreError)>,
}

/// Why a point could not be scored again. Its record is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RescoreError {
    /// Its raw files give no scores.
    #[error("{0}; {next}", next = .0.next_step())]
    Raw(MeasuredError),
    /// There is no such dataset to score it on; the same for all points of the dataset.
    #[error("{0}")]
    Dataset(Arc<NoDataset>),
}

/// Why the points of a dataset could not be scored again. The texts hold their causes, which therefore
/// are no `source()`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoDataset {
    /// The dataset could not be provided.
    #[error(
        "dataset {dataset}, which scoring needs, cannot be opened; provide what is missing and rescore again: {cause}"
    )]
    Unavailable {
        /// Its name.
        dataset: String,
        /// Why.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The dataset of that name is not the one that was measured.
    #[error(
        "dataset {dataset}: the records were measured on {field} {expected}, found {found}; provide the files they were measured on"
    )]
    OtherDataset {
        /// Its name.
        dataset: String,
        /// Which fact differs.
        field: &'static str,
        /// The records'.
        expected: String,
        /// The one provided.
        found: String,
    },
}

/// Recomputes quality from stored ids and speed from stored times for every measured point of a
/// run. Builds, memory and everything else are carried over, and so is a point whose raw files are
/// lost or not those that were measured, or whose dataset is not there. `resolve` is asked once for
/// each dataset, when its first point is met; the truth may be another than at measuring, base and
/// queries may not.
pub fn rescore<'d>(
    pool: &rayon::ThreadPool,
    run_dir: &Path,
    records: &[Record],
    mut resolve: impl FnMut(
        &DatasetInfo,
    ) -> Result<RescoreSubject<'d>, Box<dyn std::error::Error + Send + Sync>>,
) -> Rescored {
    type Known<'d> = (DatasetInfo, Result<RescoreSubject<'d>, Arc<NoDataset>>);
    let mut known: Vec<Known<'d>> = Vec::new();
    let mut rescored = Rescored {
        records: Vec::with_capacity(records.len()),
        points: 0,
        changed: Vec::new(),
        gained: 0,
        unscored: Vec::new(),
    };
    let latest: HashSet<*const SearchRecord> = latest_searches(records)
        .into_iter()
        .map(std::ptr::from_ref)
        .collect();
    for record in records {
        let search = match record {
            Record::Search(search) if search.measured.is_some() => search,
            other => {
                rescored.records.push(other.clone());
                continue;
            }
        };
        let place = match known.iter().position(|(info, _)| *info == search.dataset) {
            Some(place) => place,
            None => {
                let info = &search.dataset;
                let subject = resolve(info)
                    .map_err(|cause| NoDataset::Unavailable {
                        dataset: info.name.clone(),
                        cause,
                    })
                    .and_then(|subject| check_same(info, &subject.info).map(|()| subject));
                known.push((info.clone(), subject.map_err(Arc::new)));
                known.len() - 1
            }
        };
        let scored = match &known[place].1 {
            Ok(subject) => rescore_point(pool, run_dir, search, subject).map_err(RescoreError::Raw),
            Err(refusal) => Err(RescoreError::Dataset(Arc::clone(refusal))),
        };
        let new = match scored {
            Ok(new) => new,
            Err(cause) => {
                // Where a later record of the point counts, its raw files are the ones needed.
                if latest.contains(&std::ptr::from_ref(&**search)) {
                    rescored.unscored.push((search.point_id.clone(), cause));
                }
                rescored.records.push(record.clone());
                continue;
            }
        };
        rescored.points += 1;
        if new != **search {
            match new == with_gains_of(search, &new) {
                true => rescored.gained += 1,
                false => rescored.changed.push(new.point_id.clone()),
            }
        }
        rescored.records.push(Record::Search(Box::new(new)));
    }
    rescored
}

/// `before` with what `new` has and an earlier version did not know.
fn with_gains_of(before: &SearchRecord, new: &SearchRecord) -> SearchRecord {
    let mut with = before.clone();
    if before.other_metrics.is_none() {
        with.other_metrics.clone_from(&new.other_metrics);
    }
    if let (Some(truth), Some(new)) = (&mut with.truth, &new.truth)
        && truth.proved_queries.is_none()
    {
        truth.proved_queries = new.proved_queries;
    }
    if let (Some(strata), Some(new)) = (&mut with.strata, &new.strata) {
        for (bar, new) in strata.bars.iter_mut().zip(&new.bars) {
            if bar.strata.is_none() {
                bar.strata.clone_from(&new.strata);
            }
        }
    }
    with
}

fn rescore_point(
    pool: &rayon::ThreadPool,
    run_dir: &Path,
    search: &SearchRecord,
    subject: &RescoreSubject<'_>,
) -> Result<SearchRecord, MeasuredError> {
    let mut new = search.clone();
    let Some(measured) = &search.measured else {
        return Ok(new);
    };
    let scores = within(run_dir, &measured.raw_dir).and_then(|raw_dir| {
        score_measured(
            pool,
            &subject.scoring,
            search.identity.k as usize,
            &raw_dir,
            &measured.report.repetitions,
        )
    })?;
    new.outcome = outcome_after(&search.outcome, scores.invalid_answer);
    new.truth = Some(subject.truth.clone());
    new.quality = Some(scores.quality);
    new.strata = scores.strata;
    new.other_metrics = Some(scores.other_metrics);
    new.other_quality = scores.other_quality;
    new.speed = Some(scores.speed);
    Ok(new)
}

/// Only whether an answer is valid is judged again.
fn outcome_after(before: &Outcome, invalid_answer: Option<String>) -> Outcome {
    let stderr_tail = match before {
        Outcome::Ok => String::new(),
        Outcome::Failed(failure) if failure.cause == Cause::InvalidAnswer => {
            failure.stderr_tail.clone()
        }
        other => return other.clone(),
    };
    match invalid_answer {
        None => Outcome::Ok,
        Some(message) => Outcome::Failed(Failure {
            stage: Stage::Search,
            cause: Cause::InvalidAnswer,
            message,
            stderr_tail,
        }),
    }
}

/// By contents and shape; the name is for people.
fn check_same(measured: &DatasetInfo, provided: &DatasetInfo) -> Result<(), NoDataset> {
    let facts = |info: &DatasetInfo| {
        [
            ("a base with fingerprint", info.base_fingerprint.clone()),
            ("queries with fingerprint", info.queries_fingerprint.clone()),
            ("the metric", info.metric.to_string()),
            ("the element type", info.element.to_string()),
            ("base rows:", info.n.to_string()),
            ("queries:", info.queries.to_string()),
            ("dim", info.dim.to_string()),
        ]
    };
    for ((field, expected), (_, found)) in facts(measured).into_iter().zip(facts(provided)) {
        if expected != found {
            return Err(NoDataset::OtherDataset {
                dataset: measured.name.clone(),
                field,
                expected,
                found,
            });
        }
    }
    Ok(())
}
