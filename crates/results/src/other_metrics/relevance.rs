//! Answers against judgements of relevance (qrels), which are no neighbours: what they measure is the
//! vectors and the search together.

use super::summary::mean_reciprocal;
use crate::Answers;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thiserror::Error;

/// How relevant a base row is to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The query.
    pub query: u32,
    /// The base row.
    pub id: u32,
    /// 0 and less for none; more for more.
    pub score: i32,
}

/// The judgements of a set, by query and row.
#[derive(Clone, Debug)]
pub struct Relevance {
    /// Relevant rows of each query `[queries]`, by id, with their scores, all above 0.
    relevant: Vec<Vec<(u32, i32)>>,
    /// Whether there are judgements of a query at all `[queries]`.
    judged: Vec<bool>,
}

/// Why judgements are not those of a set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RelevanceError {
    /// A judgement names a query or a row that is not there.
    #[error(
        "judgement {number}: expected a {what} below {expected}, found {found}; provide the judgements of this set"
    )]
    Outside {
        /// Its number, from 0.
        number: usize,
        /// query or base row.
        what: &'static str,
        /// How many there are.
        expected: usize,
        /// The one it names.
        found: u32,
    },
    /// A row is judged twice for a query.
    #[error(
        "query {query}: expected one judgement of row {id}, found two; keep the right one of them"
    )]
    Twice {
        /// The query.
        query: u32,
        /// The row.
        id: u32,
    },
}

impl Relevance {
    /// Of a set of `queries` queries and `n` base rows.
    ///
    /// # Errors
    /// [`RelevanceError`] with the judgement that does not fit it.
    pub fn new(judgements: &[Judgement], queries: usize, n: usize) -> Result<Self, RelevanceError> {
        let mut relevant = vec![Vec::new(); queries];
        let mut judged = vec![false; queries];
        let mut seen = BTreeSet::new();
        for (number, &Judgement { query, id, score }) in judgements.iter().enumerate() {
            for (what, found, expected) in [("query", query, queries), ("base row", id, n)] {
                if found as usize >= expected {
                    return Err(RelevanceError::Outside {
                        number,
                        what,
                        expected,
                        found,
                    });
                }
            }
            if !seen.insert((query, id)) {
                return Err(RelevanceError::Twice { query, id });
            }
            judged[query as usize] = true;
            if score > 0 {
                relevant[query as usize].push((id, score));
            }
        }
        for rows in &mut relevant {
            rows.sort_unstable();
        }
        Ok(Self { relevant, judged })
    }
}

/// Quality of the answers of one repetition against judgements of relevance, among the first k entries.
///
/// Rows without a judgement count as not relevant, a repeat counts as nothing but takes its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelevanceQuality {
    /// Queries with a relevant row, over which the means go.
    pub queries: u64,
    /// Queries that are judged and have no relevant row: left out.
    pub queries_without_relevant: u64,
    /// Queries without any judgement: left out.
    pub queries_not_judged: u64,
    /// Relevant rows of the queries.
    pub relevant: u64,
    /// Of these, those in the answers.
    pub relevant_found: u64,
    /// Queries whose first relevant entry is the 1st, 2nd, ... k-th.
    pub first_relevant_at_rank: Vec<u64>,
    /// nDCG@k as trec_eval's ndcg_cut: the gain is the score itself, the discount log2(rank + 1), the
    /// ideal over all judgements; nothing without queries.
    pub ndcg: Option<f64>,
    /// Mean reciprocal rank of the first relevant entry; 0 for a query without one.
    pub mrr: Option<f64>,
    /// Mean over queries of the share of the relevant rows that are in the answer.
    pub recall: Option<f64>,
}

impl Relevance {
    /// Scores the queries for which `scored` holds `[queries]`.
    pub(crate) fn score(&self, answers: &Answers<'_>, scored: &[bool]) -> RelevanceQuality {
        let k = answers.k;
        let mut quality = RelevanceQuality {
            queries: 0,
            queries_without_relevant: 0,
            queries_not_judged: 0,
            relevant: 0,
            relevant_found: 0,
            first_relevant_at_rank: vec![0; k],
            ndcg: None,
            mrr: None,
            recall: None,
        };
        let (mut ndcg, mut recall) = (0.0, 0.0);
        for (q, rows) in self.relevant.iter().enumerate() {
            if !scored.get(q).copied().unwrap_or(false) {
                continue;
            }
            if rows.is_empty() {
                match self.judged[q] {
                    true => quality.queries_without_relevant += 1,
                    false => quality.queries_not_judged += 1,
                }
                continue;
            }
            let given = (answers.returned[q] as usize).min(k);
            let slots = &answers.ids[q * k..q * k + given];
            let found = Found::of(rows, slots);
            quality.queries += 1;
            quality.relevant += rows.len() as u64;
            quality.relevant_found += found.rows;
            if let Some(first) = found.first {
                quality.first_relevant_at_rank[first] += 1;
            }
            ndcg += found.gain / ideal_gain(rows, k);
            recall += found.rows as f64 / rows.len() as f64;
        }
        if quality.queries > 0 {
            let m = quality.queries as f64;
            let first = &quality.first_relevant_at_rank;
            quality.mrr = Some(mean_reciprocal(first, quality.queries));
            quality.ndcg = Some(ndcg / m);
            quality.recall = Some(recall / m);
        }
        quality
    }
}

/// What one answer has of the relevant rows.
struct Found {
    rows: u64,
    first: Option<usize>,
    gain: f64,
}

impl Found {
    fn of(relevant: &[(u32, i32)], slots: &[u32]) -> Self {
        let mut found = Self {
            rows: 0,
            first: None,
            gain: 0.0,
        };
        let mut seen = vec![false; relevant.len()];
        for (place, id) in slots.iter().enumerate() {
            let Ok(at) = relevant.binary_search_by_key(id, |&(id, _)| id) else {
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            found.rows += 1;
            found.first.get_or_insert(place);
            found.gain += f64::from(relevant[at].1) / discount(place);
        }
        found
    }
}

/// The gain of the best order of the relevant rows, cut at `k`.
fn ideal_gain(relevant: &[(u32, i32)], k: usize) -> f64 {
    let mut scores: Vec<i32> = relevant.iter().map(|&(_, score)| score).collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    let best = scores.into_iter().take(k).enumerate();
    best.map(|(place, score)| f64::from(score) / discount(place))
        .sum()
}

/// log2(rank + 1), where the rank is `place` + 1.
fn discount(place: usize) -> f64 {
    ((place + 2) as f64).log2()
}
