//! The strata that answers are scored by, from exact counts over the base.

use super::Opened;
use super::hardness::Hardness;
use super::watched;
use crate::args::Permits;
use crate::terminal::say;
use annbench_dataset::Estimator;
use annbench_results::{Occurrences, Strata};

/// Component products (n² dim) up to which counts are computed without being asked for: seconds where the
/// processor has matrix instructions, minutes where it has none.
const UNASKED_WORK: f64 = 2e12;

impl Opened {
    /// Prepares the strata for each k of `ks`. Counts that would take long are used where they are kept,
    /// and computed only when `asked`; else those of a declared estimator are used, where they are kept, or
    /// the strata hold the reason.
    ///
    /// # Errors
    /// When counting is cancelled, or what was counted cannot be kept.
    pub fn stratify(
        &mut self,
        ks: &[usize],
        asked: bool,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<()> {
        let name = self.dataset.name().to_owned();
        let told = self.dataset.later_notes().len();
        let mut strata = Vec::with_capacity(ks.len());
        for &k in ks {
            let n = self.dataset.base().vectors().n();
            let kept = self.dataset.kept_occurrences(k);
            let work = self.dataset.occurrence_work();
            let exactly = |counts| Occurrences {
                k,
                asked: n as u64,
                counts,
            };
            let occurrences = if let Some(kept) = kept {
                Ok(exactly(kept))
            } else if k == 0 || k >= n {
                Err(format!("of {n} rows none has {k} others near it"))
            } else if asked || work <= UNASKED_WORK {
                let counts = watched(&name, Permits::default(), pool, |options| {
                    self.dataset.occurrences(k, options)
                });
                Ok(exactly(counts?))
            } else if let Some((estimator, counts)) = self.dataset.kept_estimate(k) {
                Ok(Occurrences {
                    k: estimator.k,
                    asked: estimator.asked as u64,
                    counts,
                })
            } else {
                Err(format!(
                    "it takes {work:.1e} products of components, once: annbench datasets strata {name} -k {k}, then annbench rescore"
                ))
            };
            strata.push(Strata::new(&self.scoring(&[]), k, occurrences));
        }
        for note in self.dataset.later_notes().iter().skip(told) {
            say(&format!("{name}: {note}"));
        }
        self.strata = strata;
        Ok(())
    }

    /// Prepares the strata for `k` from counts by `estimator`, and declares it.
    ///
    /// # Errors
    /// When its budget is too small, or counting is cancelled.
    pub fn estimate(
        &mut self,
        k: usize,
        estimator: Estimator,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<()> {
        let counts = watched(self.dataset.name(), Permits::default(), pool, |options| {
            self.dataset.estimated_occurrences(k, estimator, options)
        })?;
        let occurrences = Ok(Occurrences {
            k: estimator.k,
            asked: estimator.asked as u64,
            counts,
        });
        self.strata = vec![Strata::new(&self.scoring(&[]), k, occurrences)];
        Ok(())
    }

    /// How hard the queries are for `k`.
    ///
    /// # Errors
    /// When it is cancelled.
    pub fn hardness(&self, k: usize, pool: &rayon::ThreadPool) -> anyhow::Result<Hardness> {
        watched(self.dataset.name(), Permits::default(), pool, |options| {
            Hardness::of(&self.dataset, &self.scoring(&[]), k, options)
        })
    }

    /// The strata that were prepared.
    pub fn strata(&self) -> &[Strata] {
        &self.strata
    }
}
