use crate::ffi;
use crate::native::{PlanValues, Shape, at, c_path, outcome, shape_from_raw, thread_count};
use annbench_core::AdapterError;
use std::ffi::{CString, c_int};
use std::path::Path;
use std::ptr::{self, NonNull};

/// A FAISS index of bits. Searching it is safe from several threads; whatever changes it takes
/// `&mut`.
#[derive(Debug)]
pub(crate) struct BinaryIndex {
    raw: NonNull<ffi::RawBinaryIndex>,
}

// SAFETY: a CPU index has no thread affinity, and its const member functions may run on several
// threads at once (FAISS wiki, "Threads and asynchronous calls").
unsafe impl Send for BinaryIndex {}
// SAFETY: as above; every `&self` function calls const member functions only.
unsafe impl Sync for BinaryIndex {}

impl BinaryIndex {
    /// An empty index of `dim` bits, a multiple of 8, as `factory` describes it.
    pub(crate) fn create(dim: usize, factory: &str) -> Result<Self, AdapterError> {
        let text = CString::new(factory).map_err(|_| {
            AdapterError::Rejected("parameter `index`: contains a NUL character".to_owned())
        })?;
        let dim = c_int::try_from(dim)
            .map_err(|_| AdapterError::Rejected(format!("dim {dim}: FAISS takes 32 bits")))?;
        let mut raw = ptr::null_mut();
        // SAFETY: `text` lives until the call returns; `raw` is written before it returns 0.
        outcome(unsafe { ffi::annbench_faiss_binary_create(dim, text.as_ptr(), &mut raw) })?;
        Self::from_raw(raw)
    }

    fn from_raw(raw: *mut ffi::RawBinaryIndex) -> Result<Self, AdapterError> {
        NonNull::new(raw)
            .map(|raw| Self { raw })
            .ok_or_else(|| AdapterError::Failed("FAISS gave no index".to_owned()))
    }

    /// What can be set per search.
    pub(crate) fn shape(&self) -> Result<Shape, AdapterError> {
        let mut raw = ffi::RawShape::default();
        // SAFETY: the index is alive and `raw` has the shim's layout.
        outcome(unsafe { ffi::annbench_faiss_binary_describe(self.raw.as_ptr(), &mut raw) })?;
        Ok(shape_from_raw(raw))
    }

    /// Sets efConstruction of the graph in it.
    pub(crate) fn set_ef_construction(&mut self, value: i32) -> Result<(), AdapterError> {
        // SAFETY: the index is alive and borrowed mutably.
        outcome(unsafe { ffi::annbench_faiss_binary_set_ef_construction(self.raw.as_ptr(), value) })
    }

    /// Trains on `rows` (`[n, dim / 8]` flat), where training is wanted, and adds them.
    pub(crate) fn fill(&mut self, rows: &[u8]) -> Result<(), AdapterError> {
        let n = rows.len() / self.width().max(1);
        // FAISS counts the vertices of each level and does not survive that there is none.
        if n == 0 {
            return Ok(());
        }
        // SAFETY: the index is alive and borrowed mutably; `rows` holds n whole rows.
        outcome(unsafe {
            ffi::annbench_faiss_binary_fill(self.raw.as_ptr(), n as i64, rows.as_ptr())
        })
    }

    /// (rows, bits).
    pub(crate) fn size(&self) -> (usize, usize) {
        let (mut n, mut dim) = (0, 0);
        // SAFETY: the index is alive.
        unsafe { ffi::annbench_faiss_binary_size(self.raw.as_ptr(), &mut n, &mut dim) };
        (
            usize::try_from(n).unwrap_or(0),
            usize::try_from(dim).unwrap_or(0),
        )
    }

    /// Bytes per row.
    fn width(&self) -> usize {
        self.size().1 / 8
    }

    /// Writes it as FAISS does.
    pub(crate) fn write(&self, path: &Path) -> Result<(), AdapterError> {
        let name = c_path(path)?;
        // SAFETY: the index is alive; `name` lives until the call returns.
        outcome(unsafe { ffi::annbench_faiss_binary_write(self.raw.as_ptr(), name.as_ptr()) })
            .map_err(|error| at(path, &error))
    }

    /// Reads what [`BinaryIndex::write`] wrote.
    pub(crate) fn read(path: &Path) -> Result<Self, AdapterError> {
        let name = c_path(path)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `name` lives until the call returns; `raw` is written before it returns 0.
        outcome(unsafe { ffi::annbench_faiss_binary_read(name.as_ptr(), &mut raw) })
            .map_err(|error| at(path, &error))?;
        Self::from_raw(raw)
    }

