//! The adapter under the suite that every adapter must pass.

use annbench_adapter_exact::ExactAdapter;
use annbench_conformance::{Example, check_adapter};
use annbench_core::Params;
use std::path::Path;

#[test]
fn conforms() {
    // No parameter makes it less than exact.
    let example = Example::new(Params::new(), Params::new()).with_min_recall(1.0);
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    check_adapter(&ExactAdapter, &example, scratch);
}
