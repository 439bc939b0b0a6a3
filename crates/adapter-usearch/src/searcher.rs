use crate::graph::Graph;
use crate::lanes::Lane;
use crate::params::SearchParams;
use annbench_core::{AdapterError, Searcher, TopK, Vector};
use std::sync::Arc;

/// One search point on one index.
pub(crate) struct GraphSearcher<'i> {
    graph: &'i Graph,
    params: SearchParams,
    lane: Arc<Lane>,
    /// A query as the library wants it, where it must be widened.
    scratch: Vec<f32>,
}

impl<'i> GraphSearcher<'i> {
    pub(crate) fn new(
        graph: &'i Graph,
        params: SearchParams,
        threads: usize,
    ) -> Result<Self, AdapterError> {
        Ok(Self {
            graph,
            params,
            lane: graph.lanes().open(graph.native(), threads)?,
            scratch: Vec::with_capacity(graph.dim()),
        })
    }
}

impl Searcher for GraphSearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let Self { graph, .. } = *self;
        let query = graph.form().hand(query, graph.dim(), &mut self.scratch)?;
        let native = graph.native();
        let expansion = self.params.expansion_search;
        let in_force = graph.lanes().enter(native, &self.lane, expansion);
        let found = native.search(query, top.k());
        drop(in_force);
        top.extend(found?);
        Ok(())
    }
}

impl Drop for GraphSearcher<'_> {
    fn drop(&mut self) {
        self.graph.lanes().close(&self.lane);
    }
}
