use crate::graph::Graph;
use crate::normalise::push_normalised;
use crate::params::SearchParams;
use annbench_core::{AdapterError, NeighborRows, Searcher, TopK, Vector, Vectors};
use anndists::dist::distances::Distance;
use rayon::ThreadPool;

/// One search point on one graph. ef is an argument of every call to the library.
pub(crate) struct GraphSearcher<'i, D: Distance<f32> + Send + Sync + 'static> {
    graph: &'i Graph<D>,
    params: SearchParams,
    /// A query as the graph wants it, where it must be normalised.
    scratch: Vec<f32>,
    /// Present in batch mode.
    pool: Option<ThreadPool>,
    /// The batch as the library takes it; kept, so that only copying recurs.
    batch: Vec<Vec<f32>>,
}

impl<'i, D: Distance<f32> + Send + Sync + 'static> GraphSearcher<'i, D> {
    pub(crate) fn new(graph: &'i Graph<D>, params: SearchParams, pool: Option<ThreadPool>) -> Self {
        Self {
            graph,
            params,
            scratch: Vec::with_capacity(graph.dim()),
            pool,
            batch: Vec::new(),
        }
    }

    fn check_dim(&self, dim: usize) -> Result<(), AdapterError> {
        if dim == self.graph.dim() {
            Ok(())
        } else {
            Err(AdapterError::Failed(format!(
                "query: expected {} components, found {dim}",
                self.graph.dim()
            )))
        }
    }
}

impl<D: Distance<f32> + Send + Sync + 'static> Searcher for GraphSearcher<'_, D> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let Vector::F32(query) = query else {
            return Err(AdapterError::Failed("query: expected f32".to_owned()));
        };
        self.check_dim(query.len())?;
        let query = if self.graph.normalised() {
            self.scratch.clear();
            push_normalised(query, &mut self.scratch);
            self.scratch.as_slice()
        } else {
            query
        };
        let found = self.graph.hnsw().search(query, top.k(), self.params.ef);
        top.extend(found.iter().map(|neighbour| neighbour.d_id));
        Ok(())
    }

    fn search_batch(
        &mut self,
        queries: Vectors<'_>,
        out: &mut NeighborRows<'_>,
    ) -> Result<(), AdapterError> {
        let Vectors::F32(queries) = queries else {
            return Err(AdapterError::Failed("queries: expected f32".to_owned()));
        };
        self.check_dim(queries.dim())?;
        if queries.n() != out.queries() {
            return Err(AdapterError::Failed(format!(
                "queries: expected {}, found {}",
                out.queries(),
                queries.n()
            )));
        }
        let Some(pool) = &self.pool else {
            return Err(AdapterError::Unsupported("batch search in single mode"));
        };
        if self.batch.len() < queries.n() {
            self.batch.resize_with(queries.n(), Vec::new);
        }
        for (i, copy) in self.batch[..queries.n()].iter_mut().enumerate() {
            copy.clear();
            if self.graph.normalised() {
                push_normalised(queries.row(i), copy);
            } else {
                copy.extend_from_slice(queries.row(i));
            }
        }
        let batch = &self.batch[..queries.n()];
        let found = pool.install(|| {
            self.graph
                .hnsw()
                .parallel_search(batch, out.k(), self.params.ef)
        });
        for (i, neighbours) in found.iter().enumerate() {
            out.row(i).extend(neighbours.iter().map(|n| n.d_id));
        }
        Ok(())
    }
}