    /// How one searcher searches this index.
    pub(crate) fn plan(
        &self,
        values: PlanValues,
        threads: usize,
    ) -> Result<BinaryPlan, AdapterError> {
        let threads = thread_count(threads)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the index is alive; `raw` is written before the call returns 0.
        outcome(unsafe {
            ffi::annbench_faiss_binary_plan(
                self.raw.as_ptr(),
                values.nprobe,
                values.ef_search,
                threads,
                &mut raw,
            )
        })?;
        NonNull::new(raw)
            .map(|raw| BinaryPlan { raw })
            .ok_or_else(|| AdapterError::Failed("the shim gave no search plan".to_owned()))
    }

    /// Answers `queries` (`[n, width]` flat, `width` the bytes of a row) with k labels and distances
    /// each; a label is -1 where nothing was found.
    #[inline]
    pub(crate) fn search(
        &self,
        plan: &mut BinaryPlan,
        width: usize,
        queries: &[u8],
        k: usize,
        distances: &mut [i32],
        labels: &mut [i64],
    ) -> Result<(), AdapterError> {
        let n = queries.len() / width;
        assert!(n * width == queries.len() && distances.len() == n * k && labels.len() == n * k);
        // SAFETY: index and plan are alive, the plan is this index's and borrowed mutably, and the
        // lengths were just checked against n and k; `width` is the index's own.
        outcome(unsafe {
            ffi::annbench_faiss_binary_search(
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

impl Drop for BinaryIndex {
    fn drop(&mut self) {
        // SAFETY: owned here and not used again.
        unsafe { ffi::annbench_faiss_binary_free(self.raw.as_ptr()) };
    }
}

/// The parameters of one searcher of one index, which must outlive it, and what its searches did.
#[derive(Debug)]
pub(crate) struct BinaryPlan {
    raw: NonNull<ffi::RawBinaryPlan>,
}

impl BinaryPlan {
    /// Distances computed and vertices visited in a graph since the plan was made.
    pub(crate) fn graph_counters(&self) -> (u64, u64) {
        let (mut distances, mut hops) = (0, 0);
        // SAFETY: the plan is alive and no search of it runs, since that borrows it mutably.
        unsafe {
            ffi::annbench_faiss_binary_graph_counters(self.raw.as_ptr(), &mut distances, &mut hops);
        }
        (distances, hops)
    }
}

impl Drop for BinaryPlan {
    fn drop(&mut self) {
        // SAFETY: owned here and not used again.
        unsafe { ffi::annbench_faiss_binary_plan_free(self.raw.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 16;
    const N: usize = 600;
    const QUERIES: usize = 50;
    const K: usize = 10;

    fn made_rows(n: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        (0..n * WIDTH)
            .map(|_| {
                state = state
                    .wrapping_mul(0x5851_f42d_4c95_7f2d)
                    .wrapping_add(0x1405_7b7e_f767_814f);
                (state >> 56) as u8 & (state >> 48) as u8
            })
            .collect()
    }

    /// The searches of the shim are FAISS's own with the parameters elsewhere: same labels and
    /// distances, bit for bit.
    #[test]
    fn a_plan_answers_as_faiss_does_with_the_same_values_in_the_index() {
        crate::native::set_threads(1).unwrap();
        let (rows, queries) = (made_rows(N, 1), made_rows(QUERIES, 2));
        for factory in ["BFlat", "BHNSW4", "BIVF24", "BIVF24_HNSW4"] {
            let mut index = BinaryIndex::create(WIDTH * 8, factory).unwrap();
            index.fill(&rows).unwrap();
            for (nprobe, ef_search) in [(1, 10), (3, 20), (24, 100)] {
                let mut plan = index
                    .plan(
                        PlanValues {
                            nprobe,
                            ef_search,
                            k_factor: 1,
                        },
                        1,
                    )
                    .unwrap();
                let mut ours = (vec![0; QUERIES * K], vec![0; QUERIES * K]);
                index
                    .search(&mut plan, WIDTH, &queries, K, &mut ours.0, &mut ours.1)
                    .unwrap();
                let mut theirs = (vec![0; QUERIES * K], vec![0; QUERIES * K]);
                // SAFETY: the index is alive and borrowed by nothing else; the lengths fit.
                outcome(unsafe {
                    ffi::annbench_faiss_binary_search_as_faiss(
                        index.raw.as_ptr(),
                        nprobe,
                        ef_search,
                        QUERIES as i64,
                        queries.as_ptr(),
                        K as i64,
                        theirs.0.as_mut_ptr(),
                        theirs.1.as_mut_ptr(),
                    )
                })
                .unwrap();
                assert_eq!(ours, theirs, "{factory} nprobe {nprobe} ef {ef_search}");
            }
        }
    }
}
