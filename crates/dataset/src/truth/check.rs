use super::{Refutation, Space, Truth, exact_neighbors};
use crate::DatasetError;
use crate::cache::Cache;
use crate::progress::{Activity, Meter, Watch};
use annbench_core::{TieTolerance, norm};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Most queries that are searched exactly before shipped truth is used.
const MAX_SAMPLE: usize = 32;

/// Components that the check may read: some seconds of work.
const MAX_COMPONENTS: u64 = 32 * 200_000_000;

/// What a check has found; remembered by content.
#[derive(Serialize, Deserialize)]
struct Checked {
    sampled_queries: usize,
    refuted: Option<[u64; 3]>,
}

/// Searches a fixed sample of the queries exactly and marks `truth` as refuted where a row is nearer
/// than it allows. A base too large for any query is left unchecked: `sampled_queries` says so.
pub(crate) fn check_sample(
    truth: &mut Truth,
    space: &Space<'_>,
    cache: &Cache,
    pool: &rayon::ThreadPool,
    watch: Watch<'_>,
    base_path: &Path,
    notes: &mut Vec<String>,
) -> Result<(), DatasetError> {
    let components = space.base.n() as u64 * space.base.dim() as u64;
    let affordable = usize::try_from(MAX_COMPONENTS / components.max(1)).unwrap_or(MAX_SAMPLE);
    let sample = affordable.min(MAX_SAMPLE).min(space.queries.n());
    if sample == 0 {
        return Ok(());
    }
    let key = space.key(&format!("check {} {sample}", truth.fingerprint()));
    truth.sampled_queries = sample;
    if let Some(known) = cache.read::<Checked>(&cache.path(&key, "json")) {
        truth.refuted = known
            .refuted
            .and_then(|[query, rank, id]| evidence(truth, space, query, rank, id));
        return Ok(());
    }
    let total = sample as u64 * space.base.n() as u64;
    let meter = Meter::new(watch, Activity::Truth, base_path, total);
    // Evenly spread over the queries, the first among them.
    let picks: Vec<usize> = (0..sample)
        .map(|i| i * space.queries.n() / sample)
        .collect();
    for (i, &q) in picks.iter().enumerate() {
        let before = i as u64 * space.base.n() as u64;
        let query = space.queries.slice(q..q + 1);
        let found = exact_neighbors(space, query, truth.width(), pool, base_path, &|done, _| {
            meter.tell(before + done)
        })?;
        truth.refuted = first_beaten(truth, space, q, found.row(0));
        if truth.refuted.is_some() {
            break;
        }
    }
    let checked = Checked {
        sampled_queries: sample,
        refuted: truth
            .refuted
            .map(|r| [r.query as u64, r.k as u64 - 1, u64::from(r.id)]),
    };
    if let Err(error) = cache.write(&key, &checked) {
        notes.push(format!(
            "that the truth was checked could not be remembered: {error}"
        ));
    }
    Ok(())
}

fn first_beaten(
    truth: &Truth,
    space: &Space<'_>,
    q: usize,
    (ids, distances): (&[u32], &[f64]),
) -> Option<Refutation> {
    let tolerance = TieTolerance::new(
        space.metric,
        space.element(),
        space.base.dim(),
        space.max_base_norm,
    );
    let query_norm = norm(space.queries.row(q));
    let (_, true_distances) = truth.row(q);
    distances
        .iter()
        .zip(true_distances)
        .position(|(&found, &d_k)| found < d_k - tolerance.at(d_k, query_norm))
        .map(|rank| Refutation {
            query: q,
            k: rank + 1,
            id: ids[rank],
            distance: distances[rank],
            truth_distance: true_distances[rank],
        })
}

/// Remembered evidence, its distances computed anew.
fn evidence(
    truth: &Truth,
    space: &Space<'_>,
    query: u64,
    rank: u64,
    id: u64,
) -> Option<Refutation> {
    let (query, rank) = (query as usize, rank as usize);
    if query >= truth.queries() || rank >= truth.width() || id >= space.base.n() as u64 {
        return None;
    }
    let x = space.base.row(id as usize);
    Some(Refutation {
        query,
        k: rank + 1,
        id: id as u32,
        distance: annbench_core::distance(space.metric, space.queries.row(query), x),
        truth_distance: truth.row(query).1[rank],
    })
}
