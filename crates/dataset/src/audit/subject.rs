use super::scan::Scan;
use crate::progress::{Activity, Meter, Watch};
use crate::truth::Claimed;
use annbench_core::{ElementType, Metric, TieTolerance, Vectors, distance};
use std::path::Path;

/// What is audited: vectors that are mapped, and the truth as its file has it.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) base: Vectors<'s>,
    pub(super) queries: Vectors<'s>,
    pub(super) metric: Metric,
    pub(super) max_base_norm: f64,
    /// Where the base lies, for progress.
    pub(super) base_path: &'s Path,
    pub(super) truth: Claim<'s>,
    pub(super) pool: &'s rayon::ThreadPool,
    pub(super) watch: Watch<'s>,
}

/// What is known of shipped truth.
#[derive(Clone, Copy)]
pub(super) enum Claim<'s> {
    /// There is none, or none of these vectors, as the words say.
    None(&'s str),
    /// There is a file, and it cannot be read: the words say why.
    Unreadable(&'s str),
    /// As the file has it.
    Read(&'s Claimed),
}

/// Both parts, read once.
pub(super) struct Scans {
    pub(super) base: Scan,
    pub(super) queries: Scan,
}

impl<'s> Subject<'s> {
    pub(super) fn element(&self) -> ElementType {
        self.base.element()
    }

    /// The truth, or why there is none.
    pub(super) fn claimed(&self) -> Result<&'s Claimed, &'s str> {
        match self.truth {
            Claim::Read(claimed) => Ok(claimed),
            Claim::None(why) | Claim::Unreadable(why) => Err(why),
        }
    }

    pub(super) fn meter(&self, total: u64) -> Meter<'s> {
        Meter::new(self.watch, Activity::Audit, self.base_path, total)
    }

    pub(super) fn tolerance(&self, metric: Metric) -> TieTolerance {
        TieTolerance::new(metric, self.element(), self.base.dim(), self.max_base_norm)
    }

    pub(super) fn distance(&self, metric: Metric, query: usize, id: u32) -> f64 {
        distance(metric, self.queries.row(query), self.base.row(id as usize))
    }

    /// `id` as the number of a base row.
    pub(super) fn row_of(&self, id: i64) -> Option<u32> {
        u32::try_from(id)
            .ok()
            .filter(|&id| (id as usize) < self.base.n())
    }

    /// Metrics that are defined on these vectors.
    pub(super) fn metrics(&self) -> impl Iterator<Item = Metric> {
        let element = self.element();
        Metric::ALL
            .into_iter()
            .filter(move |metric| metric.is_defined_on(element))
    }
}
