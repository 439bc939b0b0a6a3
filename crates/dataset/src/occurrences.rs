//! N^B: of how many other base rows each base row is one of the k nearest. A property of the base and the
//! metric alone, computed once and kept.

use crate::cache::Cache;
use crate::progress::{Activity, Meter, Watch};
use crate::sample::{Gathered, sample};
use crate::{Dataset, DatasetError, OpenOptions};
use annbench_core::{Metric, Vectors, distance, npy};
use annbench_exact::{ExactError, Flat};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Changes whenever counts would be computed in another way.
const ENGINE: &str = "annbench occurrences 1";

/// Which rows are drawn: the same every time.
const SEED: u64 = 0x6f63_6375_7272;

/// Rows that are gathered at once.
const STEP: usize = 1 << 16;

/// What kept counts belong to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    base_fingerprint: String,
    metric: Metric,
    k: usize,
    /// BLAKE3 of the counts, little-endian.
    fingerprint: String,
}

/// A declared way to count less than everything: exact neighbours of some rows of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimator {
    /// Neighbours of each row that are counted; may be more than the k of the recall.
    pub k: usize,
    /// Rows whose neighbours are counted, drawn at random, each as likely as any other.
    pub asked: usize,
}

impl Estimator {
    /// Counts that a base row must have on average: below, more than 0.7 % of average rows would be taken
    /// for rows that are never retrieved.
    pub const LEAST_BUDGET: f64 = 5.0;

    /// Counts that a row of a base of `n` has on average.
    pub fn budget(&self, n: usize) -> f64 {
        self.k as f64 * self.asked as f64 / n as f64
    }
}

impl Dataset {
    /// Component products that counting takes: n² dim.
    pub fn occurrence_work(&self) -> f64 {
        let base = self.base().vectors();
        (base.n() as f64).powi(2) * base.dim() as f64
    }

    /// The counts `[n]` at `k`, where an earlier call of [`Dataset::occurrences`] has kept them.
    pub fn kept_occurrences(&self, k: usize) -> Option<Arc<Vec<u32>>> {
        let cache = crate::dataset::cache(self.entry(), "strata");
        self.kept(&cache, k)
    }

    /// The counts `[n]` at `k`, exact, over the whole base: kept ones, or computed and kept. An index is
    /// never asked: approximate graphs return hubs too often.
    ///
    /// # Errors
    /// [`DatasetError::Exact`] when k is not below n, [`DatasetError::Cancelled`]. That they cannot be kept
    /// is a note.
    pub fn occurrences(
        &self,
        k: usize,
        options: &OpenOptions<'_>,
    ) -> Result<Arc<Vec<u32>>, DatasetError> {
        let cache = crate::dataset::cache(self.entry(), "strata");
        if let Some(kept) = self.kept(&cache, k) {
            return Ok(kept);
        }
        let counts = self.count(k, options.pool, options.watch)?;
        if let Err(error) = self.keep(&cache, k, &counts) {
            self.note(vec![format!(
                "how often rows are near to others was not kept (k = {k}): {error}"
            )]);
        }
        Ok(Arc::new(counts))
    }

    /// The declared estimator that is used for recall@`k` where exact counts are not kept.
    pub fn estimator(&self, k: usize) -> Option<Estimator> {
        let cache = crate::dataset::cache(self.entry(), "strata");
        cache.read(&cache.path(&self.key(&format!("estimator {k}")), "json"))
    }

