//! How far two approximate searches agree. It is never called recall: neither of them is the truth.

use crate::aggregate::Answers;
use crate::measured::MeasuredError;
use crate::raw::{RawAnswers, read_answers, within};
use crate::{PointIdentity, SearchRecord};
use annbench_core::EMPTY_SLOT;
use serde::Serialize;
use std::path::Path;
use thiserror::Error;

/// The adapter whose answers are the truth.
const EXACT_ADAPTER: &str = "exact";

/// What two sets of answers to the same queries have in common. Sets are of distinct rows among the
/// first k entries; order plays no part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Neighbours asked for.
    pub k: u64,
    /// Queries compared: all of them.
    pub queries: u64,
    /// Rows that are in both answers, over all queries.
    pub shared: u64,
    /// Queries that share 0, 1, ... k rows.
    pub queries_by_shared: Vec<u64>,
    /// Queries with the same set.
    pub identical_queries: u64,
    /// Queries that neither answered.
    pub empty_queries: u64,
    /// Places of the first answers without a row of their own.
    pub short_a: u64,
    /// Places of the second answers without a row of their own.
    pub short_b: u64,
    /// shared / (k * queries).
    pub mean: f64,
    /// Lowest share of a query.
    pub min: f64,
    /// The ceil(0.05 m)-th lowest (inverse CDF).
    pub p05: f64,
    /// The ceil(0.5 m)-th lowest (inverse CDF).
    pub median: f64,
    /// identical_queries / queries.
    pub identical_share: f64,
    /// Mean of |A ∩ B| / |A ∪ B| over the queries that one of them answered; nothing without such.
    pub jaccard_mean: Option<f64>,
}

/// A measured point and the run directory that holds its raw files.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredPoint<'r> {
    /// The run directory.
    pub run_dir: &'r Path,
    /// Its record.
    pub record: &'r SearchRecord,
}

/// Why two points have no agreement. The texts hold their causes, which therefore are no `source()`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// One of the two is an exact search.
    #[error(
        "point {point:.12} is an exact search: what it has in common with another is recall, which `annbench run` \
         computes and `annbench explain` shows; name two approximate searches"
    )]
    Exact {
        /// Its id.
        point: String,
    },
    /// A point was not measured.
    #[error("point {point:.12} has no answers: it is {outcome}; name a point that was measured")]
    NotMeasured {
        /// Its id.
        point: String,
        /// The word of its outcome.
        outcome: &'static str,
    },
    /// Both are one measurement.
    #[error("point {point:.12} twice: name two points, or two run directories that hold it")]
    Same {
        /// Its id.
        point: String,
    },
    /// The two did not search for the same.
    #[error(
        "{field}: {a} and {b}; their answers are about different things: name two points on the same base and \
         queries, under the same metric and with the same k"
    )]
    Different {
        /// What differs.
        field: &'static str,
        /// Of the first.
        a: String,
        /// Of the second.
        b: String,
    },
    /// A raw file is lost.
    #[error("point {point:.12}: {cause}; {next}", next = .cause.next_step())]
    Raw {
        /// Its id.
        point: String,
        /// Why.
        cause: MeasuredError,
    },
}

/// Whether the point is an exact search by this project's engine: agreement with it is recall.
pub fn is_exact(record: &SearchRecord) -> bool {
    record.identity.build.adapter == EXACT_ADAPTER
}

/// The agreement of the first repetitions of two points.
///
/// # Errors
/// [`AgreementError`] when they are not two approximate searches for the same, or raw files are lost.
pub fn agreement(a: MeasuredPoint<'_>, b: MeasuredPoint<'_>) -> Result<Agreement, AgreementError> {
    check_comparable(a, b)?;
    let (ids_a, returned_a) = answers_of(a)?;
    let (ids_b, returned_b) = answers_of(b)?;
    let k = a.record.identity.k as usize;
    let answers = |ids, returned| Answers {
        k,
        ids,
        returned,
        invalid_count: 0,
    };
    let n = a.record.dataset.n as usize;
    Ok(Agreement::of(
        n,
        &answers(&ids_a, &returned_a),
        &answers(&ids_b, &returned_b),
    ))
}

