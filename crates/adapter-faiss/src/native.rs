use crate::ffi;
use annbench_core::AdapterError;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::{self, NonNull};

/// Where an index has an HNSW graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Graph {
    /// Its vectors are the vertices.
    Vectors,
    /// Its coarse centroids are the vertices.
    Centroids,
}

/// What of an index can be set per search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Inverted lists.
    pub(crate) nlist: Option<usize>,
    /// The graph in it.
    pub(crate) graph: Option<Graph>,
    /// Whether results are refined.
    pub(crate) refine: bool,
    /// Whether FAISS counts, process-wide, all distances that it computes.
    pub(crate) counted: bool,
}

/// Values for the parameters that the index has; the rest is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanValues {
    pub(crate) nprobe: u64,
    pub(crate) ef_search: i32,
    pub(crate) k_factor: u16,
}

/// A FAISS index. Searching it is safe from several threads; whatever changes it takes `&mut`.
#[derive(Debug)]
pub(crate) struct NativeIndex {
    raw: NonNull<ffi::RawIndex>,
}

// SAFETY: a CPU index has no thread affinity, and its const member functions may run on several
// threads at once (FAISS wiki, "Threads and asynchronous calls").
unsafe impl Send for NativeIndex {}
// SAFETY: as above; every `&self` function calls const member functions only.
unsafe impl Sync for NativeIndex {}

impl NativeIndex {
    /// An empty index as `factory` describes it.
    pub(crate) fn create(
        dim: usize,
        factory: &str,
        inner_product: bool,
    ) -> Result<Self, AdapterError> {
        Self::create_with(dim, factory, inner_product, true)
    }

    /// As [`NativeIndex::create`], without inverted lists: to be described, not filled.
    pub(crate) fn sketch(
        dim: usize,
        factory: &str,
        inner_product: bool,
    ) -> Result<Self, AdapterError> {
        Self::create_with(dim, factory, inner_product, false)
            .map_err(|error| refused(factory, error))
    }

    fn create_with(
        dim: usize,
        factory: &str,
        inner_product: bool,
        own_lists: bool,
    ) -> Result<Self, AdapterError> {
        let text = CString::new(factory).map_err(|_| {
            AdapterError::Rejected("parameter `index`: contains a NUL character".to_owned())
        })?;
        let dim = c_int::try_from(dim)
            .map_err(|_| AdapterError::Rejected(format!("dim {dim}: FAISS takes 32 bits")))?;
        let mut raw = ptr::null_mut();
        // SAFETY: `text` lives until the call returns; `raw` is written before it returns 0.
        let code = unsafe {
            ffi::annbench_faiss_create(
                dim,
                text.as_ptr(),
                c_int::from(inner_product),
                c_int::from(own_lists),
                &mut raw,
            )
        };
        outcome(code)?;
        Self::from_raw(raw)
    }

    fn from_raw(raw: *mut ffi::RawIndex) -> Result<Self, AdapterError> {
        NonNull::new(raw)
            .map(|raw| Self { raw })
            .ok_or_else(|| AdapterError::Failed("FAISS gave no index".to_owned()))
    }

    /// What can be set per search.
    pub(crate) fn shape(&self) -> Result<Shape, AdapterError> {
        let mut raw = ffi::RawShape::default();
        // SAFETY: the index is alive and `raw` has the shim's layout.
        outcome(unsafe { ffi::annbench_faiss_describe(self.raw.as_ptr(), &mut raw) })?;
        Ok(shape_from_raw(raw))
    }

    /// Sets efConstruction of the graph in it.
    pub(crate) fn set_ef_construction(&mut self, value: i32) -> Result<(), AdapterError> {
        // SAFETY: the index is alive and borrowed mutably.
        outcome(unsafe { ffi::annbench_faiss_set_ef_construction(self.raw.as_ptr(), value) })
    }

    /// Trains on `rows` (`[n, dim]` flat), where training is wanted, and adds them.
    pub(crate) fn fill(&mut self, rows: &[f32]) -> Result<(), AdapterError> {
        let n = rows.len() / self.size().1.max(1);
        // SAFETY: the index is alive and borrowed mutably; `rows` holds n whole rows.
        outcome(unsafe { ffi::annbench_faiss_fill(self.raw.as_ptr(), n as i64, rows.as_ptr()) })
    }

    /// (rows, components).
    pub(crate) fn size(&self) -> (usize, usize) {
        let (mut n, mut dim) = (0, 0);
        // SAFETY: the index is alive.
        unsafe { ffi::annbench_faiss_size(self.raw.as_ptr(), &mut n, &mut dim) };
        (
            usize::try_from(n).unwrap_or(0),
            usize::try_from(dim).unwrap_or(0),
        )
    }

