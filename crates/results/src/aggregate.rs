//! Quality of the answers to a whole query set.

use crate::Quality;
use crate::other_metrics::{
    OtherMetrics, OtherQuery, OtherScore, OtherScratch, Relevance, summarise_others,
};
use crate::score::{QueryScore, Scratch, TrueTopK, score_query};
use crate::strata::{Strata, StrataQuality, score_strata};
use annbench_core::{Metric, TieTolerance, Vectors, distance, norm};
use rayon::prelude::*;
use thiserror::Error;

/// What answers are scored against.
#[derive(Clone, Copy, Debug)]
pub struct ScoringSet<'a> {
    /// The metric of the truth.
    pub metric: Metric,
    /// Base vectors `[n, dim]` in the dataset's own element type.
    pub base: Vectors<'a>,
    /// Queries `[queries, dim]` in the same element type.
    pub queries: Vectors<'a>,
    /// True neighbours `[queries, truth_width]`, each row sorted by (distance, id).
    pub truth_ids: &'a [u32],
    /// Their distances, computed by [`annbench_core::distance`].
    pub truth_distances: &'a [f64],
    /// Columns of the truth.
    pub truth_width: usize,
    /// Largest |x| over the base; read for inner product only.
    pub max_base_norm: f64,
    /// Strata, for each k at most one; answers to another k have no figures by strata.
    pub strata: &'a [Strata],
    /// Judgements of relevance, where the set has any.
    pub relevance: Option<&'a Relevance>,
}

impl ScoringSet<'_> {
    /// Whether query `q` has a nearest neighbour at all: zero vectors under cosine have no direction, empty
    /// sets under jaccard share nothing.
    pub(crate) fn is_defined(&self, q: usize) -> bool {
        !self.metric.is_undefined_at_zero() || norm(self.queries.row(q)) > 0.0
    }
}

/// Raw answers to a query set.
#[derive(Clone, Copy, Debug)]
pub struct Answers<'a> {
    /// Neighbours asked for.
    pub k: usize,
    /// Slots `[queries, k]`.
    pub ids: &'a [u32],
    /// Entries that the library gave for each query, `[queries]`.
    pub returned: &'a [u32],
    /// Answers among the first k that were no ids at all; they are stored as empty slots.
    pub invalid_count: u64,
}

/// Scores of a query set.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Sums and figures.
    pub quality: Quality,
    /// Hits of each query, in query order; `None` for a query without a direction.
    pub hits: Vec<Option<u32>>,
    /// Figures by strata; `None` when there are no strata for this k.
    pub strata: Option<StrataQuality>,
    /// Metrics that are not recall@k.
    pub other_metrics: OtherMetrics,
}

/// Why answers could not be scored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScoreError {
    /// An array has another size than the query set and k ask for.
    #[error(
        "{what}: expected {expected}, found {found}; score these answers against the dataset they were measured on"
    )]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its size by rights.
        expected: String,
        /// Its size.
        found: String,
    },
    /// The truth has too few columns.
    #[error(
        "the truth has {width} neighbours per query, k = {k} needs {k}; compute a wider truth or ask for a smaller k"
    )]
    NarrowTruth {
        /// Its columns.
        width: usize,
        /// What is needed.
        k: usize,
    },
    /// A truth row is not sorted by distance.
    #[error(
        "truth row {query}: expected ascending distances, found others; sort it by recomputed distance and id"
    )]
    UnsortedTruth {
        /// The row.
        query: usize,
    },
    /// No query is left to take a mean over.
    #[error(
        "nothing to score: of {queries} queries {undefined} have no direction, and recall of an empty set is undefined; provide queries that are not zero"
    )]
    Empty {
        /// Queries in the set.
        queries: usize,
        /// Zero vectors under cosine.
        undefined: usize,
    },
}

/// Scores `answers` against `set`, in parallel on `pool`.
///
/// Distances are recomputed in the arithmetic of the truth, whatever the library reported. Zero
/// queries under cosine have no direction, empty sets under jaccard share nothing: they are left out of
/// every figure but `invalid` and `short`, and counted. When `quality.invalid` is above zero the point has failed with an invalid answer; the
/// scores are given all the same.
///
/// # Errors
/// [`ScoreError`] when the arrays do not fit one another or no query is left.
pub fn score_answers(
    pool: &rayon::ThreadPool,
    set: &ScoringSet<'_>,
    answers: &Answers<'_>,
) -> Result<Scored, ScoreError> {
    check_shapes(set, answers)?;
    let (k, n) = (answers.k, set.base.n());
    let tolerance = TieTolerance::new(
        set.metric,
        set.base.element(),
        set.base.dim(),
        set.max_base_norm,
    );
    // Rows are a few cache misses each: small enough pieces to balance, large enough to reuse
    // scratch memory.
    let scores: Result<Vec<Answered>, ScoreError> = pool.install(|| {
        (0..set.queries.n())
            .into_par_iter()
            .with_min_len(32)
            .map_init(
                <(Scratch, OtherScratch)>::default,
                |(scratch, others), q| {
                    let columns = q * set.truth_width..(q + 1) * set.truth_width;
                    let truth_ids = &set.truth_ids[columns.clone()];
                    let truth_distances = &set.truth_distances[columns];
                    let truth = TrueTopK::new(truth_ids, truth_distances, k)
                        .ok_or(ScoreError::UnsortedTruth { query: q })?;
                    let query = set.queries.row(q);
                    let query_norm = match set.metric {
                        Metric::L2 => 0.0,
                        _ => norm(query),
                    };
                    let defined = set.is_defined(q);
                    let slots = &answers.ids[q * k..(q + 1) * k];
                    let score = score_query(
                        scratch,
                        slots,
                        answers.returned[q],
                        truth,
                        n,
                        tolerance.at(truth.kth_distance(), query_norm),
                        |id| {
                            let distance = distance(set.metric, query, set.base.row(id as usize));
                            others.outside.push((id, distance));
                            distance
                        },
                    );
                    let other = OtherQuery {
                        metric: set.metric,
                        dim: set.base.dim(),
                        k,
                        slots: &slots[..k.min(answers.returned[q] as usize)],
                        truth_ids,
                        truth_distances,
                    };
                    let other = others.score(&other, |d| tolerance.at(d, query_norm));
                    Ok(Answered {
                        defined,
                        score,
                        other,
                    })
                },
            )
            .collect()
    });
    let scores = scores?;
    let mut scored = summarise(set.metric, k, &scores, answers.invalid_count)?;
    let strata = set.strata.iter().find(|strata| strata.k() == k);
    scored.strata = strata.map(|strata| score_strata(set, strata, answers, &scored.hits));
    scored.other_metrics.qrels = set.relevance.map(|relevance| {
        let defined: Vec<bool> = scores.iter().map(|answered| answered.defined).collect();
        relevance.score(answers, &defined)
    });
    Ok(scored)
}

