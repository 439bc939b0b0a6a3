use crate::meter::Progress;
use crate::{Candidate, ExactError, Flat};
use annbench_core::Vectors;

/// Base rows that are asked about together, so that their neighbours take little memory.
const STEP: usize = 1 << 16;

impl Flat<'_> {
    /// N^B: for each base row, of how many other base rows it is one of the `k` nearest other rows.
    /// Exact, and the lists themselves are never held all at once.
    ///
    /// # Errors
    /// Any [`ExactError`] but too many rows; `k` is at most the rows less one.
    pub fn occurrences(
        &self,
        k: usize,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> Result<Vec<u32>, ExactError> {
        let n = self.base().n();
        let mut counts = vec![0; n];
        let all = n as u64 * n as u64;
        for first in (0..n).step_by(STEP) {
            let before = first as u64 * n as u64;
            let whole = |done: u64, _: u64| progress(before + done, all);
            let rows = self.base().slice(first..n.min(first + STEP));
            let own = |i: usize| (first + i) as u32;
            self.pass_rows(rows, &own, k, pool, &whole, &mut |others| {
                for other in others {
                    counts[other.id as usize] += 1;
                }
            })?;
        }
        Ok(counts)
    }

    /// The `k` nearest of all other base rows for each of some rows: `queries` holds rows `own` of the base,
    /// in that order. Each list, in canonical order, goes to `take`. A row is another by its id: copies of a
    /// row are among its neighbours.
    ///
    /// # Errors
    /// As [`Flat::occurrences`]; [`ExactError::Id`] for a row that the base does not have.
    pub fn each_others(
        &self,
        queries: Vectors<'_>,
        own: &[u32],
        k: usize,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
        take: &mut (dyn FnMut(&[Candidate]) + Send),
    ) -> Result<(), ExactError> {
        self.check(queries, k)?;
        let n = self.base().n();
        for (at, &id) in own.iter().enumerate() {
            if id as usize >= n || own.len() != queries.n() {
                return Err(ExactError::Id { id, at, n });
            }
        }
        self.pass_rows(queries, &|i| own[i], k, pool, progress, take)
    }

    /// `queries` are rows of the base, of which the `i`-th is row `own(i)`.
    fn pass_rows(
        &self,
        queries: Vectors<'_>,
        own: &(dyn Fn(usize) -> u32 + Sync),
        k: usize,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
        take: &mut (dyn FnMut(&[Candidate]) + Send),
    ) -> Result<(), ExactError> {
        let n = self.base().n();
        if k == 0 {
            return Err(ExactError::NoNeighbors);
        }
        if k >= n {
            return Err(ExactError::TooManyOthers {
                k,
                others: n - n.min(1),
            });
        }
        self.pass_all(queries, k + 1, &[], pool, progress, &mut |first, found| {
            for (i, mut found) in found.into_iter().enumerate() {
                let own = own(first + i);
                // A row may come after k + 1 copies of itself: then the last of them has to go.
                let nearest = &mut found.candidates;
                let at = nearest.iter().position(|c| c.id == own).unwrap_or(k);
                nearest.remove(at);
                take(nearest);
            }
        })
    }
}
