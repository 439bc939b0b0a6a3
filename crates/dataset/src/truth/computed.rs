use super::{Space, Truth, TruthOrigin, exact_neighbors};
use crate::DatasetError;
use crate::cache::Cache;
use crate::lying::{Lying, lying_at};
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
    notes: &mut Vec<String>,
) -> Result<Truth, DatasetError> {
    let key = space.key(&format!("truth {width}"));
    match kept(space, width, cache, &key, pool) {
        Ok(truth) => return Ok(truth),
        Err(Unusable::Absent) => {}
        Err(Unusable::Damaged(why)) => notes.push(format!(
            "the kept truth {} is damaged and was computed again: {why}",
            cache.path(&key, "npy").display()
        )),
    }
    let total = space.base.n() as u64 * space.queries.n() as u64;
    let meter = Meter::new(watch, Activity::Truth, base_path, total);
    let found = exact_neighbors(space, space.queries, width, pool, base_path, &|done, _| {
        meter.tell(done)
    })?;
    let (ids, _) = found.into_parts();
    let mut truth = Truth::new(space, width, ids, TruthOrigin::Computed, pool);
    truth.not_kept = keep(space, &truth, cache, &key)
        .err()
        .map(|error| error.to_string());
    Ok(truth)
}

/// Why kept truth is not used.
enum Unusable {
    Absent,
    Damaged(String),
}

fn kept(
    space: &Space<'_>,
    width: usize,
    cache: &Cache,
    key: &str,
    pool: &rayon::ThreadPool,
) -> Result<Truth, Unusable> {
    let damaged = |why: &str| Err(Unusable::Damaged(why.to_owned()));
    let facts = cache.path(key, "json");
    if !facts.exists() {
        return Err(Unusable::Absent);
    }
    let Some(kept) = cache.read::<Kept>(&facts) else {
        return damaged("what it belongs to cannot be read");
    };
    let path = cache.path(key, "npy");
    if let Ok(Lying::Other(found)) = lying_at(&path) {
        return damaged(&format!("it is {found}"));
    }
    let (shape, ids) =
        npy::read::<u32>(&path).map_err(|error| Unusable::Damaged(error.to_string()))?;
    if kept.base_fingerprint != space.base_fingerprint
        || kept.queries_fingerprint != space.queries_fingerprint
        || kept.metric != space.metric
        || kept.width != width
    {
        return damaged("it belongs to another base, queries, metric or width");
    }
    if shape != [space.queries.n(), width] {
        return damaged("it has another shape");
    }
    if ids.iter().any(|&id| (id as usize) >= space.base.n()) {
        return damaged("an id names no row of the base");
    }
    // The distances are computed anew, so the fingerprint vouches for the ids as they were written.
    let truth = Truth::new(space, width, ids, TruthOrigin::Computed, pool);
    if truth.fingerprint() != kept.fingerprint {
        return damaged("its fingerprint is not the one that was written");
    }
    Ok(truth)
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
