use crate::graph::{Graph, Push};
use crate::item::Item;
use crate::params::BuildParams;
use annbench_core::{AdapterError, BuildSpec};
use anndists::dist::distances::Distance;
use hnsw_rs::api::AnnT;
use hnsw_rs::hnsw::Hnsw;
use hnsw_rs::hnswio::HnswIo;
use std::fmt::Display;
use std::path::Path;

/// The library writes `<NAME>.hnsw.graph` and `<NAME>.hnsw.data`.
const NAME: &str = "index";
const SUFFIXES: [&str; 2] = ["hnsw.graph", "hnsw.data"];

/// Writes `hnsw` into `dir`.
pub(crate) fn save(hnsw: &impl AnnT, dir: &Path) -> Result<(), AdapterError> {
    // The library panics where it cannot create its files.
    if !dir.is_dir() {
        return Err(AdapterError::Failed(format!(
            "{}: not a directory",
            dir.display()
        )));
    }
    let name = hnsw
        .file_dump(dir, NAME)
        .map_err(|e| AdapterError::Failed(format!("{}: {e}", dir.display())))?;
    // A graph that was loaded is dumped beside an older dump under another name.
    if name == NAME {
        Ok(())
    } else {
        Err(AdapterError::Failed(format!(
            "{}: an older dump is in the way, hnsw_rs wrote `{name}`; save into an empty directory",
            dir.display()
        )))
    }
}

/// Reads what [`save`] wrote and checks that it is the build of `spec`. `read` is the library's
/// `HnswIo::load_hnsw` for the item and the distance, which it checks too.
pub(crate) fn load<T: Item, D: Distance<T> + Send + Sync + 'static, E: Display>(
    dir: &Path,
    params: BuildParams,
    spec: &BuildSpec,
    push: Option<Push<T>>,
    read: impl FnOnce(&'static mut HnswIo) -> Result<Hnsw<'static, T, D>, E>,
) -> Result<Graph<T, D>, AdapterError> {
    for suffix in SUFFIXES {
        let path = dir.join(format!("{NAME}.{suffix}"));
        if !path.is_file() {
            return Err(AdapterError::Failed(format!(
                "{}: no such file; save the index first",
                path.display()
            )));
        }
    }
    // The graph borrows the reader, for the sake of memory maps that are not used here. Leaking
    // it, some hundred bytes, frees the graph of the borrow.
    let reader: &'static mut HnswIo = Box::leak(Box::new(HnswIo::new(dir, NAME)));
    let hnsw = read(reader).map_err(|e| AdapterError::Failed(format!("{}: {e}", dir.display())))?;
    let found = (
        hnsw.get_nb_point(),
        hnsw.get_point_indexation().get_data_dimension(),
        usize::from(hnsw.get_max_nb_connection()),
        hnsw.get_ef_construction(),
    );
    let graph = Graph::new(hnsw, spec.dim, push);
    let expected = (
        spec.n,
        T::per_vector(spec.dim),
        params.m,
        params.ef_construction,
    );
    if found == expected {
        Ok(graph)
    } else {
        Err(AdapterError::Failed(format!(
            "{}: expected an index of (n, items per vector, m, ef_construction) = {expected:?}, found {found:?}",
            dir.display()
        )))
    }
}
