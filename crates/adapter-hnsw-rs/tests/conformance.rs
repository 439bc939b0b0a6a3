//! The adapter under the suite that every adapter must pass.

use annbench_adapter_hnsw_rs::HnswRs;
use annbench_conformance::{Example, check_adapter};
use annbench_core::{ParamValue, Params};

#[test]
fn conforms() {
    let build = Params::new()
        .with("m", ParamValue::Int(8))
        .with("ef_construction", ParamValue::Int(60));
    let ef = |ef| Params::new().with("ef", ParamValue::Int(ef));
    let example = Example::new(build, ef(1000)).with_hasty(ef(10));
    let scratch = tempfile::tempdir().expect("a temporary directory");
    check_adapter(&HnswRs, &example, scratch.path());
}