    /// Counts by `estimator` `[n]`: exact, but of the neighbours of some rows only. Kept, and declared as what
    /// recall@`k` is stratified by until exact counts are kept.
    ///
    /// # Errors
    /// As [`Dataset::occurrences`]; [`DatasetError::Contents`] where so few rows with so few neighbours would
    /// call too many rows never retrieved ([`Estimator::LEAST_BUDGET`]).
    pub fn estimated_occurrences(
        &self,
        k: usize,
        estimator: Estimator,
        options: &OpenOptions<'_>,
    ) -> Result<Arc<Vec<u32>>, DatasetError> {
        let n = self.base().vectors().n();
        let budget = estimator.budget(n);
        if budget < Estimator::LEAST_BUDGET || estimator.asked > n {
            return Err(DatasetError::contents(
                self.base().path(),
                "sample",
                format!(
                    "up to {n} rows, with {} neighbours to a base row on average at least",
                    Estimator::LEAST_BUDGET
                ),
                format!(
                    "{} rows with {} neighbours each, {budget:.2} to a base row: {:.1} % of rows that are retrieved as \
                     often as the average would seem to be never retrieved",
                    estimator.asked,
                    estimator.k,
                    100.0 * (-budget).exp()
                ),
                "ask more rows, or count more neighbours of each",
            ));
        }
        let cache = crate::dataset::cache(self.entry(), "strata");
        let key = self.key(&format!("{} of {} rows", estimator.k, estimator.asked));
        let counts = match self.kept_under(&cache, &key, estimator.k) {
            Some(kept) => kept,
            None => {
                let counts = self.count_some(estimator, options.pool, options.watch)?;
                if let Err(error) = self.keep_under(&cache, &key, estimator.k, &counts) {
                    self.note(vec![format!(
                        "how often rows are near to others was not kept (k = {k}): {error}"
                    )]);
                }
                Arc::new(counts)
            }
        };
        let declared = self.key(&format!("estimator {k}"));
        if let Err(error) = cache.write(&declared, &estimator) {
            self.note(vec![format!("the estimator was not kept: {error}")]);
        }
        Ok(counts)
    }

    /// The counts of the declared estimator for recall@`k`, where there are any.
    pub fn kept_estimate(&self, k: usize) -> Option<(Estimator, Arc<Vec<u32>>)> {
        let estimator = self.estimator(k)?;
        let cache = crate::dataset::cache(self.entry(), "strata");
        let key = self.key(&format!("{} of {} rows", estimator.k, estimator.asked));
        let counts = self.kept_under(&cache, &key, estimator.k)?;
        Some((estimator, counts))
    }

    fn count_some(
        &self,
        estimator: Estimator,
        pool: &rayon::ThreadPool,
        watch: Watch<'_>,
    ) -> Result<Vec<u32>, DatasetError> {
        let base = self.base();
        let vectors = base.vectors();
        let exact = |cause| DatasetError::exact(base.path(), cause);
        let asked = sample(vectors.n(), estimator.asked, SEED);
        let total = vectors.n() as u64 * asked.len() as u64;
        let meter = Meter::new(watch, Activity::Occurrences, base.path(), total);
        let flat = Flat::new(vectors, self.metric(), pool).map_err(exact)?;
        let mut counts = vec![0; vectors.n()];
        let mut before = 0;
        for some in asked.chunks(STEP) {
            let rows = Gathered::of(vectors, some);
            let progress = |done: u64, _| meter.tell(before + done);
            flat.each_others(
                rows.vectors(),
                some,
                estimator.k,
                pool,
                &progress,
                &mut |others| {
                    for other in others {
                        counts[other.id as usize] += 1;
                    }
                },
            )
            .map_err(exact)?;
            before += vectors.n() as u64 * some.len() as u64;
        }
        Ok(counts)
    }

    /// d_1 of base rows to the nearest other row, of so many rows drawn at random, or of all.
    ///
    /// # Errors
    /// [`DatasetError::Exact`] where the base has one row, [`DatasetError::Cancelled`].
    pub fn nearest_others(
        &self,
        rows: usize,
        options: &OpenOptions<'_>,
    ) -> Result<Vec<f64>, DatasetError> {
        let base = self.base();
        let vectors = base.vectors();
        let asked = sample(vectors.n(), rows, SEED);
        let total = vectors.n() as u64 * asked.len() as u64;
        let meter = Meter::new(options.watch, Activity::Occurrences, base.path(), total);
        nearest_others(vectors, self.metric(), &asked, options.pool, &meter)
            .map_err(|cause| DatasetError::exact(base.path(), cause))
    }

