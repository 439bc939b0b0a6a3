//! From a worker's report to scores: raw files read back, answers judged, times reduced.

use annbench_core::npy::{self, NpyError};
use annbench_core::wire::Repetition;
use annbench_results::{
    Answers, Quality, RepetitionTimes, ScoreError, ScoringSet, Speed, SpeedError, score_answers,
    speed,
};
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

/// What a measured point amounts to.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredScores {
    pub quality: Quality,
    pub other_quality: BTreeMap<u64, Quality>,
    pub speed: Speed,
    /// Set when an answer held ids that no base row has.
    pub invalid_answer: Option<String>,
}

/// Why a measured point could not be scored.
#[derive(Debug, Error)]
pub enum RescoreError {
    #[error("raw results: {0}")]
    Raw(#[from] NpyError),
    #[error("scoring: {0}")]
    Score(#[from] ScoreError),
    #[error("times: {0}")]
    Speed(#[from] SpeedError),
    #[error("the report names no {what} for repetition {repetition}")]
    Unnamed {
        what: &'static str,
        repetition: usize,
    },
}

pub fn score_measured(
    pool: &rayon::ThreadPool,
    set: &ScoringSet<'_>,
    k: usize,
    raw_dir: &Path,
    repetitions: &[Repetition],
) -> Result<MeasuredScores, RescoreError> {
    let mut first = None;
    let mut other_quality = BTreeMap::new();
    let mut times = Vec::new();
    let mut invalid_answer = None;
    for (number, repetition) in repetitions.iter().enumerate() {
        if let (Some(ids), Some(returned)) = (&repetition.ids_file, &repetition.returned_file) {
            let (_, ids) = npy::read::<u32>(&raw_dir.join(ids))?;
            let (_, returned) = npy::read::<u32>(&raw_dir.join(returned))?;
            let answers = Answers {
                k,
                ids: &ids,
                returned: &returned,
                invalid_count: repetition.invalid_count,
            };
            let scored = score_answers(pool, set, &answers)?;
            if scored.quality.invalid > 0 {
                invalid_answer.get_or_insert(format!(
                    "repetition {number}: {} answers are ids that no base row has",
                    scored.quality.invalid
                ));
            }
            if number == 0 {
                first = Some(scored.quality);
            } else {
                other_quality.insert(number as u64, scored.quality);
            }
        }
        let latency_ns = match &repetition.latency_file {
            Some(name) => Some(npy::read::<u64>(&raw_dir.join(name))?.1),
            None => None,
        };
        times.push(RepetitionTimes {
            passes: repetition.passes,
            wall_ns: repetition.wall_ns,
            latency_ns,
        });
    }
    Ok(MeasuredScores {
        quality: first.ok_or(RescoreError::Unnamed {
            what: "ids",
            repetition: 0,
        })?,
        other_quality,
        speed: speed(times, set.queries.n() as u64)?,
        invalid_answer,
    })
}
