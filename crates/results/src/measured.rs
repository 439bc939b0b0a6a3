//! Raw files of a measured point to its scores.

use crate::aggregate::{Answers, ScoreError, Scored, ScoringSet, score_answers};
use crate::speed::{RepetitionTimes, SpeedError, try_speed};
use crate::{Quality, Speed};
use annbench_core::EMPTY_SLOT;
use annbench_core::npy::{self, NpyElement, NpyError};
use annbench_core::wire::Repetition;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// Everything that is derived from a point's raw files.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredScores {
    /// Scores of the first repetition.
    pub quality: Quality,
    /// Scores of later repetitions whose answers differ from the first, by number from 0.
    pub other_quality: BTreeMap<u64, Quality>,
    /// Figures from all repetitions' times.
    pub speed: Speed,
    /// What to say when a repetition holds ids that no base row has: the point has failed.
    pub invalid_answer: Option<String>,
}

/// Why raw files could not be scored. The texts hold their causes, which therefore are no `source()`:
/// printing the chain says everything once.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasuredError {
    /// A raw file is missing or broken.
    #[error("{0}; restore the raw file from a copy, or measure the point again with --retry lost")]
    Raw(NpyError),
    /// A raw file does not belong to these queries.
    #[error(
        "{}: expected shape {expected:?}, found {found:?}; restore the raw file from a copy, or measure the point again with --retry lost",
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
    /// Answers are not those whose hash the record holds.
    #[error(
        "{}: expected the answers that were measured, of hash {expected}, found others, of hash \
         {found}; restore the raw file from a copy, or measure the point again with --retry lost",
        path.display()
    )]
    OtherAnswers {
        /// The file of ids.
        path: PathBuf,
        /// The record's hash.
        expected: String,
        /// The files' hash.
        found: String,
    },
    /// A file name in a record leads out of its folder.
    #[error(
        "raw file {name:?}: expected a name within the run directory, found a path out of it; do not trust this record"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The first repetition has no answers.
    #[error(
        "the first of {repetitions} repetitions names no file of {what}; measure the point again in \
         another run directory"
    )]
    NoAnswers {
        /// Repetitions there are.
        repetitions: usize,
        /// ids or returned counts.
        what: &'static str,
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

/// Scores the raw files in `raw_dir` that `repetitions` name. Used when a point has just been
/// measured and when it is scored again, so that both give the same.
///
/// Ids u32 `[queries, k]` and returned counts u32 `[queries]` of a repetition without files are
/// those of the first; latencies u64 `[passes, queries]` are absent in batch mode.
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
    let first = repetitions.first();
    let missing = |what| MeasuredError::NoAnswers {
        repetitions: repetitions.len(),
        what,
    };
    let first_ids = first.and_then(|r| r.ids_file.as_deref());
    let first_ids = read(
        raw_dir,
        first_ids.ok_or_else(|| missing("ids"))?,
        &[queries, k],
    )?;
    let first_returned = first.and_then(|r| r.returned_file.as_deref());
    let first_returned = read(
        raw_dir,
        first_returned.ok_or_else(|| missing("returned counts"))?,
        &[queries],
    )?;
    let first_invalid = first.map_or(0, |r| r.invalid_count);

    let mut qualities = BTreeMap::new();
    let mut invalid_answer = None;
    for (number, repetition) in repetitions.iter().enumerate() {
        let differs = repetition.ids_file.is_some()
            || repetition.returned_file.is_some()
            || repetition.invalid_count != first_invalid;
        if number > 0 && !differs {
            continue;
        }
        let own_ids: Option<Vec<u32>> = match &repetition.ids_file {
            Some(file) if number > 0 => Some(read(raw_dir, file, &[queries, k])?),
            _ => None,
        };
        let own_returned: Option<Vec<u32>> = match &repetition.returned_file {
            Some(file) if number > 0 => Some(read(raw_dir, file, &[queries])?),
            _ => None,
        };
        let answers = Answers {
            k,
            ids: own_ids.as_ref().unwrap_or(&first_ids),
            returned: own_returned.as_ref().unwrap_or(&first_returned),
            invalid_count: repetition.invalid_count,
        };
        let Scored { quality, .. } =
            score_answers(pool, set, &answers).map_err(|cause| MeasuredError::Score {
                repetition: number,
                cause,
            })?;
        if quality.invalid > 0 && invalid_answer.is_none() {
            invalid_answer = Some(describe_invalid(
                number, repetition, &answers, &quality, set,
            ));
        }
        qualities.insert(number as u64, quality);
    }
    // The first repetition is never passed over, and a point without one was refused above.
    let quality = qualities.remove(&0).ok_or_else(|| missing("ids"))?;
    let times = repetitions.iter().map(|repetition| {
        let latency_ns = match &repetition.latency_file {
            Some(file) => Some(read(raw_dir, file, &[repetition.passes as usize, queries])?),
            None => None,
        };
        Ok::<_, MeasuredError>(RepetitionTimes {
            passes: repetition.passes,
            wall_ns: repetition.wall_ns,
            latency_ns,
        })
    });
    Ok(MeasuredScores {
        quality,
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

pub(crate) fn read<T: NpyElement>(
    dir: &Path,
    name: &str,
    expected: &[usize],
) -> Result<Vec<T>, MeasuredError> {
    let path = within(dir, name)?;
    let (found, values) = npy::read(&path).map_err(MeasuredError::Raw)?;
    if found != expected {
        return Err(MeasuredError::Shape {
            path,
            expected: expected.to_vec(),
            found,
        });
    }
    Ok(values)
}

/// `dir/name`, unless it would lead elsewhere: records may come from anyone.
pub(crate) fn within(dir: &Path, name: &str) -> Result<PathBuf, MeasuredError> {
    let plain = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if plain && !name.is_empty() {
        Ok(dir.join(name))
    } else {
        Err(MeasuredError::Name {
            name: name.to_owned(),
        })
    }
}
