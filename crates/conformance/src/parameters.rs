use crate::Example;
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, Mode, ParamDoc, ParamKind, ParamValue, Params,
    PointSpec, SearchSpec, Support, Vectors,
};
use std::collections::BTreeSet;

/// The descriptor says what a record needs, once each, in the forms that records use.
pub(crate) fn check_descriptor(descriptor: &Descriptor) {
    let d = descriptor;
    assert!(
        !d.adapter.is_empty()
            && d.adapter
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
        "descriptor: `adapter` is `{}`, expected snake_case",
        d.adapter
    );
    assert!(!d.library.is_empty(), "descriptor: `library` is empty");
    assert!(
        d.library_version.chars().any(|c| c.is_ascii_digit()),
        "descriptor: `library_version` is `{}`, expected the exact version linked",
        d.library_version
    );
    assert!(!d.supports.is_empty(), "descriptor: `supports` is empty");
    for Support { metric, element } in &d.supports {
        assert!(
            metric.is_defined_on(*element),
            "descriptor: {metric} on {element} is declared, but not defined"
        );
    }
    assert!(
        d.modes.contains(&Mode::Single),
        "descriptor: single mode is missing"
    );
    for docs in [&d.build_params, &d.search_params] {
        let names: BTreeSet<&str> = docs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(
            names.len(),
            docs.len(),
            "descriptor: a parameter is documented twice"
        );
        for p in docs {
            assert!(
                !p.doc.is_empty(),
                "descriptor: parameter `{}` has no doc",
                p.name
            );
        }
    }
}

/// Whatever is unknown, missing or of the wrong kind is refused, by `check` and by the call that
/// would use it, and never by a panic; what is documented is what is taken.
pub(crate) fn check_parameters(
    adapter: &dyn Adapter,
    descriptor: &Descriptor,
    support: Support,
    example: &Example,
    base: Vectors<'_>,
) {
    let build_spec = |params: Params| {
        BuildSpec::new(
            support.metric,
            support.element,
            base.n(),
            base.dim(),
            params,
        )
    };
    let point = |build: &Params, search: &Params| PointSpec {
        build: build_spec(build.clone()),
        search: SearchSpec::new(10, search.clone()),
    };

    accepted(
        adapter,
        &point(&example.build, &example.thorough),
        "thorough",
    );
    if let Some(hasty) = &example.hasty {
        accepted(adapter, &point(&example.build, hasty), "hasty");
    }

    for (what, params) in spoiled(&example.build, &descriptor.build_params) {
        refused(
            adapter.check(&point(&params, &example.thorough)),
            &format!("check of a build with {what}"),
        );
        let built = adapter.build(base, &build_spec(params));
        refused(built.map(drop), &format!("build with {what}"));
    }

    let index = adapter
        .build(base, &build_spec(example.build.clone()))
        .unwrap_or_else(|e| panic!("build with {}: {e}", example.build));
    for (what, params) in spoiled(&example.thorough, &descriptor.search_params) {
        refused(
            adapter.check(&point(&example.build, &params)),
            &format!("check of a search with {what}"),
        );
        let spec = SearchSpec::new(10, params);
        refused(
            index.searcher(&spec).map(drop),
            &format!("searcher with {what}"),
        );
    }
}

fn accepted(adapter: &dyn Adapter, point: &PointSpec, name: &str) {
    if let Err(e) = adapter.check(point) {
        panic!(
            "check refuses the example's {name} point ({} | {}): {e}",
            point.build.params, point.search.params
        );
    }
}

fn refused(result: Result<(), AdapterError>, what: &str) {
    match result {
        Err(AdapterError::Rejected(reason)) => {
            assert!(
                !reason.trim().is_empty(),
                "{what}: refused without a reason"
            );
        }
        Err(other) => panic!("{what}: expected a rejection, found the error `{other}`"),
        Ok(()) => panic!("{what}: expected a rejection, but it was accepted"),
    }
}

/// Every way of spoiling `good` by one parameter.
fn spoiled(good: &Params, docs: &[ParamDoc]) -> Vec<(String, Params)> {
    let mut all = vec![(
        "an unknown parameter".to_owned(),
        good.clone().with("no_such_parameter", ParamValue::Int(1)),
    )];
    for name in good.0.keys() {
        assert!(
            docs.iter().any(|d| &d.name == name),
            "the example uses `{name}`, which the descriptor does not document"
        );
    }
    for doc in docs {
        if doc.required {
            let mut params = good.clone();
            params.0.remove(&doc.name);
            all.push((format!("`{}` missing", doc.name), params));
        }
        if good.get(&doc.name).is_none() {
            continue;
        }
        let wrong = match doc.kind {
            ParamKind::Text => vec![ParamValue::Int(3), ParamValue::Bool(true)],
            ParamKind::Bool => vec![ParamValue::Int(3), ParamValue::Text("yes".to_owned())],
            ParamKind::Float => vec![
                ParamValue::Text("3".to_owned()),
                ParamValue::Float(f64::NAN),
            ],
            ParamKind::Int => vec![
                ParamValue::Text("3".to_owned()),
                ParamValue::Bool(true),
                ParamValue::Float(3.5),
                ParamValue::Int(i64::MIN),
                ParamValue::Int(-1),
            ],
        };
        for value in wrong {
            all.push((
                format!("`{}` = {value} ({})", doc.name, value.kind()),
                good.clone().with(&doc.name, value),
            ));
        }
    }
    all
}
