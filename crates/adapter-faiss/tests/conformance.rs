//! The adapter under the suite that every adapter must pass, over the kinds of index that differ
//! in how their search parameters travel.

use annbench_adapter_faiss::Faiss;
use annbench_conformance::{Example, check_adapter};
use annbench_core::{ElementType, ParamValue, Params};

fn ints(values: &[(&str, i64)]) -> Params {
    values.iter().fold(Params::new(), |params, (name, value)| {
        params.with(name, ParamValue::Int(*value))
    })
}

fn index(factory: &str) -> Params {
    Params::new().with("index", ParamValue::Text(factory.to_owned()))
}

fn conforms(example: Example) {
    run(example.only(&[ElementType::F32]));
}

fn conforms_on_bits(example: Example) {
    run(example.only(&[ElementType::Bits]));
}

fn run(example: Example) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    check_adapter(&Faiss, &example, scratch.path());
}

#[test]
fn flat() {
    conforms(Example::new(index("Flat"), Params::new()).with_min_recall(1.0));
}

#[test]
fn hnsw() {
    let build = index("HNSW8").with("ef_construction", ParamValue::Int(60));
    conforms(
        Example::new(build, ints(&[("ef_search", 1000)])).with_hasty(ints(&[("ef_search", 10)])),
    );
}

#[test]
fn hnsw_over_codes() {
    conforms(
        Example::new(index("HNSW8_SQ8"), ints(&[("ef_search", 1000)]))
            .with_hasty(ints(&[("ef_search", 10)]))
            .with_min_recall(0.9),
    );
}

#[test]
fn inverted_lists() {
    conforms(
        Example::new(index("IVF16,Flat"), ints(&[("nprobe", 16)]))
            .with_hasty(ints(&[("nprobe", 1)]))
            .with_min_recall(1.0),
    );
}

#[test]
fn inverted_lists_under_a_graph_of_centroids() {
    conforms(
        Example::new(
            index("IVF16_HNSW4,Flat"),
            ints(&[("nprobe", 16), ("ef_search", 64)]),
        )
        .with_hasty(ints(&[("nprobe", 1), ("ef_search", 1)]))
        .with_min_recall(0.99),
    );
}

#[test]
fn fast_scan_with_refinement() {
    conforms(
        Example::new(
            index("IVF8,PQ10x4fs,RFlat"),
            ints(&[("nprobe", 8), ("k_factor_rf", 40)]),
        )
        .with_hasty(ints(&[("nprobe", 1), ("k_factor_rf", 1)]))
        .with_min_recall(0.9),
    );
}

#[test]
fn a_chain_of_transforms() {
    conforms(
        Example::new(
            index("PCA16,RR16,IVF8,PQ8x4,Refine(SQfp16)"),
            ints(&[("nprobe", 8), ("k_factor_rf", 20)]),
        )
        .with_hasty(ints(&[("nprobe", 1), ("k_factor_rf", 1)]))
        .with_min_recall(0.9),
    );
}

#[test]
fn flat_bits() {
    conforms_on_bits(Example::new(index("BFlat"), Params::new()).with_min_recall(1.0));
}

#[test]
fn hnsw_of_bits() {
    let build = index("BHNSW8").with("ef_construction", ParamValue::Int(60));
    conforms_on_bits(
        Example::new(build, ints(&[("ef_search", 1000)])).with_hasty(ints(&[("ef_search", 10)])),
    );
}

#[test]
fn inverted_lists_of_bits() {
    conforms_on_bits(
        Example::new(index("BIVF16"), ints(&[("nprobe", 16)]))
            .with_hasty(ints(&[("nprobe", 1)]))
            .with_min_recall(1.0),
    );
}

#[test]
fn inverted_lists_of_bits_under_a_graph_of_centroids() {
    let build = index("BIVF16_HNSW4").with("ef_construction", ParamValue::Int(60));
    conforms_on_bits(
        Example::new(build, ints(&[("nprobe", 16), ("ef_search", 64)]))
            .with_hasty(ints(&[("nprobe", 1), ("ef_search", 1)]))
            .with_min_recall(0.99),
    );
}