    /// Writes it as FAISS does.
    pub(crate) fn write(&self, path: &Path) -> Result<(), AdapterError> {
        let name = c_path(path)?;
        // SAFETY: the index is alive; `name` lives until the call returns.
        outcome(unsafe { ffi::annbench_faiss_write(self.raw.as_ptr(), name.as_ptr()) })
            .map_err(|error| at(path, &error))
    }

    /// Reads what [`NativeIndex::write`] wrote.
    pub(crate) fn read(path: &Path) -> Result<Self, AdapterError> {
        let name = c_path(path)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `name` lives until the call returns; `raw` is written before it returns 0.
        outcome(unsafe { ffi::annbench_faiss_read(name.as_ptr(), &mut raw) })
            .map_err(|error| at(path, &error))?;
        Self::from_raw(raw)
    }

    /// Search parameters for this index.
    pub(crate) fn plan(&self, values: PlanValues, threads: usize) -> Result<Plan, AdapterError> {
        let threads = thread_count(threads)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the index is alive; `raw` is written before the call returns 0.
        outcome(unsafe {
            ffi::annbench_faiss_plan(
                self.raw.as_ptr(),
                values.nprobe,
                values.ef_search,
                f32::from(values.k_factor),
                threads,
                &mut raw,
            )
        })?;
        NonNull::new(raw)
            .map(|raw| Plan { raw })
            .ok_or_else(|| AdapterError::Failed("the shim gave no search plan".to_owned()))
    }

    /// Answers `queries` (`[n, dim]` flat) with k labels and distances each; a label is -1 where
    /// nothing was found.
    #[inline]
    pub(crate) fn search(
        &self,
        plan: &Plan,
        dim: usize,
        queries: &[f32],
        k: usize,
        distances: &mut [f32],
        labels: &mut [i64],
    ) -> Result<(), AdapterError> {
        let n = queries.len() / dim;
        assert!(n * dim == queries.len() && distances.len() == n * k && labels.len() == n * k);
        // SAFETY: index and plan are alive, and the lengths were just checked against n and k;
        // `dim` is the index's own.
        outcome(unsafe {
            ffi::annbench_faiss_search(
                self.raw.as_ptr(),
                plan.raw.as_ptr(),
                n as i64,
                queries.as_ptr(),
                k as i64,
                distances.as_mut_ptr(),
                labels.as_mut_ptr(),
            )
        })
    }
}

pub(crate) fn shape_from_raw(raw: ffi::RawShape) -> Shape {
    Shape {
        nlist: usize::try_from(raw.nlist).ok().filter(|&n| n > 0),
        graph: match raw.hnsw {
            0 => None,
            1 => Some(Graph::Vectors),
            _ => Some(Graph::Centroids),
        },
        refine: raw.refine != 0,
        counted: raw.counted != 0,
    }
}

impl Drop for NativeIndex {
    fn drop(&mut self) {
        // SAFETY: owned here and not used again.
        unsafe { ffi::annbench_faiss_free(self.raw.as_ptr()) };
    }
}

/// FAISS's search parameters for one index; outlives no thread and changes nothing.
#[derive(Debug)]
pub(crate) struct Plan {
    raw: NonNull<ffi::RawPlan>,
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: owned here and not used again.
        unsafe { ffi::annbench_faiss_plan_free(self.raw.as_ptr()) };
    }
}

/// Sets the threads of OpenMP on the calling thread and of OpenBLAS in the process.
pub(crate) fn set_threads(threads: usize) -> Result<(), AdapterError> {
    let threads = thread_count(threads)?;
    // SAFETY: no preconditions for a positive count.
    unsafe { ffi::annbench_faiss_set_threads(threads) };
    Ok(())
}

pub(crate) fn thread_count(threads: usize) -> Result<c_int, AdapterError> {
    match c_int::try_from(threads) {
        Ok(count) if count >= 1 => Ok(count),
        _ => Err(AdapterError::Rejected(format!(
            "threads: expected at least 1, found {threads}"
        ))),
    }
}

/// Scales each row of `rows` (`[n, dim]` flat) to length one; zero rows stay.
#[inline]
pub(crate) fn normalise(rows: &mut [f32], dim: usize) {
    // SAFETY: rows.len() / dim whole rows are within `rows`.
    unsafe {
        ffi::annbench_faiss_normalise((rows.len() / dim) as i64, dim as i64, rows.as_mut_ptr());
    }
}

/// A text that the shim keeps for the life of the process; `None` for a null.
pub(crate) fn static_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the shim's texts end in NUL and are never freed.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().trim().to_owned())
}

