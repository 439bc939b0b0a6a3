use crate::item::Item;
use crate::params::{BuildParams, SearchParams};
use crate::searcher::GraphSearcher;
use crate::store;
use annbench_core::{
    AdapterError, BuildSpec, Index, MemoryReport, Mode, Rows, SearchSpec, Searcher,
};
use anndists::dist::distances::Distance;
use hnsw_rs::api::AnnT;
use hnsw_rs::hnsw::Hnsw;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::mem::ManuallyDrop;
use std::path::Path;

/// The library dumps graphs of exactly this many layers only.
const LAYERS: usize = 16;

/// Appends a vector as the graph holds it.
pub(crate) type Push<T> = fn(&[T], &mut Vec<T>);

/// A built graph, which owns its copy of the vectors.
pub(crate) struct Graph<T: Item, D: Distance<T> + Send + Sync + 'static> {
    hnsw: ManuallyDrop<Hnsw<'static, T, D>>,
    dim: usize,
    push: Option<Push<T>>,
}

impl<T: Item, D: Distance<T> + Send + Sync + 'static> Graph<T, D> {
    /// Takes over a whole graph of vectors of `dim` components. `push`: how a query becomes what the
    /// graph holds, where it is not that already.
    pub(crate) fn new(hnsw: Hnsw<'static, T, D>, dim: usize, push: Option<Push<T>>) -> Self {
        Self {
            hnsw: ManuallyDrop::new(hnsw),
            dim,
            push,
        }
    }

    /// Inserts `rows` in order with one thread, in rayon's order with more.
    pub(crate) fn build(
        rows: Rows<'_, T>,
        params: BuildParams,
        spec: &BuildSpec,
        distance: D,
        push: Option<Push<T>>,
    ) -> Result<Self, AdapterError> {
        let hnsw = Hnsw::new(params.m, rows.n(), LAYERS, params.ef_construction, distance);
        if spec.threads == 1 {
            for id in 0..rows.n() {
                hnsw.insert_slice((rows.row(id), id));
            }
        } else {
            // The first point alone: points that find no entry point yet are never linked.
            if rows.n() > 0 {
                hnsw.insert_slice((rows.row(0), 0));
            }
            let rest: Vec<(&[T], usize)> = (1..rows.n()).map(|id| (rows.row(id), id)).collect();
            pool(spec.threads)?.install(|| hnsw.parallel_insert_slice(&rest));
        }
        Ok(Self::new(hnsw, spec.dim, push))
    }

    pub(crate) fn hnsw(&self) -> &Hnsw<'static, T, D> {
        &self.hnsw
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn push(&self) -> Option<Push<T>> {
        self.push
    }
}

/// A rayon pool of exactly `threads` workers, in whose `install` the library's own parallel
/// iterators run.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool, AdapterError> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| AdapterError::Failed(format!("a pool of {threads} threads: {e}")))
}

impl<T: Item, D: Distance<T> + Send + Sync + 'static> Index for Graph<T, D>
where
    Hnsw<'static, T, D>: AnnT,
{
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        let params = SearchParams::read(&spec.params, spec.k)?;
        let pool = match spec.mode {
            Mode::Single => None,
            Mode::Batch => Some(pool(spec.threads)?),
        };
        Ok(Box::new(GraphSearcher::new(self, params, pool)))
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport::default()
    }

    fn save(&self, dir: &Path) -> Result<(), AdapterError> {
        store::save(self.hnsw(), dir)
    }
}

impl<T: Item, D: Distance<T> + Send + Sync + 'static> Drop for Graph<T, D> {
    /// The library unlinks its points in parallel when it is dropped: here in a pool of one, not
    /// in the global one, which this process should never start.
    fn drop(&mut self) {
        // SAFETY: the field is not used again; this is the only place that takes it.
        let hnsw = unsafe { ManuallyDrop::take(&mut self.hnsw) };
        match pool(1) {
            Ok(pool) => pool.install(|| drop(hnsw)),
            Err(_) => drop(hnsw),
        }
    }
}