    /// For each query, the mean over so many base rows, drawn at random, or over all, of `length` of the
    /// distance to the row.
    pub fn mean_lengths(
        &self,
        length: fn(f64) -> f64,
        rows: usize,
        pool: &rayon::ThreadPool,
    ) -> Vec<f64> {
        let (base, queries) = (self.base().vectors(), self.queries().vectors());
        let asked = sample(base.n(), rows, SEED);
        let mean = |q: usize| {
            let query = queries.row(q);
            let lengths = asked
                .iter()
                .map(|&id| length(distance(self.metric(), query, base.row(id as usize))));
            lengths.sum::<f64>() / asked.len() as f64
        };
        pool.install(|| (0..queries.n()).into_par_iter().map(mean).collect())
    }

    fn keep(&self, cache: &Cache, k: usize, counts: &[u32]) -> Result<(), DatasetError> {
        self.keep_under(cache, &self.key(&k.to_string()), k, counts)
    }

    fn keep_under(
        &self,
        cache: &Cache,
        key: &str,
        k: usize,
        counts: &[u32],
    ) -> Result<(), DatasetError> {
        // The counts come first: facts without them are nothing.
        cache.create_by(&cache.path(key, "npy"), |path| {
            npy::write(path, &[counts.len()], counts)
        })?;
        cache.write(key, &self.kept_facts(k, counts))
    }

    fn count(
        &self,
        k: usize,
        pool: &rayon::ThreadPool,
        watch: Watch<'_>,
    ) -> Result<Vec<u32>, DatasetError> {
        let base = self.base();
        let exact = |cause| DatasetError::exact(base.path(), cause);
        let n = base.vectors().n() as u64;
        let meter = Meter::new(watch, Activity::Occurrences, base.path(), n * n);
        Flat::new(base.vectors(), self.metric(), pool)
            .and_then(|flat| flat.occurrences(k, pool, &|done, _| meter.tell(done)))
            .map_err(exact)
    }

    /// A cache key of base and metric, and of `what`.
    fn key(&self, what: &str) -> String {
        let text = format!(
            "{ENGINE}\n{}\n{}\n{what}\n",
            self.base_fingerprint(),
            self.metric()
        );
        blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
    }

    fn kept_facts(&self, k: usize, counts: &[u32]) -> Kept {
        Kept {
            base_fingerprint: self.base_fingerprint().to_owned(),
            metric: self.metric(),
            k,
            fingerprint: blake3::hash(bytemuck::cast_slice(counts))
                .to_hex()
                .to_string(),
        }
    }

    /// Kept counts, unless they are damaged or another's: then they are computed again.
    fn kept(&self, cache: &Cache, k: usize) -> Option<Arc<Vec<u32>>> {
        self.kept_under(cache, &self.key(&k.to_string()), k)
    }

    fn kept_under(&self, cache: &Cache, key: &str, k: usize) -> Option<Arc<Vec<u32>>> {
        let facts: Kept = cache.read(&cache.path(key, "json"))?;
        let (shape, counts) = npy::read::<u32>(&cache.path(key, "npy")).ok()?;
        let whole = shape == [self.base().vectors().n()] && facts == self.kept_facts(k, &counts);
        whole.then(|| Arc::new(counts))
    }
}

/// d_1 of each base row of `asked` to the nearest other row.
pub(crate) fn nearest_others(
    base: Vectors<'_>,
    metric: Metric,
    asked: &[u32],
    pool: &rayon::ThreadPool,
    meter: &Meter<'_>,
) -> Result<Vec<f64>, ExactError> {
    let rows = Gathered::of(base, asked);
    let mut nearest = Vec::with_capacity(asked.len());
    Flat::new(base, metric, pool)?.each_others(
        rows.vectors(),
        asked,
        1,
        pool,
        &|done, _| meter.tell(done),
        &mut |others| nearest.extend(others.iter().map(|other| other.distance)),
    )?;
    Ok(nearest)
}
