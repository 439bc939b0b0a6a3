//! Which metric the neighbours are those of, and which table's rows they are.

use super::found::{Found, Reading, SAMPLE_ROWS};
use super::{AddError, Own};
use crate::catalogue::Places;
use crate::convert::map_vectors;
use crate::copy::Effects;
use crate::format::Wanted;
use crate::mapped::MappedVectors;
use crate::{OpenOptions, cache::Cache};
use annbench_core::{ElementType, Metric, Vectors, distance, norm};

/// Neighbours are mostly computed in f32; orders that differ by its rounding are none.
const ROUNDING: f64 = 4.0 * f32::EPSILON as f64;

/// What is known, and what is asked.
pub(super) struct Question<'q> {
    pub(super) own: &'q Own,
    pub(super) places: &'q Places,
    pub(super) element: ElementType,
    pub(super) dim: usize,
    /// Tables that may be the base.
    pub(super) bases: Vec<(&'q Found, Reading)>,
    pub(super) queries: (&'q Found, Reading),
    pub(super) truth: Option<(&'q Found, Reading)>,
    pub(super) options: &'q OpenOptions<'q>,
}

/// The answer.
pub(super) struct Told<'q> {
    pub(super) base: (&'q Found, Reading),
    pub(super) metric: Metric,
}

impl<'q> Question<'q> {
    pub(super) fn answer(self, inferred: &mut Vec<String>) -> Result<Told<'q>, AddError> {
        let defined: Vec<Metric> = Metric::ALL
            .into_iter()
            .filter(|metric| metric.is_defined_on(self.element))
            .collect();
        if let Some(metric) = self.own.metric
            && !defined.contains(&metric)
        {
            return Err(AddError::Flag {
                flag: format!("--metric {metric}"),
                expected: format!("one of {}", words(&defined)),
                found: format!("{metric}, which is not defined on {}", self.element),
                next: "choose one of these, or correct --element".to_owned(),
            });
        }
        if let ([base], Some(metric)) = (&self.bases[..], self.own.metric) {
            return Ok(Told {
                base: *base,
                metric,
            });
        }
        if let ([base], [metric]) = (&self.bases[..], &defined[..]) {
            inferred.push(format!(
                "metric: {metric}, the only one of {}",
                self.element
            ));
            return Ok(Told {
                base: *base,
                metric: *metric,
            });
        }
        let Some(truth) = self.truth else {
            return Err(AddError::Undecided {
                problem: "vectors do not tell by which metric they are to be compared".to_owned(),
                expected: format!("one of {}", words(&defined)),
                found: "no neighbours that would show it".to_owned(),
                flag: "--metric METRIC".to_owned(),
            });
        };
        let asked = match self.own.metric {
            Some(metric) => vec![metric],
            None => defined.clone(),
        };
        let mut fits = Vec::new();
        for &base in &self.bases {
            let orders = self.orders(base, truth, &asked)?;
            fits.extend(orders.into_iter().map(|metric| (base, metric)));
        }
        let rows = truth.0.rows.min(SAMPLE_ROWS);
        match fits[..] {
            [(base, metric)] => {
                if self.bases.len() > 1 {
                    inferred.push(format!(
                        "base: {}, for the neighbours of {rows} queries are in order among its rows",
                        base.0.label()
                    ));
                }
                if self.own.metric.is_none() {
                    inferred.push(format!(
                        "metric: {metric}, the only one under which the neighbours of {rows} queries are in order"
                    ));
                }
                Ok(Told { base, metric })
            }
            [] => Err(AddError::Undecided {
                problem: format!(
                    "the neighbours of the first {rows} queries are in order of distance under no metric"
                ),
                expected: format!("one of {}", words(&defined)),
                found: "neighbours in another order, or of another base".to_owned(),
                flag: "--metric METRIC and --base FILE, and see what `annbench datasets check` finds, or give \
                       --without-truth"
                    .to_owned(),
            }),
            _ => {
                let several = fits.iter().any(|(base, _)| !std::ptr::eq(base.0, fits[0].0.0));
                let listed: Vec<String> = fits
                    .iter()
                    .map(|(base, metric)| format!("{metric} in {}", base.0.label()))
                    .collect();
                Err(AddError::Undecided {
                    problem: format!(
                        "the neighbours of the first {rows} queries are in order under more than one metric or base"
                    ),
                    expected: "one".to_owned(),
                    found: listed.join(", "),
                    flag: match several {
                        true => "--base FILE, and --metric METRIC if need be",
                        false => "--metric METRIC",
                    }
                    .to_owned(),
                })
            }
        }
    }

    /// The metrics among `asked` under which the neighbours are in order among the rows of `base`.
    fn orders(
        &self,
        base: (&Found, Reading),
        truth: (&Found, Reading),
        asked: &[Metric],
    ) -> Result<Vec<Metric>, AddError> {
        let ids = truth.0.ids(truth.1)?;
        let n = base.0.rows;
        if ids
            .iter()
            .any(|&id| usize::try_from(id).is_ok_and(|id| id >= n) || id < 0)
        {
            return Ok(Vec::new());
        }
        let (base, queries) = (self.map(base)?, self.map(self.queries)?);
        let (base, queries) = (base.vectors(), queries.vectors());
        let in_order = |metric: Metric| {
            ids.chunks_exact(truth.0.width)
                .enumerate()
                .all(|(q, ids)| row_in_order(metric, base, queries, q, ids))
        };
        let metrics = asked.iter().copied();
        // One neighbour is in order under every metric.
        Ok(metrics
            .filter(|&metric| truth.0.width == 1 || in_order(metric))
            .collect())
    }

    /// Copies are those that opening the set uses.
    fn map(&self, (found, reading): (&Found, Reading)) -> Result<MappedVectors, AddError> {
        let wanted = Wanted {
            dataset: self.own.name.as_deref().unwrap_or("the set"),
            metric: self.own.metric.unwrap_or(Metric::L2),
            element: self.element,
            dim: self.dim,
            // What is asked is an order, which rounding leaves.
            narrow: true,
        };
        let effects = &mut Effects {
            not_finite: crate::content::NotFinite::Refused,
            facts: &Cache::new(self.places.cache("facts")),
            pool: self.options.pool,
            watch: self.options.watch,
            notes: &mut Vec::new(),
        };
        let flat = Cache::new(self.places.cache("flat"));
        let made = map_vectors(
            std::slice::from_ref(&found.file),
            &found.part(reading),
            &wanted,
            &flat,
            effects,
        )?;
        Ok(made.vectors)
    }
}

/// Whether each of `ids` is no nearer to query `q` than the one before it, but for rounding.
fn row_in_order(
    metric: Metric,
    base: Vectors<'_>,
    queries: Vectors<'_>,
    q: usize,
    ids: &[i64],
) -> bool {
    let query = queries.row(q);
    let own = norm(query);
    let mut before = f64::NEG_INFINITY;
    ids.iter().all(|&id| {
        // Checked by the caller.
        let x = base.row(id as usize);
        let d = distance(metric, query, x);
        let scale = match metric {
            Metric::L2 => own * own + norm(x) * norm(x),
            Metric::InnerProduct => own * norm(x),
            Metric::Cosine => 1.0,
            _ => 0.0,
        };
        let fits = d + ROUNDING * scale >= before;
        before = d.max(before);
        fits
    })
}

fn words(metrics: &[Metric]) -> String {
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name()).collect();
    names.join(", ")
}
