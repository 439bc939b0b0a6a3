use std::collections::BTreeMap;

/// Thread variables of a worker: set before the executable starts, since most libraries read them
/// once. `threads` is the larger of build and search threads; within it the adapter sets each
/// stage's own number.
///
/// Waiting threads sleep instead of spinning, so that an idle pool does not take CPU time from the
/// thread that is measured.
pub fn thread_variables(threads: usize) -> BTreeMap<String, String> {
    let count = threads.to_string();
    [
        ("OMP_NUM_THREADS", count.as_str()),
        ("OPENBLAS_NUM_THREADS", &count),
        ("GOTO_NUM_THREADS", &count),
        ("MKL_NUM_THREADS", &count),
        ("BLIS_NUM_THREADS", &count),
        ("VECLIB_MAXIMUM_THREADS", &count),
        ("RAYON_NUM_THREADS", &count),
        ("TOKIO_WORKER_THREADS", &count),
        ("OMP_DYNAMIC", "FALSE"),
        ("OMP_WAIT_POLICY", "PASSIVE"),
        ("KMP_BLOCKTIME", "0"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}