fn check_comparable(a: MeasuredPoint<'_>, b: MeasuredPoint<'_>) -> Result<(), AgreementError> {
    for point in [a, b] {
        let id = || point.record.point_id.clone();
        if is_exact(point.record) {
            return Err(AgreementError::Exact { point: id() });
        }
        if point.record.measured.is_none() {
            return Err(AgreementError::NotMeasured {
                point: id(),
                outcome: point.record.outcome.word(),
            });
        }
    }
    if a.record.point_id == b.record.point_id && a.run_dir == b.run_dir {
        let point = a.record.point_id.clone();
        return Err(AgreementError::Same { point });
    }
    let facts = |identity: &PointIdentity| {
        [
            (
                "fingerprints of the bases",
                identity.build.base_fingerprint.clone(),
            ),
            (
                "fingerprints of the queries",
                identity.queries_fingerprint.clone(),
            ),
            ("metrics", identity.build.metric.to_string()),
            ("k", identity.k.to_string()),
        ]
    };
    let (of_a, of_b) = (facts(&a.record.identity), facts(&b.record.identity));
    for ((field, a), (_, b)) in of_a.into_iter().zip(of_b) {
        if a != b {
            return Err(AgreementError::Different { field, a, b });
        }
    }
    Ok(())
}

fn answers_of(point: MeasuredPoint<'_>) -> Result<RawAnswers, AgreementError> {
    let record = point.record;
    let read = || {
        let Some(measured) = &record.measured else {
            return Err(MeasuredError::NoAnswers { number: 0 });
        };
        let dir = within(point.run_dir, &measured.raw_dir)?;
        let shape = [record.dataset.queries as usize, record.identity.k as usize];
        let first = measured.report.repetitions.first();
        let first = first.ok_or(MeasuredError::NoAnswers { number: 0 })?;
        read_answers(&dir, 0, first, first, shape)?.ok_or(MeasuredError::NoAnswers { number: 0 })
    };
    read().map_err(|cause| AgreementError::Raw {
        point: record.point_id.clone(),
        cause,
    })
}

impl Agreement {
    /// Of two sets of answers to the same queries, at least one, with the same k, over `n` base rows.
    pub fn of(n: usize, a: &Answers<'_>, b: &Answers<'_>) -> Self {
        let k = a.k;
        let queries = a.returned.len();
        let mut agreement = Self {
            k: k as u64,
            queries: queries as u64,
            shared: 0,
            queries_by_shared: vec![0; k + 1],
            identical_queries: 0,
            empty_queries: 0,
            short_a: 0,
            short_b: 0,
            mean: 0.0,
            min: 0.0,
            p05: 0.0,
            median: 0.0,
            identical_share: 0.0,
            jaccard_mean: None,
        };
        let mut jaccard = 0.0;
        for q in 0..queries {
            let (in_a, in_b) = (a.distinct(q, n), b.distinct(q, n));
            let of_b = |id: &&u32| in_b.binary_search(id).is_ok();
            let shared = in_a.iter().filter(of_b).count();
            let union = in_a.len() + in_b.len() - shared;
            agreement.shared += shared as u64;
            agreement.queries_by_shared[shared] += 1;
            agreement.identical_queries += u64::from(shared == union);
            agreement.short_a += (k - in_a.len()) as u64;
            agreement.short_b += (k - in_b.len()) as u64;
            match union {
                0 => agreement.empty_queries += 1,
                union => jaccard += shared as f64 / union as f64,
            }
        }
        let answered = agreement.queries - agreement.empty_queries;
        agreement.jaccard_mean = (answered > 0).then(|| jaccard / answered as f64);
        agreement.derive();
        agreement
    }

    /// Figures from counts.
    fn derive(&mut self) {
        let by_shared = &self.queries_by_shared;
        let k = self.k.max(1) as f64;
        // The rank-th lowest, an attained value.
        let lowest = |rank: u64| {
            let mut seen = 0;
            let shared = by_shared.iter().position(|queries| {
                seen += queries;
                seen >= rank.max(1)
            });
            shared.unwrap_or(0) as f64 / k
        };
        (self.min, self.p05, self.median) = (
            lowest(1),
            lowest(self.queries.div_ceil(20)),
            lowest(self.queries.div_ceil(2)),
        );
        let queries = self.queries.max(1);
        self.mean = self.shared as f64 / (self.k.max(1) * queries) as f64;
        self.identical_share = self.identical_queries as f64 / queries as f64;
    }
}

impl Answers<'_> {
    /// The distinct rows of `n` among the first k entries of answer `q`, in ascending order.
    pub(crate) fn distinct(&self, q: usize, n: usize) -> Vec<u32> {
        let given = (self.returned[q] as usize).min(self.k);
        let slots = &self.ids[q * self.k..q * self.k + given];
        let mut ids: Vec<u32> = slots
            .iter()
            .copied()
            .filter(|&id| id != EMPTY_SLOT && (id as usize) < n)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
