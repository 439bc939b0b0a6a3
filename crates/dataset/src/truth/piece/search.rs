use super::Piece;
use super::facts::PieceFacts;
use crate::progress::{Activity, Meter, Watch};
use crate::truth::Space;
use crate::{DatasetError, MappedVectors};
use annbench_core::Vectors;
use annbench_exact::Flat;

/// Bytes of the base that are searched for all queries before the next: little enough to stay in memory
/// while the shortlist's rows are read again.
const STEP_BYTES: usize = 32 << 20;

/// Rows that a step has at least: fewer would start their shortlists too often.
const LEAST_ROWS: usize = 1 << 14;

/// Products of components that a step takes at most, so that little is lost when a search ends early.
const STEP_PRODUCTS: usize = 20_000_000_000_000;

/// A search of a range of base rows for some queries, step by step.
pub(super) struct Search<'s> {
    pub(super) space: &'s Space<'s>,
    pub(super) base: &'s MappedVectors,
    /// Those that are searched.
    pub(super) queries: Vectors<'s>,
    pub(super) step_rows: usize,
    pub(super) pool: &'s rayon::ThreadPool,
    pub(super) watch: Watch<'s>,
}

/// What is told after each step but the last.
pub(super) type Keep<'k> = &'k mut dyn FnMut(&mut Piece) -> Result<(), DatasetError>;

impl Search<'_> {
    /// Goes on from what `begun` has found, or from the first row of `facts`.
    pub(super) fn finish(
        &self,
        facts: PieceFacts,
        begun: Option<Piece>,
        keep: Keep<'_>,
    ) -> Result<Piece, DatasetError> {
        let path = self.base.path();
        let step = self.step_rows;
        let (first, end) = (facts.first_row, facts.end_row);
        let queries = self.queries.n() as u64;
        let meter = Meter::new(
            self.watch,
            Activity::Truth,
            path,
            (end - first) as u64 * queries,
        );
        let mut piece = begun;
        loop {
            let start = piece
                .as_ref()
                .map_or(first, |piece| piece.facts.searched_end);
            if let Some(piece) = piece.take_if(|_| start == end) {
                return Ok(piece);
            }
            let stop = end.min(start + step);
            // The disk reads what comes next while this is computed.
            self.base.will_need(stop..end.min(stop + step));
            let before = (start - first) as u64 * queries;
            let k = facts.k.min(stop - first);
            let progress = |done, _| meter.tell(before + done);
            let (whole, queries) = (self.space.base.slice(first..stop), self.queries);
            let rows = self.space.base.slice(start..stop);
            let found = Flat::new(rows, self.space.metric, self.pool)
                .and_then(|flat| match &piece {
                    None => flat.certify(queries, k, self.pool, &progress),
                    Some(Piece { found, .. }) => {
                        flat.certify_after(found, whole, queries, k, self.pool, &progress)
                    }
                })
                .map_err(|cause| DatasetError::exact(path, cause))?;
            let mut so_far = Piece {
                facts: PieceFacts {
                    searched_end: stop,
                    ..facts.clone()
                },
                found,
            };
            if stop < end {
                keep(&mut so_far)?;
            }
            piece = Some(so_far);
        }
    }
}

/// Rows of a step that are worth it.
pub(super) fn step_rows_of(base: Vectors<'_>, queries: Vectors<'_>) -> usize {
    let row_bytes = (base.component_bytes().len() / base.n().max(1)).max(1);
    let by_work = STEP_PRODUCTS / (queries.n() * base.dim()).max(1);
    (STEP_BYTES / row_bytes).min(by_work).max(LEAST_ROWS)
}
