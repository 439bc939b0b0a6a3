use super::index::FaissBinary;
use super::native::BinaryPlan;
use crate::counters::Tally;
use crate::native::Graph;
use crate::searcher::push_found;
use annbench_core::{
    AdapterError, Counters, NeighborRows, Searcher, TopK, Vector, Vectors, bit_queries, bit_query,
};

/// One search point on one index of bits.
pub(crate) struct BinarySearcher<'i> {
    index: &'i FaissBinary,
    plan: BinaryPlan,
    /// FAISS writes distances too; nobody reads them.
    distances: Vec<i32>,
    labels: Vec<i64>,
    tally: Tally,
}

impl<'i> BinarySearcher<'i> {
    pub(super) fn new(index: &'i FaissBinary, plan: BinaryPlan, k: usize) -> Self {
        Self {
            index,
            plan,
            distances: vec![0; k],
            labels: vec![0; k],
            tally: Tally::start(index.shape()),
        }
    }

    /// Searches whole rows into the buffers, which grow at the first call of a size only.
    fn run(&mut self, queries: &[u8], k: usize) -> Result<(), AdapterError> {
        let width = self.index.dim() / 8;
        let slots = queries.len() / width * k;
        if self.labels.len() < slots {
            self.labels.resize(slots, 0);
            self.distances.resize(slots, 0);
        }
        self.index.native().search(
            &mut self.plan,
            width,
            queries,
            k,
            &mut self.distances[..slots],
            &mut self.labels[..slots],
        )
    }
}

impl Searcher for BinarySearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let query = bit_query(query, self.index.dim())?;
        let k = top.k();
        self.run(query.bytes, k)?;
        push_found(&self.labels[..k], top);
        Ok(())
    }

    fn search_batch(
        &mut self,
        queries: Vectors<'_>,
        out: &mut NeighborRows<'_>,
    ) -> Result<(), AdapterError> {
        let queries = bit_queries(queries, self.index.dim(), out)?;
        let k = out.k();
        self.run(queries.bytes().data(), k)?;
        for (i, labels) in self.labels.chunks_exact(k).take(queries.n()).enumerate() {
            push_found(labels, &mut out.row(i));
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        match self.index.shape().graph {
            Some(Graph::Vectors) => {
                let (distances, hops) = self.plan.graph_counters();
                Counters {
                    distance_computations: Some(distances),
                    vertices_visited: Some(hops),
                }
            }
            _ => self.tally.counters(),
        }
    }
}
