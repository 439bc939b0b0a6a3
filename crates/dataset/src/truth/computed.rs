use super::{Space, Truth, TruthOrigin, exact_neighbors};
use crate::DatasetError;
use crate::cache::Cache;
use crate::progress::{Activity, Meter, Watch};
use annbench_core::{Metric, npy};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What kept truth belongs to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    base_fingerprint: String,
    queries_fingerprint: String,
    metric: Metric,
    width: usize,
    fingerprint: String,
}

/// Exact neighbours of all queries: kept ones where they belong to the same base, queries, metric
/// and width, otherwise computed and kept.
pub(crate) fn computed_truth(
    space: &Space<'_>,
    width: usize,
    cache: &Cache,
    pool: &rayon::ThreadPool,
    watch: Watch<'_>,
    base_path: &Path,
) -> Result<Truth, DatasetError> {
    let key = space.key(&format!("truth {width}"));
    if let Some(truth) = kept(space, width, cache, &key, pool) {
        return Ok(truth);
    }
    let total = space.base.n() as u64 * space.queries.n() as u64;
    let meter = Meter::new(watch, Activity::Truth, base_path, total);
    let found = exact_neighbors(space, space.queries, width, pool, &|done, _| {
        meter.tell(done)
    })?;
    let (ids, _) = found.into_parts();
    let mut truth = Truth::new(space, width, ids, TruthOrigin::Computed, pool);
    truth.not_kept = keep(space, &truth, cache, &key)
        .err()
        .map(|error| error.to_string());
    Ok(truth)
}

fn kept(
    space: &Space<'_>,
    width: usize,
    cache: &Cache,
    key: &str,
    pool: &rayon::ThreadPool,
) -> Option<Truth> {
    let kept: Kept = cache.read(&cache.path(key, "json"))?;
    let (shape, ids) = npy::read::<u32>(&cache.path(key, "npy")).ok()?;
    let belongs = kept.base_fingerprint == space.base_fingerprint
        && kept.queries_fingerprint == space.queries_fingerprint
        && kept.metric == space.metric
        && kept.width == width
        && shape == [space.queries.n(), width]
        && ids.iter().all(|&id| (id as usize) < space.base.n());
    if !belongs {
        return None;
    }
    let truth = Truth::new(space, width, ids, TruthOrigin::Computed, pool);
    (truth.fingerprint() == kept.fingerprint).then_some(truth)
}

fn keep(space: &Space<'_>, truth: &Truth, cache: &Cache, key: &str) -> Result<(), DatasetError> {
    let path = cache.path(key, "npy");
    // The ids come first: facts without them are no truth.
    cache.create_by(&path, |temporary| {
        npy::write(temporary, &[truth.queries(), truth.width()], truth.ids())
    })?;
    cache.write(
        key,
        &Kept {
            base_fingerprint: space.base_fingerprint.to_owned(),
            queries_fingerprint: space.queries_fingerprint.to_owned(),
            metric: space.metric,
            width: truth.width(),
            fingerprint: truth.fingerprint().to_owned(),
        },
    )
}
