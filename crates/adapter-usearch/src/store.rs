use crate::form::Form;
use crate::graph::Graph;
use crate::native::{Native, kind, text};
use crate::params::BuildParams;
use annbench_core::{AdapterError, BuildSpec};
use std::path::Path;

const NAME: &str = "index.usearch";

/// Writes the index into `dir`.
pub(crate) fn save(native: &Native, dir: &Path) -> Result<(), AdapterError> {
    let path = dir.join(NAME);
    native.save(text(&path)?)?;
    // The library does not look whether its last write reached the file.
    let expected = native.file_length() as u64;
    let found = std::fs::metadata(&path)
        .map_err(|e| AdapterError::Failed(format!("{}: {e}", path.display())))?
        .len();
    if found == expected {
        Ok(())
    } else {
        Err(AdapterError::Failed(format!(
            "{}: expected {expected} bytes, found {found}; is the disk full?",
            path.display()
        )))
    }
}

/// Reads what [`save`] wrote and checks that it is the build of `spec`.
///
/// The file does not hold `expansion_add`, which matters no more, nor `expansion_search`, which
/// every searcher sets.
pub(crate) fn load(
    dir: &Path,
    form: Form,
    params: &BuildParams,
    spec: &BuildSpec,
) -> Result<Graph, AdapterError> {
    let path = dir.join(NAME);
    let name = text(&path)?;
    // Before anything is read: the library would take over whatever the file says.
    let head = Native::metadata(name)?;
    let found = (
        head.count_present,
        head.dimensions,
        head.metric,
        head.quantization,
    );
    let expected = (
        spec.n as u64,
        spec.dim as u64,
        kind(spec.metric),
        params.quantization.kind(),
    );
    if found != expected {
        return Err(AdapterError::Failed(format!(
            "{name}: expected an index of (n, dim, metric, quantization) = {expected:?}, found \
             {found:?}"
        )));
    }
    let native = Native::new(spec.metric, spec.dim, params)?;
    native.load(name)?;
    let (found, expected) = (native.shape(), (spec.n, params.connectivity));
    if found != expected {
        return Err(AdapterError::Failed(format!(
            "{name}: expected an index of (n, connectivity) = {expected:?}, found {found:?}"
        )));
    }
    Ok(Graph::new(native, form, spec, 1))
}
