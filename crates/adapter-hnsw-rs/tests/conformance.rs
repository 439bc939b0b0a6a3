//! The adapter under the suite that every adapter must pass.

use annbench_adapter_hnsw_rs::HnswRs;
use annbench_conformance::{Example, check_adapter};
use annbench_core::{ElementType, ParamValue, Params};

#[test]
fn conforms() {
    check(&[ElementType::F32]);
}

#[test]
fn conforms_on_bits() {
    check(&[ElementType::Bits]);
}

fn check(elements: &[ElementType]) {
    let build = Params::new()
        .with("m", ParamValue::Int(8))
        .with("ef_construction", ParamValue::Int(60));
    let ef = |ef| Params::new().with("ef", ParamValue::Int(ef));
    let example = Example::new(build, ef(1000))
        .with_hasty(ef(10))
        .only(elements);
    let scratch = tempfile::tempdir().expect("a temporary directory");
    check_adapter(&HnswRs, &example, scratch.path());
}
