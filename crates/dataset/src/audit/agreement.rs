use super::probe::certify;
use super::subject::Subject;
use crate::DatasetError;
use annbench_core::{Metric, Vectors, norm};

/// Queries whose truth is compared with what it might be instead.
pub(super) const COMPARED: usize = 32;

/// From this share of neighbours on, truth is that of what it was compared with; what is missing is
/// for exactness to explain.
pub(super) const SAME: f64 = 0.95;

/// The share of the claimed neighbours of queries `asked` that are true ones, ties included, of
/// `base`, the first rows of the subject's, under `metric`, when `shift` is added to each id.
pub(super) fn agreement(
    subject: &Subject<'_>,
    claims: &dyn Fn(usize) -> Vec<i64>,
    asked: &[u32],
    base: Vectors<'_>,
    metric: Metric,
    shift: i64,
) -> Result<f64, DatasetError> {
    let width = asked
        .first()
        .map_or(0, |&q| claims(q as usize).len())
        .min(base.n());
    if width == 0 {
        return Ok(0.0);
    }
    let certified = certify(subject, base, asked, metric, width)?;
    let tolerance = subject.tolerance(metric);
    let (mut hits, mut all) = (0u64, 0u64);
    for (i, &q) in asked.iter().enumerate() {
        let q = q as usize;
        let (_, distances) = certified.neighbors().row(i);
        let farthest = distances[width - 1];
        let bound = farthest + tolerance.at(farthest, norm(subject.queries.row(q)));
        let mut ids = claims(q);
        ids.sort_unstable();
        ids.dedup();
        all += width as u64;
        hits += ids
            .into_iter()
            .filter_map(|id| subject.row_of(id.checked_add(shift)?))
            .filter(|&id| (id as usize) < base.n() && subject.distance(metric, q, id) <= bound)
            .count()
            .min(width) as u64;
    }
    Ok(hits as f64 / all as f64)
}