pub(crate) fn c_path(path: &Path) -> Result<CString, AdapterError> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| AdapterError::Failed(format!("{}: contains a NUL", path.display())))
}

#[inline]
pub(crate) fn outcome(code: c_int) -> Result<(), AdapterError> {
    if code == 0 {
        Ok(())
    } else {
        Err(failure(code))
    }
}

#[cold]
fn failure(code: c_int) -> AdapterError {
    // SAFETY: the text ends in NUL and stands until this thread's next call.
    let text = unsafe { CStr::from_ptr(ffi::annbench_faiss_error()) };
    let text = plain(&text.to_string_lossy());
    match code {
        2 => AdapterError::Rejected(text),
        3 => AdapterError::Failed(format!("{OUT_OF_MEMORY}{text}")),
        // FAISS collects what the threads of a parallel region threw into one exception of its own.
        _ if text.contains("std::bad_alloc") => {
            AdapterError::Failed(format!("{OUT_OF_MEMORY}{text}"))
        }
        _ => AdapterError::Failed(text),
    }
}

/// How the text of a failed allocation begins, which tells the runner its cause.
const OUT_OF_MEMORY: &str = "out of memory: ";

/// What to say when FAISS makes no index of `factory`: the point is refused, unless it was memory
/// that ran out.
pub(crate) fn refused(factory: &str, error: AdapterError) -> AdapterError {
    match error {
        AdapterError::Failed(text) if text.starts_with(OUT_OF_MEMORY) => AdapterError::Failed(text),
        other => AdapterError::Rejected(format!("index `{factory}`: {other}")),
    }
}

/// A failure to read or write `path`.
pub(crate) fn at(path: &Path, error: &AdapterError) -> AdapterError {
    let text = error.to_string();
    let (kind, rest) = match text.strip_prefix(OUT_OF_MEMORY) {
        Some(rest) => (OUT_OF_MEMORY, rest),
        None => ("", text.as_str()),
    };
    AdapterError::Failed(format!("{kind}{}: {rest}", path.display()))
}

/// What FAISS wants to say without where in its source it says so:
/// `Error in <function> at <file>:<line>: Error: '<condition>' failed: <text>`, possibly nested.
fn plain(text: &str) -> String {
    let mut rest = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    while let Some(inner) = rest.strip_prefix("Error in ").and_then(after_place) {
        rest = inner;
    }
    match rest.strip_prefix("Error: '") {
        None => rest.to_owned(),
        Some(assertion) => match assertion.split_once("' failed: ") {
            Some((_, said)) => said.to_owned(),
            None => format!("FAISS wants `{}`", assertion.trim_end_matches("' failed")),
        },
    }
}

/// What follows `<function> at <file>:<line>: `.
fn after_place(text: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(colon) = text[from..].find(": ") {
        let (before, after) = (&text[..from + colon], &text[from + colon + 2..]);
        let line = before.rsplit(':').next().unwrap_or_default();
        if before.contains(" at ") && !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) {
            return Some(after);
        }
        from += colon + 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_runs_out_is_told_as_such() {
        // 2^31 x 2^20 floats for the centroids: more than a process can address.
        let error = NativeIndex::create(i32::MAX as usize, "PQ1x20", false).unwrap_err();
        let said = AdapterError::Failed("out of memory: std::bad_alloc".to_owned());
        assert_eq!(error, said);
        assert_eq!(refused("PQ1x20", error), said);
        assert_eq!(
            at(Path::new("/tmp/i"), &said).to_string(),
            "out of memory: /tmp/i: std::bad_alloc"
        );
        // The text of a failure is not kept for the next one.
        let error = NativeIndex::create(8, "PQ3", false).unwrap_err();
        assert!(!error.to_string().contains("memory"), "{error}");
    }

    #[test]
    fn exception_texts_lose_their_place_in_the_source() {
        let nested = "Error in void faiss::IndexIVF::search(faiss::idx_t) const at \
                      /src/IndexIVF.cpp:382: Error in virtual void faiss::Level1Quantizer::x() at \
                      /src/a.cpp:7: Error: 'nx >= k' failed: Number of training points (5) should \
                      be at least 16\0";
        assert_eq!(
            plain(nested),
            "Number of training points (5) should be at least 16"
        );
        assert_eq!(
            plain("Error in f(std::string) at /a/b.cpp:3: Error: 'd % M == 0' failed"),
            "FAISS wants `d % M == 0`"
        );
        assert_eq!(
            plain("Error in f() at b.cpp:3: could not parse: Foo"),
            "could not parse: Foo"
        );
        assert_eq!(plain("stoi"), "stoi");
    }
}
