use crate::form::Handed;
use crate::params::BuildParams;
use crate::quantization::Quantization;
use annbench_core::{AdapterError, Metric};
use std::path::Path;
use usearch::{Index, IndexMetadata, IndexOptions, MetricKind};

/// The library's index with errors of ours.
///
/// Adding and searching take no more threads at once than were reserved; the library answers with
/// an error where they do. Whatever changes the index as a whole, [`Native::reserve`] and
/// [`Native::set_expansion_search`], must not run beside a search: the library has no lock for it.
pub(crate) struct Native(Index);

impl Native {
    /// An empty index of `dim` components, or bits.
    pub(crate) fn new(
        metric: Metric,
        dim: usize,
        params: &BuildParams,
    ) -> Result<Self, AdapterError> {
        let options = IndexOptions {
            dimensions: dim,
            metric: kind(metric),
            quantization: params.quantization.kind(),
            connectivity: params.connectivity,
            expansion_add: params.expansion_add,
            // In force until a searcher says otherwise.
            expansion_search: 1,
            multi: false,
        };
        Index::new(&options).map(Self).map_err(failed)
    }

    /// Which instructions distances of `metric` are computed with.
    pub(crate) fn kernel(metric: Metric, quantization: Quantization) -> Option<String> {
        let params = BuildParams {
            connectivity: 2,
            expansion_add: 1,
            quantization,
        };
        let index = Self::new(metric, 64, &params).ok()?;
        Some(index.0.hardware_acceleration())
    }

    /// Room for `rows` points and for `threads` threads at once. Never shrinks.
    pub(crate) fn reserve(&self, rows: usize, threads: usize) -> Result<(), AdapterError> {
        self.0
            .reserve_capacity_and_threads(rows, threads)
            .map_err(failed)
    }

    pub(crate) fn set_expansion_search(&self, expansion: usize) {
        self.0.change_expansion_search(expansion);
    }

    pub(crate) fn add(&self, id: usize, vector: Handed<'_>) -> Result<(), AdapterError> {
        let key = id as u64;
        match vector {
            Handed::F32(v) => self.0.add(key, v),
            Handed::F16(v) => self.0.add(key, v),
            Handed::I8(v) => self.0.add(key, v),
            Handed::U8(v) => self.0.add(key, v),
            Handed::Bits(v) => self.0.add(key, v),
        }
        .map_err(|e| with_memory(format!("row {id}: {e}")))
    }

    /// Ids, nearest first, at most `k`.
    #[inline]
    pub(crate) fn search(&self, query: Handed<'_>, k: usize) -> Result<Vec<u64>, AdapterError> {
        match query {
            Handed::F32(v) => self.0.search(v, k),
            Handed::F16(v) => self.0.search(v, k),
            Handed::I8(v) => self.0.search(v, k),
            Handed::U8(v) => self.0.search(v, k),
            Handed::Bits(v) => self.0.search(v, k),
        }
        .map(|matches| matches.keys)
        .map_err(failed)
    }

    /// What the library says it has allocated.
    pub(crate) fn memory_usage(&self) -> usize {
        self.0.memory_usage()
    }

    /// Bytes of the file that [`Native::save`] writes.
    pub(crate) fn file_length(&self) -> usize {
        self.0.serialized_length()
    }

    pub(crate) fn save(&self, path: &str) -> Result<(), AdapterError> {
        self.0.save(path).map_err(|e| at(path, &e))
    }

    /// Replaces the contents by those of a file.
    pub(crate) fn load(&self, path: &str) -> Result<(), AdapterError> {
        self.0.load(path).map_err(|e| at(path, &e))
    }

    /// What the head of a file says.
    pub(crate) fn metadata(path: &str) -> Result<IndexMetadata, AdapterError> {
        Index::metadata(path).map_err(|e| at(path, &e))
    }

    /// Points and links per point.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.0.size(), self.0.connectivity())
    }
}

/// The library's name of `metric`. Its inner product is 1 - q·x and so in the order of ours. Its
/// jaccard has two empty sets at distance 0 and ours at 1: an empty query finds the empty rows
/// first, where all rows are equally near.
pub(crate) fn kind(metric: Metric) -> MetricKind {
    match metric {
        Metric::L2 => MetricKind::L2sq,
        Metric::InnerProduct => MetricKind::IP,
        Metric::Cosine => MetricKind::Cos,
        Metric::Hamming => MetricKind::Hamming,
        Metric::Jaccard => MetricKind::Tanimoto,
        // The library makes no index of it and says so.
        _ => MetricKind::Unknown,
    }
}

/// A path as the library takes it.
pub(crate) fn text(path: &Path) -> Result<&str, AdapterError> {
    path.to_str().ok_or_else(|| {
        AdapterError::Failed(format!(
            "{}: expected a path of UTF-8 text, as usearch takes no other",
            path.display()
        ))
    })
}

fn at(path: &str, error: &impl std::fmt::Display) -> AdapterError {
    with_memory(format!("{path}: {error}"))
}

fn failed(error: impl std::fmt::Display) -> AdapterError {
    with_memory(error.to_string())
}

/// How the text of a failed allocation begins, which tells the runner its cause.
const OUT_OF_MEMORY: &str = "out of memory: ";

/// Marks the texts that usearch and C++ have for allocations that failed.
fn with_memory(text: String) -> AdapterError {
    const TOLD: [&str; 6] = [
        "bad_alloc",
        "Out of memory",
        "to allocate",
        "to reserve memory",
        "to grow cast buffer",
        "to map the key to its slot",
    ];
    if TOLD.iter().any(|words| text.contains(words)) {
        AdapterError::Failed(format!("{OUT_OF_MEMORY}{text}"))
    } else {
        AdapterError::Failed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: BuildParams = BuildParams {
        connectivity: 4,
        expansion_add: 8,
        quantization: Quantization::F32,
    };

    #[test]
    fn errors_of_the_library_arrive() {
        let index = Native::new(Metric::L2, 2, &PARAMS).unwrap();
        index.reserve(1, 1).unwrap();
        index.add(0, Handed::F32(&[1.0, 2.0])).unwrap();
        for (id, vector, says) in [
            (0, [1.0, 2.0].as_slice(), "row 0: Duplicate keys"),
            (1, &[1.0, 2.0], "row 1: Reserve capacity"),
            (2, &[1.0], "row 2: Vector length"),
        ] {
            let error = index.add(id, Handed::F32(vector)).unwrap_err();
            assert!(error.to_string().starts_with(says), "{error}");
        }
        let error = index.search(Handed::F32(&[1.0]), 1).unwrap_err();
        assert!(error.to_string().contains("Vector length"), "{error}");
    }

    #[test]
    fn memory_that_runs_out_is_told_as_such() {
        let index = Native::new(Metric::L2, 2, &PARAMS).unwrap();
        // 2^50 pointers: more than a process can address.
        let error = index.reserve(1 << 50, 1).unwrap_err().to_string();
        assert!(error.starts_with("out of memory: "), "{error}");
    }
}
