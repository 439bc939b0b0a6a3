use super::subject::Subject;
use super::words::{number, percent};
use super::{Finding, Rule};
use annbench_core::{Metric, norm};
use rayon::prelude::*;

/// That neighbours stand in the order of their distances, ties in any order.
pub(super) fn truth_order(subject: &Subject<'_>) -> Finding {
    let rule = Rule::TruthOrder;
    let claimed = match subject.claimed() {
        Ok(claimed) => claimed,
        Err(why) => return Finding::cannot_tell(rule, why),
    };
    let m = claimed.queries();
    let tolerance = subject.tolerance(subject.metric);
    // Of each query the first inversion and the largest, relative to the distance.
    let inverted: Vec<Option<Inversion>> = subject.pool.install(|| {
        (0..m)
            .into_par_iter()
            .with_min_len(16)
            .map(|q| {
                let norm = norm(subject.queries.row(q));
                let mut before: Option<f64> = None;
                let mut worst: Option<Inversion> = None;
                for (position, &id) in claimed.row(q).iter().enumerate() {
                    // Another rule speaks of ids that name nothing.
                    let Some(id) = subject.row_of(id) else {
                        continue;
                    };
                    let distance = subject.distance(subject.metric, q, id);
                    if let Some(before) = before
                        && distance < before - tolerance.at(before, norm)
                    {
                        let relative = (before - distance) / before.abs().max(f64::MIN_POSITIVE);
                        let worst = worst.get_or_insert(Inversion {
                            query: q,
                            position,
                            before,
                            distance,
                            relative,
                            rounding: true,
                        });
                        worst.relative = worst.relative.max(relative);
                        worst.rounding &= before - distance <= f32_rounding(subject, norm);
                    }
                    before = Some(before.map_or(distance, |before| before.max(distance)));
                }
                worst
            })
            .collect()
    });
    let queries = inverted.iter().flatten().count();
    let worst = inverted.iter().flatten().map(|i| i.relative);
    let worst = worst.fold(0.0, f64::max);
    let finding = match inverted.iter().flatten().next() {
        None => Finding::holds(
            rule,
            format!("neighbours of all {m} queries ascend, distances recomputed"),
        ),
        Some(first) => {
            let cause = match inverted.iter().flatten().all(|i| i.rounding) {
                true => "as sums in f32 can make them",
                false => "which no rounding explains",
            };
            Finding::violated(
                rule,
                format!(
                    "{queries} of {m} queries ({}) have neighbours out of order, by {} of the \
                     distance at most, {cause}; the first: query {}, position {}, {} after {}",
                    percent(queries as f64, m as f64),
                    number(worst),
                    first.query,
                    first.position,
                    number(first.distance),
                    number(first.before)
                ),
                "annbench puts truth in order by distances of its own; what takes the first columns \
                 of the file takes others than the nearest",
            )
        }
    };
    finding
        .with("queries", queries)
        .with("worst_relative", worst)
}

struct Inversion {
    query: usize,
    position: usize,
    before: f64,
    distance: f64,
    relative: f64,
    /// Whether sums in f32 explain all of the query's.
    rounding: bool,
}

/// The most by which two distances to a query of `norm` come out in the wrong order in f32, when l2 is
/// computed from norms and products, as batches are.
fn f32_rounding(subject: &Subject<'_>, norm: f64) -> f64 {
    let sums = match subject.metric {
        Metric::L2 => (norm + subject.max_base_norm).powi(2),
        Metric::InnerProduct => norm * subject.max_base_norm,
        Metric::Cosine => 1.0,
        // Counts, and fractions of counts.
        _ => 0.0,
    };
    let terms = (subject.base.dim() + 2) as f64;
    2.0 * terms * 2f64.powi(-24) * sums
}
