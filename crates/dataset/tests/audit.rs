//! Made datasets, each broken in one way, and the rule that names the break.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{BitRows, Metric, Rows, Vectors, distance};
use annbench_dataset::{Audit, AuditDepth, Finding, Rule, Verdict, audit, audit_opened};
use std::ops::ControlFlow;
use support::*;

const N: usize = 600;
const M: usize = 60;
const DIM: usize = 16;
const WIDTH: usize = 20;

/// A dataset in the making: floats, and truth with or without distances.
#[derive(Clone)]
struct Set {
    metric: Metric,
    base: Vec<f32>,
    queries: Vec<f32>,
    ids: Vec<u32>,
    distances: Option<Vec<f32>>,
}

/// Numbers from -1 to 1 without a pattern.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let words = bytes(n * 3, seed);
    let word = |b: &[u8]| f32::from(b[0]) * 65_536.0 + f32::from(b[1]) * 256.0 + f32::from(b[2]);
    words
        .chunks(3)
        .map(|b| word(b) / 8_388_608.0 - 1.0)
        .collect()
}

fn normalise(rows: &mut [f32]) {
    for row in rows.chunks_mut(DIM) {
        let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
        row.iter_mut().for_each(|v| *v /= norm);
    }
}

fn rows(data: &[f32]) -> Vectors<'_> {
    Vectors::F32(Rows::new(data, DIM).unwrap())
}

