use super::subject::Subject;
use crate::DatasetError;
use crate::progress::{Activity, Meter};
use crate::sample::{Gathered, sample};
use annbench_core::{Metric, Vectors, norm};
use annbench_exact::{Certified, Flat};

/// Neighbours that are looked for where no truth says how many.
const OWN_WIDTH: usize = 100;

/// Which queries are drawn: the same every time.
const SEED: u64 = 0x616e_6e62_656e_6368;

/// Some queries, or all, with their certified neighbours under the entry's metric.
pub(super) struct Probe {
    /// Numbers of the queries, ascending.
    pub(super) asked: Vec<u32>,
    /// Neighbours per query.
    pub(super) k: usize,
    pub(super) certified: Certified,
}

impl Probe {
    /// Draws `wanted` queries and finds their neighbours.
    pub(super) fn new(subject: &Subject<'_>, wanted: usize) -> Result<Self, DatasetError> {
        let asked = sample(subject.queries.n(), wanted, SEED);
        let width = subject.claimed().map_or(OWN_WIDTH, |truth| truth.width);
        let k = width.min(subject.base.n());
        let certified = certify(subject, subject.base, &asked, subject.metric, k)?;
        Ok(Self {
            asked,
            k,
            certified,
        })
    }

    /// Each query: its place among those asked, and its number.
    pub(super) fn queries(&self) -> impl Iterator<Item = (usize, usize)> {
        self.asked.iter().map(|&q| q as usize).enumerate()
    }

    /// Those that have a nearest row: a zero query has none under cosine.
    pub(super) fn defined(&self, subject: &Subject<'_>) -> impl Iterator<Item = (usize, usize)> {
        let undefined = subject.metric.is_undefined_at_zero();
        let queries = subject.queries;
        self.queries()
            .filter(move |&(_, q)| !(undefined && norm(queries.row(q)) == 0.0))
    }

    /// D_1 of every query that has one.
    pub(super) fn nearest(&self, subject: &Subject<'_>) -> Vec<f64> {
        let neighbors = self.certified.neighbors();
        let distances = self.defined(subject).map(|(i, _)| neighbors.row(i).1[0]);
        distances.collect()
    }
}

/// The `k` nearest rows of `base` to the queries `asked`, with proofs.
pub(super) fn certify(
    subject: &Subject<'_>,
    base: Vectors<'_>,
    asked: &[u32],
    metric: Metric,
    k: usize,
) -> Result<Certified, DatasetError> {
    let failed = |cause| DatasetError::exact(subject.base_path, cause);
    let total = base.n() as u64 * asked.len() as u64;
    let meter = Meter::new(subject.watch, Activity::Truth, subject.base_path, total);
    let flat = Flat::new(base, metric, subject.pool).map_err(failed)?;
    let progress = |done, _| meter.tell(done);
    let gathered;
    let queries = if asked.len() == subject.queries.n() {
        subject.queries
    } else {
        gathered = Gathered::of(subject.queries, asked);
        gathered.vectors()
    };
    flat.certify(queries, k, subject.pool, &progress)
        .map_err(failed)
}
