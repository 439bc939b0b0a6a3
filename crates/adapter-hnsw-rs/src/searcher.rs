use crate::graph::Graph;
use crate::item::Item;
use crate::params::SearchParams;
use annbench_core::{AdapterError, NeighborRows, Searcher, TopK, Vector, Vectors};
use anndists::dist::distances::Distance;
use rayon::ThreadPool;

/// One search point on one graph. ef is an argument of every call to the library.
pub(crate) struct GraphSearcher<'i, T: Item, D: Distance<T> + Send + Sync + 'static> {
    graph: &'i Graph<T, D>,
    params: SearchParams,
    /// A query as the graph wants it, where that is not the query itself.
    scratch: Vec<T>,
    /// Present in batch mode.
    pool: Option<ThreadPool>,
    /// The batch as the library takes it; kept, so that only copying recurs.
    batch: Vec<Vec<T>>,
}

impl<'i, T: Item, D: Distance<T> + Send + Sync + 'static> GraphSearcher<'i, T, D> {
    pub(crate) fn new(
        graph: &'i Graph<T, D>,
        params: SearchParams,
        pool: Option<ThreadPool>,
    ) -> Self {
        Self {
            graph,
            params,
            scratch: Vec::with_capacity(T::per_vector(graph.dim())),
            pool,
            batch: Vec::new(),
        }
    }
}

impl<T: Item, D: Distance<T> + Send + Sync + 'static> Searcher for GraphSearcher<'_, T, D> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let query = T::query(query, self.graph.dim())?;
        let query = if let Some(push) = self.graph.push() {
            self.scratch.clear();
            push(query, &mut self.scratch);
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
        let queries = T::queries(queries, self.graph.dim(), out)?;
        let Some(pool) = &self.pool else {
            return Err(AdapterError::Unsupported("batch search in single mode"));
        };
        if self.batch.len() < queries.n() {
            self.batch.resize_with(queries.n(), Vec::new);
        }
        for (i, copy) in self.batch[..queries.n()].iter_mut().enumerate() {
            copy.clear();
            match self.graph.push() {
                Some(push) => push(queries.row(i), copy),
                None => copy.extend_from_slice(queries.row(i)),
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
