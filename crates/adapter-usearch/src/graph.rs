use crate::form::Form;
use crate::insert::add_all;
use crate::lanes::Lanes;
use crate::native::Native;
use crate::params::{BuildParams, SearchParams};
use crate::searcher::GraphSearcher;
use crate::store;
use annbench_core::{
    AdapterError, BuildSpec, Index, MemoryReport, Mode, SearchSpec, Searcher, Vectors,
};
use std::path::Path;

/// A built index, which owns its copy of the vectors.
pub(crate) struct Graph {
    native: Native,
    form: Form,
    dim: usize,
    lanes: Lanes,
}

impl Graph {
    /// Takes over a whole index with room for `threads` threads.
    pub(crate) fn new(native: Native, form: Form, spec: &BuildSpec, threads: usize) -> Self {
        Self {
            native,
            form,
            dim: spec.dim,
            lanes: Lanes::new(spec.n, threads),
        }
    }

    pub(crate) fn build(
        base: Vectors<'_>,
        form: Form,
        params: &BuildParams,
        spec: &BuildSpec,
    ) -> Result<Self, AdapterError> {
        let native = Native::new(spec.metric, spec.dim, params)?;
        native.reserve(spec.n, spec.threads)?;
        add_all(&native, base, form, spec.threads)?;
        Ok(Self::new(native, form, spec, spec.threads))
    }

    pub(crate) fn native(&self) -> &Native {
        &self.native
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }
}

impl Index for Graph {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        check_threads("search", spec.threads)?;
        let params = SearchParams::read(&spec.params, spec.k)?;
        match spec.mode {
            Mode::Single => Ok(Box::new(GraphSearcher::new(self, params, spec.threads)?)),
            Mode::Batch => Err(AdapterError::Unsupported("batch search")),
        }
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport {
            borrows_base: false,
            reported_bytes: Some(self.native.memory_usage() as u64),
        }
    }

    fn save(&self, dir: &Path) -> Result<(), AdapterError> {
        store::save(&self.native, dir)
    }
}

/// The library allocates buffers for as many threads as it is told, so that there is an end.
const MAX_THREADS: usize = 1024;

/// Refuses numbers of threads that are none, or more than buffers are made for.
pub(crate) fn check_threads(what: &str, threads: usize) -> Result<(), AdapterError> {
    if (1..=MAX_THREADS).contains(&threads) {
        Ok(())
    } else {
        Err(AdapterError::Rejected(format!(
            "{what} threads: expected 1 to {MAX_THREADS}, found {threads}"
        )))
    }
}