/// One answer, scored.
struct Answered {
    /// Whether the query has a nearest neighbour at all.
    defined: bool,
    score: QueryScore,
    other: OtherScore,
}

fn check_shapes(set: &ScoringSet<'_>, answers: &Answers<'_>) -> Result<(), ScoreError> {
    let shape = |what, expected: String, found: String| {
        if expected == found {
            Ok(())
        } else {
            Err(ScoreError::Shape {
                what,
                expected,
                found,
            })
        }
    };
    let vectors = |v: &Vectors<'_>| format!("{} vectors of dim {}", v.element(), v.dim());
    let values = |n: Option<usize>| match n {
        Some(n) => format!("{n} values"),
        None => "fewer values".to_owned(),
    };
    let (queries, k) = (set.queries.n(), answers.k);
    shape("queries", vectors(&set.base), vectors(&set.queries))?;
    if k == 0 {
        return Err(ScoreError::Shape {
            what: "k",
            expected: "at least 1".to_owned(),
            found: "0".to_owned(),
        });
    }
    if set.truth_width < k {
        return Err(ScoreError::NarrowTruth {
            width: set.truth_width,
            k,
        });
    }
    let truth = values(queries.checked_mul(set.truth_width));
    shape(
        "truth ids",
        truth.clone(),
        values(Some(set.truth_ids.len())),
    )?;
    shape(
        "truth distances",
        truth,
        values(Some(set.truth_distances.len())),
    )?;
    shape(
        "answer ids",
        values(queries.checked_mul(k)),
        values(Some(answers.ids.len())),
    )?;
    shape(
        "returned counts",
        values(Some(queries)),
        values(Some(answers.returned.len())),
    )
}

/// Sums first, divisions last, so that equal answers give equal figures to the last bit.
fn summarise(
    metric: Metric,
    k: usize,
    scores: &[Answered],
    invalid_count: u64,
) -> Result<Scored, ScoreError> {
    let scored = || {
        scores
            .iter()
            .filter(|answered| answered.defined)
            .map(|answered| &answered.score)
    };
    let sum = |field: fn(&QueryScore) -> u32| scored().map(|s| u64::from(field(s))).sum::<u64>();
    let mut sorted: Vec<u32> = scored().map(|s| s.hits).collect();
    sorted.sort_unstable();
    let m = sorted.len();
    let (Some(&lowest), Some(&fifth)) =
        (sorted.first(), sorted.get(m.div_ceil(20).wrapping_sub(1)))
    else {
        return Err(ScoreError::Empty {
            queries: scores.len(),
            undefined: scores.len(),
        });
    };
    let perfect = m - sorted.partition_point(|&hits| (hits as usize) < k);
    let share = |hits: u32| f64::from(hits) / k as f64;
    let hits = sum(|s| s.hits);
    // Over all queries, as the count of answers that are no ids is.
    let empty: u64 = scores.iter().map(|a| u64::from(a.score.short)).sum();
    if invalid_count > empty {
        return Err(ScoreError::Shape {
            what: "answers that are no ids",
            expected: format!("at most the {empty} slots without an id"),
            found: invalid_count.to_string(),
        });
    }
    let foreign: u64 = scores.iter().map(|a| u64::from(a.score.invalid)).sum();
    let others: Vec<&OtherScore> = scores
        .iter()
        .filter(|answered| answered.defined)
        .map(|answered| &answered.other)
        .collect();
    Ok(Scored {
        quality: Quality {
            k: k as u64,
            scored_queries: m as u64,
            undefined_queries: (scores.len() - m) as u64,
            hits,
            id_hits: sum(|s| s.id_hits),
            queries_where_ids_differ: scored().filter(|s| s.hits != s.id_hits).count() as u64,
            duplicates: sum(|s| s.duplicates),
            // What was no id at all is stored as an empty slot, but it is no sentinel.
            short: empty - invalid_count,
            over_returned: sum(|s| s.over_returned),
            invalid: foreign + invalid_count,
            beats_truth: sum(|s| s.beats_truth),
            queries_using_tolerance: scored().filter(|s| s.used_tolerance).count() as u64,
            recall_mean: hits as f64 / (k as u64 * m as u64) as f64,
            recall_min: share(lowest),
            recall_p05: share(fifth),
            perfect_share: perfect as f64 / m as f64,
        },
        hits: scores
            .iter()
            .map(|a| a.defined.then_some(a.score.hits))
            .collect(),
        strata: None,
        other_metrics: summarise_others(metric, k, &others),
    })
}
