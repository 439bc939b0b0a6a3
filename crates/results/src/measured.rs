//! Raw files of a measured point to its scores.

use crate::aggregate::{Answers, ScoreError, Scored, ScoringSet, score_answers};
use crate::raw::{read_answers, read_latencies};
use crate::speed::{RepetitionTimes, SpeedError, try_speed};
use crate::{OtherMetrics, Quality, Speed, StrataQuality};
use annbench_core::EMPTY_SLOT;
use annbench_core::npy::NpyError;
use annbench_core::wire::Repetition;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Everything that is derived from a point's raw files.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredScores {
    /// Scores of the first repetition.
    pub quality: Quality,
    /// The same by strata, where there are any.
    pub strata: Option<StrataQuality>,
    /// Metrics of the first repetition that are not recall@k.
    pub other_metrics: OtherMetrics,
    /// Scores of later repetitions whose answers differ from the first, by number from 0.
    pub other_quality: BTreeMap<u64, Quality>,
    /// Figures from all repetitions' times.
    pub speed: Speed,
    /// What to say when a repetition holds ids that no base row has: the point has failed.
    pub invalid_answer: Option<String>,
}

/// Why raw files could not be scored; [`MeasuredError::next_step`] says what to do. The texts hold their causes, which therefore are no `source()`:
/// printing the chain says everything once.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasuredError {
    /// A raw file is missing or broken.
    #[error("{0}")]
    Raw(NpyError),
    /// A raw file is not one that can be read.
    #[error("{0}")]
    File(String),
    /// A raw file does not belong to these queries.
    #[error(
        "{}: expected shape {expected:?}, found {found:?}",
        path.display()
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// What these queries and this k ask for.
        expected: Vec<usize>,
        /// The file's shape.
        found: Vec<usize>,
    },
    /// Answers or latencies are not those whose hash the record holds.
    #[error(
        "{}: expected the {what} that were measured, of hash {expected}, found others, of hash {found}",
        path.display()
    )]
    Other {
        /// answers or latencies.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The record's hash.
        expected: String,
        /// The file's hash.
        found: String,
    },
    /// A file name in a record leads out of its folder.
    #[error("raw file {name:?}: expected a name within the run directory, found a path out of it")]
    Name {
        /// The name.
        name: String,
    },
    /// A repetition has no answers.
    #[error(
        "repetition {number}: expected a file of ids and one of returned counts, or neither and the \
         answers' hash of the first"
    )]
    NoAnswers {
        /// Its number, from 0.
        number: usize,
    },
    /// The answers do not fit the dataset.
    #[error("repetition {repetition}: {cause}")]
    Score {
        /// Its number, from 0.
        repetition: usize,
        /// Why.
        cause: ScoreError,
    },
    /// The times give no figures.
    #[error(transparent)]
    Speed(#[from] SpeedError),
}

impl MeasuredError {
    /// What to do about a point that was measured at some earlier time.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Raw(_) | Self::File(_) | Self::Shape { .. } | Self::Other { .. } => {
                "restore the raw file from a copy, or measure the point again with --retry lost"
            }
            Self::Name { .. } => "do not trust this record: somebody has edited it",
            Self::NoAnswers { .. } | Self::Speed(_) => {
                "restore the record from a copy, or measure the point again in another run directory"
            }
            Self::Score { .. } => {
                "provide the dataset that was measured, with a truth that fits it"
            }
        }
    }
}

/// Scores the raw files in `raw_dir` that `repetitions` name. Used when a point has just been
/// measured and when it is scored again, so that both give the same.
///
/// Ids u32 `[queries, k]` and returned counts u32 `[queries]` must have the hash that was taken of
/// them; those of a repetition without files are the first's. Latencies u64 `[passes, queries]` are absent in batch mode.
///
/// # Errors
/// [`MeasuredError`] naming the file.
pub fn score_measured(
    pool: &rayon::ThreadPool,
    set: &ScoringSet<'_>,
    k: usize,
    raw_dir: &Path,
    repetitions: &[Repetition],
) -> Result<MeasuredScores, MeasuredError> {
    let queries = set.queries.n();
    let Some(first) = repetitions.first() else {
        return Err(MeasuredError::NoAnswers { number: 0 });
    };
    let shape = [queries, k];
    let mut first_answers = None;
    let mut of_first = None;
    let mut qualities = BTreeMap::new();
    let mut invalid_answer = None;
    for (number, repetition) in repetitions.iter().enumerate() {
        let own = read_answers(raw_dir, number, repetition, first, shape)?;
        let differs = own.is_some() || repetition.invalid_count != first.invalid_count;
        if number > 0 && !differs {
            continue;
        }
        let (ids, returned) = match &own {
            Some(own) => own,
            None => first_answers
                .as_ref()
                .ok_or(MeasuredError::NoAnswers { number })?,
        };
        let answers = Answers {
            k,
            ids,
            returned,
            invalid_count: repetition.invalid_count,
        };
        let Scored {
            quality,
            strata,
            other_metrics,
            ..
        } = score_answers(pool, set, &answers).map_err(|cause| MeasuredError::Score {
            repetition: number,
            cause,
        })?;
        if quality.invalid > 0 && invalid_answer.is_none() {
            invalid_answer = Some(describe_invalid(
                number, repetition, &answers, &quality, set,
            ));
        }
        qualities.insert(number as u64, quality);
        if number == 0 {
            of_first = Some((strata, other_metrics));
            first_answers = own;
        }
    }
    // The first repetition is never passed over.
    let (Some(quality), Some((strata, other_metrics))) = (qualities.remove(&0), of_first) else {
        return Err(MeasuredError::NoAnswers { number: 0 });
    };
    let times = repetitions.iter().map(|repetition| {
        let latency_ns = read_latencies(raw_dir, repetition, queries)?;
        Ok::<_, MeasuredError>(RepetitionTimes {
            passes: repetition.passes,
            wall_ns: repetition.wall_ns,
            latency_ns,
        })
    });
    Ok(MeasuredScores {
        quality,
        strata,
        other_metrics,
        other_quality: qualities,
        speed: try_speed(times, queries as u64)?,
        invalid_answer,
    })
}

fn describe_invalid(
    number: usize,
    repetition: &Repetition,
    answers: &Answers<'_>,
    quality: &Quality,
    set: &ScoringSet<'_>,
) -> String {
    let n = set.base.n();
    let stored = answers
        .ids
        .iter()
        .position(|&id| id != EMPTY_SLOT && id as usize >= n)
        .map(|slot| {
            let (query, position) = (slot / answers.k, slot % answers.k);
            format!("query {query}, position {position}: {}", answers.ids[slot])
        });
    let example = stored.or_else(|| {
        repetition
            .invalid
            .first()
            .map(|i| format!("query {}, position {}: {}", i.query, i.position, i.value))
    });
    format!(
        "repetition {number}: {} of the ids returned are of no base row, expected 0 to {}; first: {}",
        quality.invalid,
        n.saturating_sub(1),
        example.unwrap_or_else(|| "not kept".to_owned())
    )
}
