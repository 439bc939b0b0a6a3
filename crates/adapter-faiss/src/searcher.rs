use crate::counters::Tally;
use crate::index::FaissIndex;
use crate::native::{Plan, normalise};
use annbench_core::{
    AdapterError, Counters, NeighborId, NeighborRows, Searcher, Slot, TopK, Vector, Vectors,
    row_queries, row_query,
};

/// One search point on one index.
pub(crate) struct FaissSearcher<'i> {
    index: &'i FaissIndex,
    plan: Plan,
    /// FAISS writes distances too; nobody reads them.
    distances: Vec<f32>,
    labels: Vec<i64>,
    /// Queries as the index wants them, where they must be normalised.
    scratch: Vec<f32>,
    tally: Tally,
}

impl<'i> FaissSearcher<'i> {
    pub(crate) fn new(index: &'i FaissIndex, plan: Plan, k: usize) -> Self {
        Self {
            index,
            plan,
            distances: vec![0.0; k],
            labels: vec![0; k],
            scratch: Vec::with_capacity(index.dim()),
            tally: Tally::start(index.shape()),
        }
    }

    /// Searches whole rows into the buffers, which grow at the first call of a size only.
    fn run(&mut self, queries: &[f32], k: usize) -> Result<(), AdapterError> {
        let dim = self.index.dim();
        let slots = queries.len() / dim * k;
        if self.labels.len() < slots {
            self.labels.resize(slots, 0);
            self.distances.resize(slots, 0.0);
        }
        let queries = if self.index.normalised() {
            self.scratch.clear();
            self.scratch.extend_from_slice(queries);
            normalise(&mut self.scratch, dim);
            self.scratch.as_slice()
        } else {
            queries
        };
        self.index.native().search(
            &self.plan,
            dim,
            queries,
            k,
            &mut self.distances[..slots],
            &mut self.labels[..slots],
        )
    }
}

/// Hands over `labels` without the -1s at their end.
pub(crate) fn push_found(labels: &[i64], top: &mut TopK<'_>) {
    let found = labels
        .iter()
        .rposition(|label| label.slot() != Slot::Empty)
        .map_or(0, |last| last + 1);
    top.extend(labels[..found].iter().copied());
}

impl Searcher for FaissSearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let query = row_query::<f32>(query, self.index.dim())?;
        let k = top.k();
        self.run(query, k)?;
        push_found(&self.labels[..k], top);
        Ok(())
    }

    fn search_batch(
        &mut self,
        queries: Vectors<'_>,
        out: &mut NeighborRows<'_>,
    ) -> Result<(), AdapterError> {
        let queries = row_queries::<f32>(queries, self.index.dim(), out)?;
        let k = out.k();
        self.run(queries.data(), k)?;
        for (i, labels) in self.labels.chunks_exact(k).take(queries.n()).enumerate() {
            push_found(labels, &mut out.row(i));
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        self.tally.counters()
    }
}
