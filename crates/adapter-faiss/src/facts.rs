use crate::ffi;
use crate::native::static_text;
use std::collections::BTreeMap;

/// The FAISS version that is linked.
pub(crate) fn version() -> String {
    // SAFETY: no preconditions.
    static_text(unsafe { ffi::annbench_faiss_version() }).unwrap_or_default()
}

/// How FAISS was compiled and what it does with vectors before it searches.
pub(crate) fn build_facts() -> BTreeMap<String, String> {
    // SAFETY: none of these has preconditions.
    let (options, compiler, blas, cpu) = unsafe {
        (
            static_text(ffi::annbench_faiss_compile_options()),
            static_text(ffi::annbench_faiss_compiler()),
            static_text(ffi::annbench_faiss_blas()),
            ffi::annbench_faiss_cpu_checked(),
        )
    };
    let simd = match (options, cpu) {
        (Some(options), 0) => format!("{options} (baseline x86-64 or the machine's minimum)"),
        (Some(options), _) => options,
        (None, _) => "unknown".to_owned(),
    };
    [
        ("simd", simd),
        (
            "cxx_flags",
            env!("ANNBENCH_FAISS_CXX_FLAGS").trim().to_owned(),
        ),
        ("compiler", compiler.unwrap_or_else(|| "unknown".to_owned())),
        (
            "blas",
            blas.unwrap_or_else(|| "not OpenBLAS: its threads are not set".to_owned()),
        ),
        (
            "cosine",
            "base normalised during the build, each query inside the timed call \
             (fvec_renorm_L2); inner product"
                .to_owned(),
        ),
        (
            "bits",
            "binary indexes; ef_search and nprobe travel with the call, by HNSW::search and \
             IndexBinaryIVF::search_preassigned, since their own search reads them from the index"
                .to_owned(),
        ),
    ]
    .into_iter()
    .map(|(fact, value)| (fact.to_owned(), value))
    .collect()
}
