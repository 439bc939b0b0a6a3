use crate::native::{NativeIndex, Shape, set_threads};
use crate::params::read_search;
use crate::searcher::FaissSearcher;
use annbench_core::{AdapterError, Index, MemoryReport, SearchSpec, Searcher};
use std::path::Path;

/// The file that an index is saved as.
pub(crate) const FILE: &str = "index.faiss";

/// A filled index, which owns what it needs of the vectors.
#[derive(Debug)]
pub(crate) struct FaissIndex {
    native: NativeIndex,
    shape: Shape,
    dim: usize,
    normalised: bool,
}

impl FaissIndex {
    /// Takes over a filled index. `normalised`: whether queries must be normalised too.
    pub(crate) fn new(native: NativeIndex, normalised: bool) -> Result<Self, AdapterError> {
        let shape = native.shape()?;
        let (_, dim) = native.size();
        Ok(Self {
            native,
            shape,
            dim,
            normalised,
        })
    }

    pub(crate) fn native(&self) -> &NativeIndex {
        &self.native
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn normalised(&self) -> bool {
        self.normalised
    }
}

impl Index for FaissIndex {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        let values = read_search(&spec.params, self.shape, spec.k)?;
        let threads = match spec.mode {
            annbench_core::Mode::Single => 1,
            annbench_core::Mode::Batch => spec.threads,
        };
        set_threads(threads)?;
        let plan = self.native.plan(values, threads)?;
        Ok(Box::new(FaissSearcher::new(self, plan, spec.k)))
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport::default()
    }

    fn save(&self, dir: &Path) -> Result<(), AdapterError> {
        self.native.write(&dir.join(FILE))
    }
}
