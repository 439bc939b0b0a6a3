use crate::truth::ENGINE;
use annbench_core::{ElementType, Metric};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Changes with the files of a piece.
pub(super) const LAYOUT: &str = "annbench truth piece 1";

/// What a piece of truth belongs to: which rows of which base were searched for which queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceFacts {
    pub(super) layout: String,
    pub(super) engine: String,
    /// Catalogue name, for people.
    pub dataset: String,
    /// Metric.
    pub metric: Metric,
    /// Element type of base and queries.
    pub element: ElementType,
    /// Components per vector.
    pub dim: usize,
    /// BLAKE3 of the whole base, as [`crate::Dataset::base_fingerprint`] has it.
    pub base_fingerprint: String,
    /// Rows of the whole base.
    pub base_rows: usize,
    /// The first row that is asked for.
    pub first_row: usize,
    /// The row after the last that is asked for.
    pub end_row: usize,
    /// The row after the last that has been searched: `end_row` once the piece is finished.
    pub searched_end: usize,
    /// BLAKE3 of all queries.
    pub queries_fingerprint: String,
    /// Queries of the dataset.
    pub all_queries: usize,
    /// Queries that were searched: all, or a sample, drawn so that each is as likely as any other.
    pub queries: usize,
    /// Neighbours that are asked for; a range of fewer rows has all of them.
    pub k: usize,
    /// BLAKE3 of each file of the piece, by name.
    pub(super) arrays: BTreeMap<String, String>,
}

impl PieceFacts {
    pub(super) fn new(
        space: &crate::truth::Space<'_>,
        dataset: &str,
        rows: Range<usize>,
        queries: usize,
        k: usize,
    ) -> Self {
        Self {
            layout: LAYOUT.to_owned(),
            engine: ENGINE.to_owned(),
            dataset: dataset.to_owned(),
            metric: space.metric,
            element: space.base.element(),
            dim: space.base.dim(),
            base_fingerprint: space.base_fingerprint.to_owned(),
            base_rows: space.base.n(),
            first_row: rows.start,
            end_row: rows.end,
            searched_end: rows.start,
            queries_fingerprint: space.queries_fingerprint.to_owned(),
            all_queries: space.queries.n(),
            queries,
            k,
            arrays: BTreeMap::new(),
        }
    }

    /// Whether all rows that are asked for have been searched.
    pub fn is_finished(&self) -> bool {
        self.searched_end == self.end_row
    }

    /// Whether it is the truth of its dataset: finished, over the whole base, for all queries.
    pub fn is_whole(&self) -> bool {
        self.is_finished() && self.covers_base() && self.queries == self.all_queries
    }

    /// Whether every row of the base is asked for.
    pub fn covers_base(&self) -> bool {
        self.first_row == 0 && self.end_row == self.base_rows
    }

    /// Neighbours per query that the files hold.
    pub(super) fn width(&self) -> usize {
        self.k.min(self.searched_end - self.first_row)
    }

    /// In what it differs from what is `wanted`, but for how far it is: what is wanted, and what it is.
    pub(super) fn other_than(&self, wanted: &Self) -> Option<(String, String)> {
        let said = |facts: &Self| {
            [
                facts.layout.clone(),
                facts.engine.clone(),
                facts.metric.to_string(),
                format!("{} of {} components", facts.element, facts.dim),
                format!(
                    "a base of {} rows with fingerprint {}",
                    facts.base_rows, facts.base_fingerprint
                ),
                format!("rows {} to {}", facts.first_row, facts.end_row),
                format!(
                    "{} queries with fingerprint {}",
                    facts.all_queries, facts.queries_fingerprint
                ),
                format!("{} of the queries", facts.queries),
                format!("k = {}", facts.k),
            ]
        };
        let pairs = said(wanted).into_iter().zip(said(self));
        pairs.into_iter().find(|(wanted, found)| wanted != found)
    }

    /// Whether the numbers in it can be true at all; they may come from another machine.
    pub(super) fn is_possible(&self) -> bool {
        self.first_row < self.end_row
            && self.end_row <= self.base_rows
            && (self.first_row + 1..=self.end_row).contains(&self.searched_end)
            && self.base_rows <= annbench_core::EMPTY_SLOT as usize
            && (1..=self.all_queries).contains(&self.queries)
            && self.k > 0
            && self.k <= self.base_rows
    }
}
