use crate::graph::Graph;
use crate::normalise::push_normalised;
use crate::params::SearchParams;
use annbench_core::{
    AdapterError, NeighborRows, Searcher, TopK, Vector, Vectors, row_queries, row_query,
};
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
}

impl<D: Distance<f32> + Send + Sync + 'static> Searcher for GraphSearcher<'_, D> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let query = row_query::<f32>(query, self.graph.dim())?;
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
        let queries = row_queries::<f32>(queries, self.graph.dim(), out)?;
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
