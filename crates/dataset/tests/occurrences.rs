//! How often base rows are near to others: exact, estimated, kept.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::distance;
use annbench_dataset::{Dataset, Estimator};
use std::ops::ControlFlow;
use support::*;

const N: usize = 300;
const M: usize = 20;
const DIM: usize = 4;

fn open(fixture: &Fixture) -> Dataset {
    let few = |n: usize, seed| bytes(n, seed).iter().map(|b| b % 9).collect::<Vec<u8>>();
    fixture.write("set", "base", &flat(N, DIM, &few(N * DIM, 1)));
    fixture.write("set", "queries", &flat(M, DIM, &few(M * DIM, 2)));
    let entry = fixture.yaml(
        "set",
        &format!(
            "metric: l2\nelement: u8\ndim: {DIM}\n\
             base: {{ file: base, format: u8bin, rows: {N} }}\n\
             queries: {{ file: queries, format: u8bin, rows: {M} }}\n"
        ),
    );
    fixture.open(&entry).unwrap()
}

/// All other rows by distance and id, for base row `row`.
fn others(dataset: &Dataset, row: usize) -> Vec<(f64, u32)> {
    let base = dataset.base().vectors();
    let mut others: Vec<(f64, u32)> = (0..N)
        .filter(|&i| i != row)
        .map(|i| {
            let d = distance(dataset.metric(), base.row(row), base.row(i));
            (d, i as u32)
        })
        .collect();
    others.sort_by(|a, b| a.partial_cmp(b).unwrap());
    others
}

fn naive(dataset: &Dataset, k: usize) -> Vec<u32> {
    let mut counts = vec![0; N];
    for row in 0..N {
        for (_, id) in &others(dataset, row)[..k] {
            counts[*id as usize] += 1;
        }
    }
    counts
}

#[test]
fn an_estimate_from_all_rows_is_the_exact_count() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let exact = dataset.occurrences(7, &fixture.options()).unwrap();
    assert_eq!(*exact, naive(&dataset, 7));
    let all = Estimator { k: 7, asked: N };
    let estimate = dataset.estimated_occurrences(3, all, &fixture.options());
    assert_eq!(*estimate.unwrap(), *exact);
}

#[test]
fn an_estimate_counts_the_rows_that_were_asked_and_is_declared() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let estimator = Estimator { k: 40, asked: 50 };
    assert_eq!(estimator.budget(N), 40.0 * 50.0 / 300.0);
    assert!(dataset.kept_estimate(10).is_none());
    let counts = dataset
        .estimated_occurrences(10, estimator, &fixture.options())
        .unwrap();
    assert_eq!(counts.iter().sum::<u32>(), 40 * 50);
    // No row is counted more often than over all rows, and the most counted are among the most counted.
    let exact = naive(&dataset, 40);
    assert!(counts.iter().zip(&exact).all(|(some, all)| some <= all));
    let rho = annbench_stats::spearman_among_zeros(&counts, &exact, 0);
    assert!(rho.unwrap() > 0.7, "{rho:?}");

    let silent = |_: annbench_dataset::Progress<'_>| -> ControlFlow<()> {
        panic!("kept counts were counted again")
    };
    let mut options = fixture.options();
    options.watch = &silent;
    let again = dataset.estimated_occurrences(10, estimator, &options);
    assert_eq!(again.unwrap(), counts);
    assert_eq!(dataset.kept_estimate(10), Some((estimator, counts)));
    // It is declared for the k that it was asked for, and is no exact count.
    assert!(dataset.kept_estimate(40).is_none());
    assert!(dataset.kept_occurrences(40).is_none() && dataset.kept_occurrences(10).is_none());
}

#[test]
fn too_small_a_budget_is_refused_with_what_it_would_do() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let refusal = |k, asked| {
        let estimator = Estimator { k, asked };
        let refused = dataset.estimated_occurrences(10, estimator, &fixture.options());
        refused.unwrap_err().to_string()
    };
    assert_words(
        &refusal(10, 30),
        &["1.00 to a base row", "36.8 %", "ask more rows"],
    );
    assert_words(&refusal(10, N + 1), &["301 rows", "up to 300"]);
    assert!(dataset.estimator(10).is_none());
}

#[test]
fn nearest_others_and_mean_lengths_are_those_of_a_naive_loop() {
    let fixture = Fixture::new();
    let dataset = open(&fixture);
    let found = dataset.nearest_others(N, &fixture.options()).unwrap();
    let expected: Vec<f64> = (0..N).map(|row| others(&dataset, row)[0].0).collect();
    assert_eq!(found, expected);
    let some = dataset.nearest_others(25, &fixture.options()).unwrap();
    assert_eq!(some.len(), 25);

    let means = dataset.mean_lengths(f64::sqrt, N, &fixture.pool);
    let (base, queries) = (dataset.base().vectors(), dataset.queries().vectors());
    for (q, mean) in means.iter().enumerate() {
        let sum: f64 = (0..N)
            .map(|i| distance(dataset.metric(), queries.row(q), base.row(i)).sqrt())
            .sum();
        assert!((mean - sum / N as f64).abs() < 1e-12 * mean);
    }
}
