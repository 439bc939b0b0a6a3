use super::{Piece, Refutation, Space, Truth, exact_neighbors};
use crate::DatasetError;
use crate::cache::Cache;
use crate::progress::{Activity, Meter, Watch};
use annbench_core::{TieTolerance, Vectors, distance, norm};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Most queries that are searched exactly before shipped truth is used.
const MAX_SAMPLE: usize = 32;

/// Components that the check may read: some seconds of work.
const MAX_COMPONENTS: u64 = 32 * 200_000_000;

/// What a check has found; remembered by content.
#[derive(Serialize, Deserialize)]
struct Checked {
    /// Queries that were searched; all of the sample unless the last one refutes the truth.
    searched: usize,
    /// Query, rank from 0 and row.
    refuted: Option<(usize, usize, u32)>,
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
    let components = components(space.base);
    let affordable = usize::try_from(MAX_COMPONENTS / components.max(1)).unwrap_or(MAX_SAMPLE);
    let sample = affordable.min(MAX_SAMPLE).min(space.queries.n());
    if sample == 0 {
        return Ok(());
    }
    let key = space.key(&format!("check 2 {} {sample}", truth.fingerprint()));
    let path = cache.path(&key, "json");
    if let Some(known) = cache.read::<Checked>(&path) {
        match known.holds(truth, space, sample) {
            Some(refuted) => {
                truth.sampled_queries = known.searched;
                truth.refuted = refuted;
                return Ok(());
            }
            None => notes.push(format!(
                "what {} says of the truth does not hold, and it was checked again",
                path.display()
            )),
        }
    }
    let total = sample as u64 * space.base.n() as u64;
    let meter = Meter::new(watch, Activity::Truth, base_path, total);
    // Evenly spread over the queries, the first among them.
    for i in 0..sample {
        let q = i * space.queries.n() / sample;
        let before = i as u64 * space.base.n() as u64;
        let query = space.queries.slice(q..q + 1);
        let found = exact_neighbors(space, query, truth.width(), pool, base_path, &|done, _| {
            meter.tell(before + done)
        })?;
        truth.sampled_queries = i + 1;
        truth.refuted = first_beaten(truth, space, q, found.row(0).0);
        if truth.refuted.is_some() {
            break;
        }
    }
    let checked = Checked {
        searched: truth.sampled_queries,
        refuted: truth.refuted.map(|r| (r.query, r.k - 1, r.id)),
    };
    if let Err(error) = cache.write(&key, &checked) {
        notes.push(format!(
            "that the truth was checked could not be remembered: {error}"
        ));
    }
    Ok(())
}

/// Marks `truth` as refuted where `proved` truth of all queries, at least as wide, has a nearer row.
pub(crate) fn check_all(truth: &mut Truth, space: &Space<'_>, proved: &Piece) {
    let width = truth.width();
    for q in 0..truth.queries() {
        truth.sampled_queries = q + 1;
        let (nearest, _) = proved.found().neighbors().row(q);
        truth.refuted = first_beaten(truth, space, q, &nearest[..width]);
        if truth.refuted.is_some() {
            break;
        }
    }
}

/// What a search of the whole base reads.
fn components(base: Vectors<'_>) -> u64 {
    match base {
        Vectors::Sets(sets) => sets.ids().len() as u64,
        Vectors::Bits(rows) => rows.bytes().data().len() as u64,
        base => base.n() as u64 * base.dim() as u64,
    }
}

impl Checked {
    /// The verdict, if this can be one of a check of `sample` queries; evidence must refute the truth
    /// by itself.
    fn holds(&self, truth: &Truth, space: &Space<'_>, sample: usize) -> Option<Option<Refutation>> {
        match self.refuted {
            None => (self.searched == sample).then_some(None),
            Some((query, rank, id)) => (1..=sample)
                .contains(&self.searched)
                .then(|| evidence(truth, space, query, rank, id))?
                .map(Some),
        }
    }
}

/// The first rank at which the truth of query `q` is refuted by one of the `nearest` rows, which an
/// exact search has found: that of the first which the truth does not have.
fn first_beaten(truth: &Truth, space: &Space<'_>, q: usize, nearest: &[u32]) -> Option<Refutation> {
    let (ids, _) = truth.row(q);
    let &missed = nearest.iter().find(|id| !ids.contains(id))?;
    (0..truth.width()).find_map(|rank| evidence(truth, space, q, rank, missed))
}

/// What row `id` says against the neighbour of `query` at `rank`, from 0: it must be none of the
/// truth's neighbours and nearer than this one, beyond what rounding explains. Distances are computed
/// here.
fn evidence(
    truth: &Truth,
    space: &Space<'_>,
    query: usize,
    rank: usize,
    id: u32,
) -> Option<Refutation> {
    if query >= truth.queries() || rank >= truth.width() || id as usize >= space.base.n() {
        return None;
    }
    let (ids, distances) = truth.row(query);
    if ids.contains(&id) {
        return None;
    }
    let tolerance = TieTolerance::new(
        space.metric,
        space.element(),
        space.base.dim(),
        space.max_base_norm,
    );
    let q = space.queries.row(query);
    let found = distance(space.metric, q, space.base.row(id as usize));
    let d_k = distances[rank];
    (found < d_k - tolerance.at(d_k, norm(q))).then_some(Refutation {
        query,
        k: rank + 1,
        id,
        distance: found,
        truth_distance: d_k,
    })
}
