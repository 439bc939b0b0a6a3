use super::native::BinaryIndex;
use super::searcher::BinarySearcher;
use crate::index::FILE;
use crate::native::{Shape, set_threads};
use crate::params::{BuildParams, read_search};
use annbench_core::{
    AdapterError, BuildSpec, Index, MemoryReport, Mode, SearchSpec, Searcher, Vectors, bit_base,
};
use std::path::Path;

/// Builds what `params` says over `base`.
pub(crate) fn build(
    base: Vectors<'_>,
    spec: &BuildSpec,
    params: &BuildParams,
) -> Result<Box<dyn Index>, AdapterError> {
    let rows = bit_base(base, spec)?;
    set_threads(spec.threads)?;
    let mut native = BinaryIndex::create(spec.dim, &params.index)?;
    if let Some(ef_construction) = params.ef_construction {
        native.set_ef_construction(ef_construction)?;
    }
    native.fill(rows.bytes().data())?;
    Ok(Box::new(FaissBinary::new(native)?))
}

/// Reads what [`Index::save`] wrote into `dir` and checks that it is `shape` over `base`.
pub(crate) fn load(
    dir: &Path,
    base: Vectors<'_>,
    spec: &BuildSpec,
    shape: Shape,
) -> Result<Box<dyn Index>, AdapterError> {
    bit_base(base, spec)?;
    let path = dir.join(FILE);
    let native = BinaryIndex::read(&path)?;
    let found = native.size();
    let index = FaissBinary::new(native)?;
    if found != (spec.n, spec.dim) || index.shape != shape {
        return Err(AdapterError::Failed(format!(
            "{}: expected {} x {} bits and {shape:?}, found {} x {} and {:?}",
            path.display(),
            spec.n,
            spec.dim,
            found.0,
            found.1,
            index.shape
        )));
    }
    Ok(Box::new(index))
}

/// A filled index of bits, which owns its copy of them.
#[derive(Debug)]
pub(crate) struct FaissBinary {
    native: BinaryIndex,
    shape: Shape,
    dim: usize,
}

impl FaissBinary {
    fn new(native: BinaryIndex) -> Result<Self, AdapterError> {
        let shape = native.shape()?;
        let (_, dim) = native.size();
        Ok(Self { native, shape, dim })
    }

    pub(super) fn native(&self) -> &BinaryIndex {
        &self.native
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Bits per row.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }
}

impl Index for FaissBinary {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        let values = read_search(&spec.params, self.shape, spec.k)?;
        let threads = match spec.mode {
            Mode::Single => 1,
            Mode::Batch => spec.threads,
        };
        set_threads(threads)?;
        let plan = self.native.plan(values, threads)?;
        Ok(Box::new(BinarySearcher::new(self, plan, spec.k)))
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport::default()
    }

    fn save(&self, dir: &Path) -> Result<(), AdapterError> {
        self.native.write(&dir.join(FILE))
    }
}
