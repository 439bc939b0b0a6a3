//! What names a point and what does not.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::{ParamValue, Params};
use annbench_results::*;
use common::identity;
use serde_json::Value;
use std::collections::BTreeSet;

fn with_m(value: ParamValue) -> PointIdentity {
    let mut changed = identity();
    changed.build.build_params = Params::new().with("m", value);
    changed
}

#[test]
fn equal_sets_have_equal_names_in_any_order_of_keys() {
    let mut a = identity();
    a.build.build_params = Params::new()
        .with("ratio", ParamValue::Float(0.5))
        .with("m", ParamValue::Int(16));
    assert_eq!(point_id(&a), point_id(&identity()));
    let id = point_id(&a).unwrap();
    assert!(id.len() == 64 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    // The order of fields in the text does not matter either.
    let text = serde_json::to_string(&a).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let Value::Object(fields) = value else {
        panic!("an object")
    };
    let turned: Vec<String> = fields
        .iter()
        .rev()
        .map(|(k, v)| format!("\"{k}\":{v}"))
        .collect();
    let read: PointIdentity = serde_json::from_str(&format!("{{{}}}", turned.join(","))).unwrap();
    assert_eq!(point_id(&read), point_id(&a));
}

/// Names stay the same from version to version, or every run would be repeated.
#[test]
fn the_name_of_a_known_point_is_known() {
    assert_eq!(
        build_key(&identity().build).unwrap(),
        "e431294130819645d1faf50973443a64f311fc9cbc5b826e4ed8278ef7dab295"
    );
    assert_eq!(
        point_id(&identity()).unwrap(),
        "4856404166b5a9bbaf92ddda49cd5770b627a044253e58b8b8c5f886dbe68ecc"
    );
}

/// Every leaf of an identity, changed.
fn variants(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, inner)| {
                variants(inner).into_iter().map(move |changed| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), changed);
                    Value::Object(fields)
                })
            })
            .collect(),
        Value::Number(n) => match n.as_u64() {
            Some(n) => vec![(n + 1).into()],
            None => vec![(n.as_f64().unwrap() + 0.25).into()],
        },
        Value::String(s) => {
            let other = match s.as_str() {
                "l2" => "cosine",
                "f32" => "u8",
                "single" => "batch",
                "copied" => "mapped",
                text => &format!("{text}x"),
            };
            vec![other.into()]
        }
        other => panic!("no leaf of an identity: {other}"),
    }
}

#[test]
fn any_changed_field_is_another_point() {
    let original = serde_json::to_value(identity()).unwrap();
    let variants = variants(&original);
    assert!(variants.len() > 20, "{}", variants.len());
    let mut names = BTreeSet::from([point_id(&identity()).unwrap()]);
    for variant in &variants {
        let changed: PointIdentity = serde_json::from_value(variant.clone()).unwrap();
        assert!(names.insert(point_id(&changed).unwrap()), "{variant}");
    }
    let mut more = identity();
    more.search_params = more.search_params.with("extra", ParamValue::Bool(true));
    assert!(names.insert(point_id(&more).unwrap()));
}

#[test]
fn a_whole_float_is_its_integer_and_text_is_not() {
    let one = point_id(&with_m(ParamValue::Int(1)));
    assert_eq!(point_id(&with_m(ParamValue::Float(1.0))), one);
    assert_ne!(point_id(&with_m(ParamValue::Text("1".to_owned()))), one);
    assert_ne!(point_id(&with_m(ParamValue::Float(1.5))), one);
}

#[test]
fn integers_that_are_one_double_are_two_points() {
    let a = point_id(&with_m(ParamValue::Int((1 << 53) + 2)));
    let b = point_id(&with_m(ParamValue::Int((1 << 53) + 3)));
    assert_ne!(a, b);
    let (mut low, mut high) = (identity(), identity());
    (low.build.seed, high.build.seed) = (u64::MAX - 1, u64::MAX);
    assert_ne!(build_key(&low.build), build_key(&high.build));
}

#[test]
fn what_is_no_number_has_no_name() {
    for value in [f64::NAN, f64::INFINITY] {
        let error = point_id(&with_m(ParamValue::Float(value))).unwrap_err();
        assert_eq!(
            error,
            IdentityError::NotFinite {
                field: "build.build_params.m".to_owned()
            }
        );
    }
}
