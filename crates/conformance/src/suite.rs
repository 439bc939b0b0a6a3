use crate::Example;
use crate::data::{Data, dim_of};
use crate::parameters::{check_descriptor, check_parameters};
use crate::searching::Subject;
use annbench_core::{Adapter, BuildSpec, Support};
use std::path::Path;

const ROWS: usize = 900;
const QUERIES: usize = 40;

/// Runs everything over every metric and element type that the adapter declares and the example is for.
///
/// `scratch` is an empty directory for saved indexes.
///
/// # Panics
/// At the first thing that is not as it must be, saying what and where.
pub fn check_adapter(adapter: &dyn Adapter, example: &Example, scratch: &Path) {
    let descriptor = adapter.descriptor();
    check_descriptor(&descriptor);
    let supports: Vec<Support> = (descriptor.supports.iter().copied())
        .filter(|support| example.is_for(support))
        .collect();
    let first = supports
        .first()
        .expect("the example is for an element type that the adapter declares");
    let data = Data::clustered(first.metric, first.element, ROWS, QUERIES);
    check_parameters(adapter, &descriptor, *first, example, data.base());

    for support in &supports {
        let data = Data::clustered(support.metric, support.element, ROWS, QUERIES);
        let build = BuildSpec::new(
            support.metric,
            support.element,
            ROWS,
            dim_of(support.element),
            example.build.clone(),
        );
        let index = adapter.build(data.base(), &build).unwrap_or_else(|e| {
            panic!(
                "{} {} build with {}: {e}",
                support.metric, support.element, example.build
            )
        });
        let subject = Subject {
            adapter,
            descriptor: &descriptor,
            example,
            data: &data,
            build: &build,
            index: index.as_ref(),
        };
        subject.check();
        subject.builds_repeatably();
        subject.builds_with_threads();
        subject.refuses_another_base();
        subject.handles_fewer_rows_than_k(support.metric, support.element);
        let dir = scratch.join(format!("{}-{}", support.metric, support.element));
        subject.saves_and_loads(&dir);
    }
}
