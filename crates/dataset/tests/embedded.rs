//! The set that comes with the repository.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::{Catalogue, Dataset};
use std::path::Path;
use support::*;

/// The embedded set with caches in a directory of the test's own.
fn open(fixture: &Fixture) -> Dataset {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let name = "siftimg-50k-128-euclidean";
    std::fs::copy(
        committed.join(format!("{name}.yaml")),
        fixture.root().join(format!("{name}.yaml")),
    )
    .unwrap();
    let catalogue = Catalogue::new(fixture.root()).with_extra(committed);
    fixture.open(&catalogue.entry(name).unwrap()).unwrap()
}

#[test]
fn the_shipped_truth_is_exact() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    assert!(dataset.accepted_checksums().is_empty());
    let truth = dataset.shipped_truth().unwrap();
    assert_eq!((truth.queries(), truth.width()), (1_000, 100));
    assert_eq!((truth.sampled_queries(), truth.refuted()), (32, None));
    let found = annbench_exact::search(
        dataset.base().vectors(),
        dataset.queries().vectors(),
        dataset.metric(),
        truth.width(),
        &fixture.pool,
        &|_, _| std::ops::ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!(found.ids(), truth.ids());
    assert_eq!(found.distances(), truth.distances());
}

#[test]
fn its_fingerprints_stay() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    assert_eq!(
        [
            dataset.base_fingerprint(),
            dataset.queries_fingerprint(),
            dataset.shipped_truth().unwrap().fingerprint()
        ],
        [
            "c343280a5f9c3b6d011fa45df53439b284754072af8d130d2a8cbb3ddf85b52c",
            "c47a52c765f321c20dd726e96ef7072d95a8a54535d3935eb6002351f1952bd4",
            "064f342829769063faa6f6a40fe76d8bc17f4f6fce64f22a0e4148c4e99e2b3f",
        ]
    );
}