/// The nearest `WIDTH` rows of every query by `distance`.
fn nearest(n: usize, m: usize, distance: impl Fn(usize, usize) -> f64) -> Vec<(u32, f64)> {
    let of_query = |q| {
        let mut all: Vec<(f64, u32)> = (0..n).map(|i| (distance(q, i), i as u32)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.truncate(WIDTH);
        all.into_iter().map(|(d, id)| (id, d))
    };
    (0..m).flat_map(of_query).collect()
}

fn truth(base: &[f32], queries: &[f32], metric: Metric) -> Vec<(u32, f64)> {
    let (base, queries) = (rows(base), rows(queries));
    nearest(base.n(), queries.n(), |q, i| {
        distance(metric, queries.row(q), base.row(i))
    })
}

impl Set {
    /// One without a fault; its distances are the ones that annbench computes.
    fn clean(metric: Metric) -> Self {
        let (mut base, mut queries) = (numbers(N * DIM, 1), numbers(M * DIM, 2));
        if metric == Metric::Cosine {
            normalise(&mut base);
            normalise(&mut queries);
        }
        Self::with(metric, base, queries)
    }

    fn with(metric: Metric, base: Vec<f32>, queries: Vec<f32>) -> Self {
        let found = truth(&base, &queries, metric);
        Self {
            metric,
            base,
            queries,
            ids: found.iter().map(|&(id, _)| id).collect(),
            distances: Some(found.iter().map(|&(_, d)| d as f32).collect()),
        }
    }

    fn audit(&self) -> Audit {
        self.audit_at(AuditDepth::Full)
    }

    fn audit_at(&self, depth: AuditDepth) -> Audit {
        let fixture = Fixture::new();
        let n = self.base.len() / DIM;
        let m = self.queries.len() / DIM;
        fixture.write("set", "base", &flat(n, DIM, &floats(&self.base)));
        fixture.write("set", "queries", &flat(m, DIM, &floats(&self.queries)));
        let mut file = flat(self.ids.len() / WIDTH, WIDTH, &words(&self.ids));
        file.extend(self.distances.iter().flat_map(|d| floats(d)));
        fixture.write("set", "truth", &file);
        let entry = fixture.yaml(
            "set",
            &format!(
                "metric: {}\nelement: f32\ndim: {DIM}\n\
                 base: {{ file: base, format: fbin, rows: {n} }}\n\
                 queries: {{ file: queries, format: fbin, rows: {m} }}\n\
                 truth: {{ file: truth, format: bigann_truth, width: {WIDTH} }}\n",
                self.metric
            ),
        );
        audit(&entry, depth, &fixture.options()).unwrap()
    }
}

fn violated(audit: &Audit) -> Vec<Rule> {
    audit.violated().map(|finding| finding.rule).collect()
}

fn finding(audit: &Audit, rule: Rule) -> &Finding {
    audit.finding(rule).unwrap()
}

fn cause(audit: &Audit) -> &str {
    let finding = finding(audit, Rule::CorpusMatches);
    assert!(finding.is_violated(), "{finding:?}");
    finding.measured["cause"].as_str().unwrap()
}

#[test]
fn all_rules_hold_of_a_clean_set() {
    for metric in [Metric::Cosine, Metric::L2] {
        let audit = Set::clean(metric).audit();
        for finding in &audit.findings {
            assert!(
                matches!(finding.verdict, Verdict::Holds { .. }),
                "{metric}: {finding:?}"
            );
        }
        let rules: Vec<Rule> = audit.findings.iter().map(|f| f.rule).collect();
        // This set has nothing beside vectors and neighbours.
        let judged = Rule::ALL.into_iter().filter(|&rule| rule != Rule::Beside);
        assert_eq!(rules, judged.collect::<Vec<_>>());
        let quick = Set::clean(metric).audit_at(AuditDepth::Quick);
        assert_eq!(violated(&quick), []);
        assert!(quick.findings.len() >= 9);
    }
}

#[test]
fn truth_of_another_base_is_named() {
    let mut set = Set::clean(Metric::L2);
    set.base = numbers(N * DIM, 3);
    let audit = set.audit();
    assert_eq!(cause(&audit), "truth_of_another_base");
    assert!(violated(&audit).contains(&Rule::TruthExact));
    assert!(violated(&audit).contains(&Rule::ShippedDistances));
    assert!(!violated(&audit).contains(&Rule::TruthIds));
    assert_eq!(
        cause(&set.audit_at(AuditDepth::Quick)),
        "truth_of_another_base"
    );
}

#[test]
fn truth_of_a_larger_base_is_named() {
    let larger = Set::with(Metric::L2, numbers(2 * N * DIM, 1), numbers(M * DIM, 2));
    let mut set = larger;
    set.base.truncate(N * DIM);
    let audit = set.audit();
    assert_eq!(cause(&audit), "truth_of_a_larger_base");
    assert!(violated(&audit).contains(&Rule::TruthIds));
}

#[test]
fn truth_of_the_first_rows_is_named() {
    let mut set = Set::with(Metric::L2, numbers(N / 3 * DIM, 1), numbers(M * DIM, 2));
    set.base = numbers(N * DIM, 1);
    let audit = set.audit();
    assert_eq!(cause(&audit), "truth_of_the_first_rows");
    // Counts of queries agree, ids name rows, distances are right: only the search tells.
    assert_eq!(violated(&audit), [Rule::CorpusMatches, Rule::TruthExact]);
}

#[test]
fn truth_of_other_queries_is_named() {
    let mut set = Set::clean(Metric::L2);
    set.ids.rotate_left(WIDTH);
    set.distances = None;
    assert_eq!(cause(&set.audit()), "truth_of_other_queries");
}

#[test]
fn another_metric_is_named() {
    for (entry, of_truth) in [
        (Metric::L2, Metric::InnerProduct),
        (Metric::L2, Metric::Cosine),
        (Metric::Cosine, Metric::L2),
        (Metric::InnerProduct, Metric::Cosine),
    ] {
        let mut set = Set::with(of_truth, numbers(N * DIM, 1), numbers(M * DIM, 2));
        set.metric = entry;
        for depth in [AuditDepth::Full, AuditDepth::Quick] {
            let audit = set.audit_at(depth);
            let finding = finding(&audit, Rule::MetricMatches);
            assert!(finding.is_violated(), "{finding:?}");
            let next = finding.next.as_deref().unwrap();
            assert_words(next, &[&format!("metric: {of_truth}")]);
            assert!(!violated(&audit).contains(&Rule::CorpusMatches));
        }
        let audit = set.audit();
        assert!(violated(&audit).contains(&Rule::ShippedDistances));
    }
}

#[test]
fn an_angular_set_that_is_not_normalised_is_named() {
    let audit = Set::with(Metric::Cosine, numbers(N * DIM, 1), numbers(M * DIM, 2)).audit();
    assert_eq!(violated(&audit), [Rule::Norms]);
}

#[test]
fn zero_vectors_are_named() {
    let mut set = Set::clean(Metric::Cosine);
    set.base[7 * DIM..8 * DIM].fill(0.0);
    let audit = Set::with(Metric::Cosine, set.base, set.queries).audit();
    assert_eq!(violated(&audit), [Rule::ZeroVectors]);
    let finding = finding(&audit, Rule::ZeroVectors);
    assert_words(finding.verdict.says(), &["1 of 600 base rows are zero: 7"]);
    let mut set = Set::clean(Metric::L2);
    set.base[7 * DIM..8 * DIM].fill(-0.0);
    let audit = Set::with(Metric::L2, set.base, set.queries).audit();
    assert_eq!(violated(&audit), [], "zero is a point under l2");
}

#[test]
fn queries_among_the_base_are_named() {
    let mut set = Set::clean(Metric::L2);
    for (q, row) in [(3, 100), (7, 5)] {
        let copied = set.base[row * DIM..(row + 1) * DIM].to_vec();
        set.queries[q * DIM..(q + 1) * DIM].copy_from_slice(&copied);
    }
    let set = Set::with(Metric::L2, set.base, set.queries);
    for depth in [AuditDepth::Full, AuditDepth::Quick] {
        let audit = set.audit_at(depth);
        let finding = finding(&audit, Rule::QueriesHeldOut);
        assert!(finding.is_violated());
        let words = ["2 of 60 queries", "query 3 is row 100, query 7 is row 5"];
        assert_words(finding.verdict.says(), &words);
    }
}

#[test]
fn equal_rows_are_named() {
    let mut set = Set::clean(Metric::L2);
    set.base.copy_within(0..DIM, 11 * DIM);
    set.base.copy_within(0..DIM, 12 * DIM);
    set.base.copy_within(DIM..2 * DIM, 20 * DIM);
    set.queries.copy_within(0..DIM, 9 * DIM);
    let audit = Set::with(Metric::L2, set.base, set.queries).audit();
    let base = finding(&audit, Rule::DuplicatesInBase);
    assert!(base.is_violated());
    let words = [
        "5 of 600 base rows",
        "2 groups",
        "largest of 3",
        "0 and 11, 1 and 20",
    ];
    assert_words(base.verdict.says(), &words);
    let queries = finding(&audit, Rule::DuplicatesInQueries);
    assert_words(queries.verdict.says(), &["2 of 60 queries", "0 and 9"]);
    assert!(!violated(&audit).contains(&Rule::QueriesHeldOut));
}

#[test]
fn ids_that_repeat_are_named() {
    let mut set = Set::clean(Metric::L2);
    set.ids[4 * WIDTH + 1] = set.ids[4 * WIDTH];
    set.distances = None;
    let audit = set.audit();
    assert_eq!(violated(&audit), [Rule::TruthIds, Rule::TruthExact]);
    let said = finding(&audit, Rule::TruthIds).verdict.says();
    assert_words(
        said,
        &[
            "1 of 60 queries",
            "query 4",
            &set.ids[4 * WIDTH].to_string(),
        ],
    );
}

/// l2 from norms and products in f32, far from the origin, as careless truth is made.
#[test]
fn an_order_made_in_f32_is_named() {
    let far = |data: Vec<f32>| data.iter().map(|v| v + 100.0).collect::<Vec<f32>>();
    let (base, queries) = (far(numbers(N * DIM, 1)), far(numbers(M * DIM, 2)));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let row = |data: &[f32], i: usize| data[i * DIM..(i + 1) * DIM].to_vec();
    let found = nearest(N, M, |q, i| {
        let (q, x) = (row(&queries, q), row(&base, i));
        f64::from(dot(&q, &q) + dot(&x, &x) - 2.0 * dot(&q, &x))
    });
    let mut set = Set::with(Metric::L2, base, queries);
    set.ids = found.iter().map(|&(id, _)| id).collect();
    set.distances = None;
    let audit = set.audit();
    assert_eq!(violated(&audit), [Rule::TruthOrder, Rule::TruthExact]);
    let said = finding(&audit, Rule::TruthOrder).verdict.says();
    assert_words(said, &["as sums in f32 can make them"]);
}

#[test]
fn an_order_that_is_none_is_named() {
    let mut set = Set::clean(Metric::L2);
    set.ids[..WIDTH].reverse();
    set.distances = None;
    let audit = set.audit();
    assert_eq!(violated(&audit), [Rule::TruthOrder]);
    let said = finding(&audit, Rule::TruthOrder).verdict.says();
    assert_words(
        said,
        &[
            "1 of 60 queries",
            "no rounding explains",
            "query 0, position 1",
        ],
    );
}

#[test]
fn ids_that_count_from_one_are_named() {
    for shift in [1i64, -1] {
        let mut set = Set::clean(Metric::L2);
        // Of a base whose last and first rows are nobody's neighbours, so that all ids name rows.
        set.base[..DIM].fill(1e4);
        set.base[(N - 1) * DIM..].fill(-1e4);
        let mut set = Set::with(Metric::L2, set.base, set.queries);
        for id in &mut set.ids {
            *id = (i64::from(*id) + shift) as u32;
        }
        let audit = set.audit();
        assert_eq!(cause(&audit), "ids_shifted_by_one");
        assert!(!violated(&audit).contains(&Rule::TruthIds));
    }
    let mut set = Set::clean(Metric::L2);
    set.ids.iter_mut().for_each(|id| *id += 1);
    assert_eq!(cause(&set.audit()), "ids_shifted_by_one");
}

#[test]
fn queries_that_were_taken_from_the_base_are_named() {
    let base = numbers(N * DIM, 1);
    let queries = base[..M * DIM].to_vec();
    let audit = Set::with(Metric::L2, base, queries).audit();
    let held_out = finding(&audit, Rule::QueriesHeldOut);
    assert_words(held_out.verdict.says(), &["60 of 60 queries"]);
    let drawn = finding(&audit, Rule::QueryDistribution);
    assert!(drawn.is_violated());
    assert_eq!(drawn.measured["direction"], "closer");
    assert!(violated(&audit).contains(&Rule::NearDuplicates));
}

#[test]
fn queries_of_another_distribution_and_scale_are_named() {
    let queries: Vec<f32> = numbers(M * DIM, 2).iter().map(|v| v + 2.0).collect();
    let audit = Set::with(Metric::L2, numbers(N * DIM, 1), queries).audit();
    assert_eq!(violated(&audit), [Rule::QueryDistribution]);
    let drawn = finding(&audit, Rule::QueryDistribution);
    assert_eq!(drawn.measured["direction"], "farther");
    let queries: Vec<f32> = numbers(M * DIM, 2).iter().map(|v| v * 255.0).collect();
    let audit = Set::with(Metric::L2, numbers(N * DIM, 1), queries).audit();
    assert!(violated(&audit).contains(&Rule::ElementRange));
}

#[test]
fn conventions_of_distances_are_identified() {
    type Convert = fn(f32) -> f32;
    let conventions: [(Metric, &str, Convert); 7] = [
        (Metric::L2, "squared_l2", |d| d),
        (Metric::L2, "l2", f32::sqrt),
        (Metric::Cosine, "one_minus_cosine", |d| d),
        (Metric::Cosine, "cosine_similarity", |d| 1.0 - d),
        (Metric::InnerProduct, "negated_inner_product", |d| d),
        (Metric::InnerProduct, "inner_product", |d| -d),
        (Metric::InnerProduct, "one_minus_inner_product", |d| 1.0 + d),
    ];
    for (metric, name, convert) in conventions {
        let mut set = Set::with(metric, numbers(N * DIM, 1), numbers(M * DIM, 2));
        let distances = set.distances.as_mut().unwrap();
        distances.iter_mut().for_each(|d| *d = convert(*d));
        let audit = set.audit();
        let finding = finding(&audit, Rule::ShippedDistances);
        assert!(!finding.is_violated(), "{finding:?}");
        assert_eq!(finding.measured["conventions"], serde_json::json!([name]));
    }
    // Right neighbours, and numbers that are nobody's distances.
    let mut set = Set::clean(Metric::L2);
    let distances = set.distances.as_mut().unwrap();
    distances.iter_mut().for_each(|d| *d *= 1.5);
    let audit = set.audit();
    assert_eq!(violated(&audit), [Rule::ShippedDistances]);
    // One query's alone: the evidence is of that one, by the convention that the others follow.
    let mut set = Set::clean(Metric::L2);
    let spoilt = 5 * WIDTH;
    let distances = set.distances.as_mut().unwrap();
    distances.iter_mut().for_each(|d| *d = d.sqrt());
    distances[spoilt..spoilt + WIDTH]
        .iter_mut()
        .for_each(|d| *d *= 1.01);
    let audit = set.audit();
    let said = finding(&audit, Rule::ShippedDistances)
        .verdict
        .says()
        .to_owned();
    assert_words(&said, &["l2 fits best", "does not fit: query 5 and row"]);
}

#[test]
fn hamming_counts_and_fractions_are_told_apart() {
    const BITS: usize = 640;
    let (base, queries) = (bytes(N * BITS / 8, 5), bytes(M * BITS / 8, 6));
    let view = |bytes| Vectors::Bits(BitRows::new(bytes, BITS).unwrap());
    let found = nearest(N, M, |q, i| {
        distance(Metric::Hamming, view(&queries).row(q), view(&base).row(i))
    });
    for (name, scale) in [
        ("hamming_count", 1.0),
        ("hamming_fraction", 1.0 / BITS as f64),
    ] {
        let fixture = Fixture::new();
        fixture.write("set", "base", &flat(N, BITS / 8, &base));
        fixture.write("set", "queries", &flat(M, BITS / 8, &queries));
        let ids: Vec<u32> = found.iter().map(|&(id, _)| id).collect();
        let distances: Vec<f32> = found.iter().map(|&(_, d)| (d * scale) as f32).collect();
        let file = [flat(M, WIDTH, &words(&ids)), floats(&distances)].concat();
        fixture.write("set", "truth", &file);
        let entry = fixture.yaml(
            "set",
            &format!(
                "metric: hamming\nelement: bits\ndim: {BITS}\n\
                 base: {{ file: base, format: u8bin, rows: {N} }}\n\
                 queries: {{ file: queries, format: u8bin, rows: {M} }}\n\
                 truth: {{ file: truth, format: bigann_truth, width: {WIDTH} }}\n"
            ),
        );
        let audit = audit(&entry, AuditDepth::Full, &fixture.options()).unwrap();
        let shipped = finding(&audit, Rule::ShippedDistances);
        assert_eq!(shipped.measured["conventions"], serde_json::json!([name]));
        assert!(violated(&audit).contains(&Rule::Ties), "counts tie");
        assert!(!violated(&audit).contains(&Rule::TruthExact));
    }
}

#[test]
fn a_sample_says_how_far_it_reaches() {
    let set = Set::clean(Metric::L2);
    let audit = set.audit_at(AuditDepth::Queries(30));
    assert_eq!(violated(&audit), []);
    let said = finding(&audit, Rule::TruthExact).verdict.says();
    // P(none of 30 of 60 is one of 4) = 0.0562; of 5: 0.0261.
    let words = [
        "0 of 30 queries drawn from 60",
        "95 %",
        "at most 4 of all 60",
    ];
    assert_words(said, &words);
}

#[test]
fn truth_that_cannot_be_read_is_a_finding_and_vectors_that_cannot_are_an_error() {
    let fixture = Fixture::new();
    let set = Set::clean(Metric::L2);
    fixture.write("set", "base", &flat(N, DIM, &floats(&set.base)));
    fixture.write("set", "queries", &flat(M, DIM, &floats(&set.queries)));
    fixture.write("set", "truth", &flat(M, WIDTH, &words(&set.ids[1..])));
    let body = format!(
        "metric: l2\nelement: f32\ndim: {DIM}\n\
         base: {{ file: base, format: fbin, rows: {N} }}\n\
         queries: {{ file: queries, format: fbin, rows: {M} }}\n"
    );
    let shipped = format!("truth: {{ file: truth, format: ibin, width: {WIDTH} }}\n");
    let entry = fixture.yaml("set", &(body.clone() + &shipped));
    let audit_of = |entry| audit(entry, AuditDepth::Full, &fixture.options());
    let found = audit_of(&entry).unwrap();
    assert_eq!(violated(&found), [Rule::Shape]);
    // Of another number of queries than the entry says.
    let more = [&set.ids[..], &set.ids[..WIDTH]].concat();
    fixture.write("set", "truth", &flat(M + 1, WIDTH, &words(&more)));
    assert_eq!(violated(&audit_of(&entry).unwrap()), [Rule::Shape]);
    // A run refuses it, and so does what compares it query by query.
    let run = fixture.open(&entry).unwrap_err().to_string();
    let alone = fixture.open(&fixture.yaml("set", &body)).unwrap();
    let entry = fixture.yaml("set", &(body.clone() + &shipped));
    let compared = alone.audit_truth(&entry, &fixture.options()).unwrap_err();
    assert_eq!(compared.to_string(), run);
    assert_words(&run, &["60 queries of 20 neighbours", "61 of 20"]);
    fixture.write("set", "truth", &flat(M, WIDTH, &words(&set.ids)));
    let compared = alone.audit_truth(&entry, &fixture.options()).unwrap();
    assert!(compared.unwrap().is_right());
    // None is shipped: its rules cannot be told, all others can.
    let entry = fixture.yaml("set", &body);
    let found = audit_of(&entry).unwrap();
    assert_eq!(violated(&found), []);
    let said = &finding(&found, Rule::TruthExact).verdict;
    assert!(matches!(said, Verdict::CannotTell { .. }));
    let opened = fixture.open(&entry).unwrap();
    let quick = audit_opened(&opened, AuditDepth::Quick, &fixture.options()).unwrap();
    assert_eq!(violated(&quick), []);
    // Vectors are another matter.
    fixture.write("set", "base", &[1, 2, 3]);
    assert!(audit_of(&entry).is_err());
}

/// One zero row hides no row that is not normalised.
#[test]
fn norms_are_those_of_rows_that_are_not_zero() {
    let (mut base, mut queries) = (numbers(1_001 * DIM, 1), numbers(M * DIM, 2));
    normalise(&mut base);
    normalise(&mut queries);
    base[..300 * DIM].iter_mut().for_each(|v| *v *= 0.3);
    base[500 * DIM..501 * DIM].fill(0.0);
    let audit = Set::with(Metric::Cosine, base, queries).audit();
    assert_eq!(violated(&audit), [Rule::Norms, Rule::ZeroVectors]);
    let norms = finding(&audit, Rule::Norms);
    assert_words(
        norms.verdict.says(),
        &["base 0 (0.3", " above zero), 1.0000"],
    );
    assert_eq!(norms.measured["normalised"], false);
}

#[test]
fn rows_that_are_not_finite_are_counted_and_the_rest_is_judged() {
    let mut set = Set::clean(Metric::L2);
    for (row, value) in [(9, f32::NAN), (41, f32::INFINITY), (41, f32::NAN)] {
        set.base[row * DIM + 3] = value;
    }
    set.base.copy_within(100 * DIM..101 * DIM, 200 * DIM);
    set.queries[5] = f32::NEG_INFINITY;
    for depth in [AuditDepth::Full, AuditDepth::Quick] {
        let audit = set.audit_at(depth);
        let finite = finding(&audit, Rule::Finite);
        assert!(finite.is_violated());
        let words = [
            "2 of 600 base rows hold",
            "the first is base row 9",
            "1 of 60 queries holds",
            "the first is query 0",
        ];
        assert_words(finite.verdict.says(), &words);
        assert_eq!(finite.measured["rows"], 3);
        let metric = &finding(&audit, Rule::MetricMatches).verdict;
        assert!(matches!(metric, Verdict::CannotTell { .. }), "{metric:?}");
    }
    let audit = set.audit();
    assert_eq!(violated(&audit), [Rule::Finite, Rule::DuplicatesInBase]);
    assert_eq!(audit.findings.len(), Rule::ALL.len() - 1);
    // Nothing of it lets the set be used.
    let fixture = Fixture::new();
    fixture.write("set", "base", &flat(N, DIM, &floats(&set.base)));
    fixture.write("set", "queries", &flat(M, DIM, &floats(&set.queries)));
    let body = format!(
        "metric: l2\nelement: f32\ndim: {DIM}\n\
         base: {{ file: base, format: fbin, rows: {N} }}\n\
         queries: {{ file: queries, format: fbin, rows: {M} }}\n"
    );
    let entry = fixture.yaml("set", &body);
    annbench_dataset::audit(&entry, AuditDepth::Full, &fixture.options()).unwrap();
    let error = fixture.open(&entry).unwrap_err();
    assert_words(
        &error.to_string(),
        &["row 9, component 3", "a finite number"],
    );
}

/// Rows whose distances differ by less than rounding may hide do not tie, as proofs tell.
#[test]
fn only_equal_distances_tie() {
    let mut base: Vec<f32> = numbers(N * DIM, 1).iter().map(|v| v * 3.0).collect();
    for row in base.chunks_mut(DIM) {
        row[0] = 9.0;
    }
    base[..2 * DIM].fill(0.0);
    (base[0], base[DIM]) = (1.0, 1.0);
    let queries: Vec<f32> = numbers(M * DIM, 2).iter().map(|v| v * 1e-30).collect();
    for (component, tied) in [(3e-8, 0), (0.0, M)] {
        base[DIM + 1] = component;
        // Of a query at the origin as good as exactly.
        let audit = Set::with(Metric::L2, base.clone(), queries.clone()).audit();
        let ties = finding(&audit, Rule::Ties);
        assert_eq!(ties.measured["tied_at_1"], tied, "{component}");
    }
}

#[test]
fn an_audit_can_be_cancelled() {
    let fixture = Fixture::new();
    let set = Set::clean(Metric::L2);
    fixture.write("set", "base", &flat(N, DIM, &floats(&set.base)));
    fixture.write("set", "queries", &flat(M, DIM, &floats(&set.queries)));
    let entry = fixture.yaml(
        "set",
        &format!(
            "metric: l2\nelement: f32\ndim: {DIM}\n\
             base: {{ file: base, format: fbin, rows: {N} }}\n\
             queries: {{ file: queries, format: fbin, rows: {M} }}\n"
        ),
    );
    let stop = |progress: annbench_dataset::Progress<'_>| match progress.activity {
        annbench_dataset::Activity::Audit => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let options = annbench_dataset::OpenOptions {
        watch: &stop,
        ..fixture.options()
    };
    let error = audit(&entry, AuditDepth::Full, &options).unwrap_err();
    assert!(matches!(error, annbench_dataset::DatasetError::Cancelled));
}

#[test]
fn rules_are_found_by_their_names() {
    for rule in Rule::ALL {
        assert_eq!(Rule::named(rule.name()), Some(rule));
        let json = serde_json::to_value(rule).unwrap();
        assert_eq!(json, rule.name());
    }
    let enforced: Vec<&str> = Rule::ALL
        .into_iter()
        .filter(|rule| rule.is_enforced())
        .map(Rule::name)
        .collect();
    assert_eq!(
        enforced,
        ["queries_held_out", "metric_matches", "corpus_matches"]
    );
}
