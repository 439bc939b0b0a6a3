//! Made data, points and answers for the adapter's own tests.
#![allow(dead_code, reason = "each test uses some of it")]

use annbench_adapter_usearch::Usearch;
use annbench_core::{
    Adapter, AdapterError, BuildSpec, ElementType, Index, Metric, ParamValue, Params, PointSpec,
    SearchSpec, Searcher, TopK, Vector, Vectors,
};

/// `n` numbers from -1 to 1 (SplitMix64).
pub fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..n)
        .map(|_| (next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0)
        .collect()
}

pub fn build_spec(
    metric: Metric,
    element: ElementType,
    n: usize,
    dim: usize,
    quantization: &str,
) -> BuildSpec {
    let params = Params::new()
        .with("connectivity", ParamValue::Int(8))
        .with("expansion_add", ParamValue::Int(64))
        .with("quantization", ParamValue::Text(quantization.to_owned()));
    BuildSpec::new(metric, element, n, dim, params)
}

pub fn search_spec(k: usize, expansion: i64) -> SearchSpec {
    let params = Params::new().with("expansion_search", ParamValue::Int(expansion));
    SearchSpec::new(k, params)
}

/// What `check` says of a build searched by one thread at k = 10.
pub fn check(build: BuildSpec) -> Result<(), AdapterError> {
    Usearch.check(&PointSpec {
        build,
        search: search_spec(10, 100),
    })
}

pub fn build<'b>(base: Vectors<'b>, spec: &BuildSpec) -> Box<dyn Index + 'b> {
    (Usearch.build(base, spec)).unwrap_or_else(|e| panic!("build with {}: {e}", spec.params))
}

/// The slots of one answer.
pub fn answer(searcher: &mut dyn Searcher, query: Vector<'_>, k: usize) -> Vec<u32> {
    let mut slots = vec![0; k];
    let (mut returned, mut kept, mut invalid) = (0, Vec::new(), 0);
    let mut top = TopK::new(&mut slots, &mut returned, 0, &mut kept, &mut invalid);
    searcher.search(query, &mut top).expect("a search");
    assert_eq!((invalid, returned as usize <= k), (0, true));
    slots
}
