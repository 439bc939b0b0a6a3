//! N^B: of how many other base rows each base row is one of the k nearest. A property of the base and the
//! metric alone, computed once and kept.

use crate::cache::Cache;
use crate::progress::{Activity, Meter, Watch};
use crate::{Dataset, DatasetError, OpenOptions};
use annbench_core::{Metric, npy};
use annbench_exact::Flat;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Changes whenever counts would be computed in another way.
const ENGINE: &str = "annbench occurrences 1";

/// What kept counts belong to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    base_fingerprint: String,
    metric: Metric,
    k: usize,
    /// BLAKE3 of the counts, little-endian.
    fingerprint: String,
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

    fn keep(&self, cache: &Cache, k: usize, counts: &[u32]) -> Result<(), DatasetError> {
        let key = self.occurrences_key(k);
        // The counts come first: facts without them are nothing.
        cache.create_by(&cache.path(&key, "npy"), |path| {
            npy::write(path, &[counts.len()], counts)
        })?;
        cache.write(&key, &self.kept_facts(k, counts))
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

    fn occurrences_key(&self, k: usize) -> String {
        let text = format!(
            "{ENGINE}\n{}\n{}\n{k}\n",
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
        let key = self.occurrences_key(k);
        let facts: Kept = cache.read(&cache.path(&key, "json"))?;
        let (shape, counts) = npy::read::<u32>(&cache.path(&key, "npy")).ok()?;
        let whole = shape == [self.base().vectors().n()] && facts == self.kept_facts(k, &counts);
        whole.then(|| Arc::new(counts))
    }
}
