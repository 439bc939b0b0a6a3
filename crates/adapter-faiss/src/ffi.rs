//! The functions of the shim, in the order of its files. Those that return an int give 0, or 1
//! (failed), 2 (refused) or 3 (out of memory) with a text in [`annbench_faiss_error`]; none lets an
//! exception out.

use std::ffi::{c_char, c_int};

/// `faiss::Index`.
#[repr(C)]
pub(crate) struct RawIndex {
    _private: [u8; 0],
}

/// FAISS's search parameters for one index.
#[repr(C)]
pub(crate) struct RawPlan {
    _private: [u8; 0],
}

/// `faiss::IndexBinary`.
#[repr(C)]
pub(crate) struct RawBinaryIndex {
    _private: [u8; 0],
}

/// `AnnbenchFaissBinaryPlan`.
#[repr(C)]
pub(crate) struct RawBinaryPlan {
    _private: [u8; 0],
}

/// `AnnbenchFaissShape`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawShape {
    pub(crate) nlist: i64,
    pub(crate) hnsw: i32,
    pub(crate) refine: i32,
    pub(crate) counted: i32,
}

unsafe extern "C" {
    pub(crate) fn annbench_faiss_cpu_checked() -> u32;

    pub(crate) fn annbench_faiss_error() -> *const c_char;
    pub(crate) fn annbench_faiss_version() -> *const c_char;
    pub(crate) fn annbench_faiss_compile_options() -> *const c_char;
    pub(crate) fn annbench_faiss_compiler() -> *const c_char;
    pub(crate) fn annbench_faiss_blas() -> *const c_char;
    pub(crate) fn annbench_faiss_set_threads(threads: c_int);

    pub(crate) fn annbench_faiss_create(
        dim: c_int,
        factory: *const c_char,
        inner_product: c_int,
        own_lists: c_int,
        out: *mut *mut RawIndex,
    ) -> c_int;
    pub(crate) fn annbench_faiss_free(index: *mut RawIndex);
    pub(crate) fn annbench_faiss_describe(index: *const RawIndex, out: *mut RawShape) -> c_int;
    pub(crate) fn annbench_faiss_set_ef_construction(
        index: *mut RawIndex,
        ef_construction: c_int,
    ) -> c_int;
    pub(crate) fn annbench_faiss_fill(index: *mut RawIndex, n: i64, rows: *const f32) -> c_int;
    pub(crate) fn annbench_faiss_write(index: *const RawIndex, path: *const c_char) -> c_int;
    pub(crate) fn annbench_faiss_read(path: *const c_char, out: *mut *mut RawIndex) -> c_int;
    pub(crate) fn annbench_faiss_size(index: *const RawIndex, n: *mut i64, dim: *mut i64);
    pub(crate) fn annbench_faiss_normalise(n: i64, dim: i64, rows: *mut f32);

    pub(crate) fn annbench_faiss_plan(
        index: *const RawIndex,
        nprobe: u64,
        ef_search: c_int,
        k_factor: f32,
        threads: c_int,
        out: *mut *mut RawPlan,
    ) -> c_int;
    pub(crate) fn annbench_faiss_plan_free(plan: *mut RawPlan);
    pub(crate) fn annbench_faiss_search(
        index: *const RawIndex,
        plan: *const RawPlan,
        n: i64,
        queries: *const f32,
        k: i64,
        distances: *mut f32,
        labels: *mut i64,
    ) -> c_int;
    pub(crate) fn annbench_faiss_hnsw_counters(distances: *mut u64, visited: *mut u64);
    pub(crate) fn annbench_faiss_ivf_counters(distances: *mut u64, visited: *mut u64);

    pub(crate) fn annbench_faiss_binary_create(
        dim: c_int,
        factory: *const c_char,
        out: *mut *mut RawBinaryIndex,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_free(index: *mut RawBinaryIndex);
    pub(crate) fn annbench_faiss_binary_describe(
        index: *const RawBinaryIndex,
        out: *mut RawShape,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_set_ef_construction(
        index: *mut RawBinaryIndex,
        ef_construction: c_int,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_fill(
        index: *mut RawBinaryIndex,
        n: i64,
        rows: *const u8,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_write(
        index: *const RawBinaryIndex,
        path: *const c_char,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_read(
        path: *const c_char,
        out: *mut *mut RawBinaryIndex,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_size(
        index: *const RawBinaryIndex,
        n: *mut i64,
        dim: *mut i64,
    );
    pub(crate) fn annbench_faiss_binary_plan(
        index: *const RawBinaryIndex,
        nprobe: u64,
        ef_search: c_int,
        threads: c_int,
        out: *mut *mut RawBinaryPlan,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_plan_free(plan: *mut RawBinaryPlan);
    pub(crate) fn annbench_faiss_binary_search(
        index: *const RawBinaryIndex,
        plan: *mut RawBinaryPlan,
        n: i64,
        queries: *const u8,
        k: i64,
        distances: *mut i32,
        labels: *mut i64,
    ) -> c_int;
    #[cfg(test)]
    pub(crate) fn annbench_faiss_binary_search_as_faiss(
        index: *mut RawBinaryIndex,
        nprobe: u64,
        ef_search: c_int,
        n: i64,
        queries: *const u8,
        k: i64,
        distances: *mut i32,
        labels: *mut i64,
    ) -> c_int;
    pub(crate) fn annbench_faiss_binary_graph_counters(
        plan: *const RawBinaryPlan,
        distances: *mut u64,
        hops: *mut u64,
    );
}
