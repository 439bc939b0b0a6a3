use super::{Truth, TruthOrigin, status_at};
use crate::{Dataset, DatasetError, OpenOptions};
use annbench_exact::Status;
use rayon::prelude::*;

impl Dataset {
    /// Exact neighbours of all queries, at least `width` to each: kept ones where they belong to the same
    /// base, queries and metric, otherwise computed and kept. A search that was stopped goes on where it
    /// was.
    pub(crate) fn computed_truth(
        &self,
        width: usize,
        options: &OpenOptions<'_>,
    ) -> Result<Truth, DatasetError> {
        let (piece, not_kept) = self.proved_truth(width, options)?;
        let found = piece.found();
        let kept = found.neighbors().k();
        let of_width = found.neighbors().ids().chunks_exact(kept);
        let ids = of_width.flat_map(|row| &row[..width]).copied().collect();
        let mut truth = Truth::new(
            &self.space(),
            width,
            ids,
            TruthOrigin::Computed,
            options.pool,
        );
        let next = (0..truth.queries()).map(|q| match width < kept {
            true => {
                let (ids, distances) = found.neighbors().row(q);
                Some(annbench_exact::Candidate {
                    distance: distances[width],
                    id: ids[width],
                })
            }
            false => found.next(q),
        });
        truth.next = Some(next.collect());
        truth.not_kept = not_kept;
        Ok(truth)
    }

    /// Of every query of `truth`, which this dataset has computed, whether its set of `k` neighbours is the
    /// only one; `None` of shipped truth, of which nothing is proved.
    pub fn truth_statuses(
        &self,
        truth: &Truth,
        k: usize,
        pool: &rayon::ThreadPool,
    ) -> Option<Vec<Status>> {
        let next = truth.next.as_ref().filter(|_| k <= truth.width())?;
        let space = self.space();
        let of = |q: usize| status_at(&space, q, truth.row(q), k, next[q]);
        Some(pool.install(|| (0..truth.queries()).into_par_iter().map(of).collect()))
    }
}
