//! W8, W13, P12, P15 and P26: what strata may hide, what they must not, and when they abstain.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use annbench_core::{Metric, Rows, Vectors};
use annbench_results::*;
use proptest::prelude::*;
use std::sync::Arc;

/// A base on a line and queries beside it, with the exact truth.
struct Line {
    base: Vec<f32>,
    queries: Vec<f32>,
    k: usize,
    ids: Vec<u32>,
    distances: Vec<f64>,
}

impl Line {
    fn new(base: Vec<f32>, queries: Vec<f32>, k: usize) -> Self {
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        for &q in &queries {
            let mut row: Vec<(f64, u32)> = base
                .iter()
                .zip(0..)
                .map(|(&x, id)| ((f64::from(q) - f64::from(x)).powi(2), id))
                .collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            ids.extend(row.iter().take(k).map(|r| r.1));
            distances.extend(row.iter().take(k).map(|r| r.0));
        }
        Self {
            base,
            queries,
            k,
            ids,
            distances,
        }
    }

    /// How often each row is in the truth.
    fn counts_of_queries(&self) -> Vec<u32> {
        let mut counts = vec![0; self.base.len()];
        for &id in &self.ids {
            counts[id as usize] += 1;
        }
        counts
    }

    fn score(&self, counts: &[u32], answers: &[u32]) -> Scored {
        let vectors = |values| Vectors::F32(Rows::new(values, 1).unwrap());
        let mut set = ScoringSet {
            metric: Metric::L2,
            base: vectors(&self.base),
            queries: vectors(&self.queries),
            truth_ids: &self.ids,
            truth_distances: &self.distances,
            truth_width: self.k,
            max_base_norm: 0.0,
            strata: &[],
            relevance: None,
        };
        let occurrences = Occurrences {
            k: self.k,
            asked: self.base.len() as u64,
            counts: Arc::new(counts.to_vec()),
        };
        let strata = [Strata::new(&set, self.k, Ok(occurrences))];
        set.strata = &strata;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let answers = Answers {
            k: self.k,
            ids: answers,
            returned: &vec![self.k as u32; self.queries.len()],
            invalid_count: 0,
        };
        score_answers(&pool, &set, &answers).unwrap()
    }
}

fn hubness(scored: &Scored) -> &HubnessQuality {
    scored.strata.as_ref().unwrap().hubness.as_ref().unwrap()
}

#[test]
fn w8_counts_of_the_queries_themselves_leave_the_stratum_empty() {
    let base = vec![0.0, 1.0, 3.0, 7.0, 12.0, 13.0, 15.0, 25.0];
    let line = Line::new(base, vec![8.0, 24.0, 11.0, -1.0], 2);
    assert_eq!(line.ids, [3, 4, 7, 6, 4, 5, 0, 1]);
    let counts = line.counts_of_queries();
    assert_eq!(counts, [1, 1, 0, 1, 2, 1, 1, 1]);
    let scored = line.score(&counts, &line.ids);
    let hubness = hubness(&scored);
    assert_eq!(
        (hubness.base.anti_hub_threshold, hubness.base.anti_hub_rows),
        (0, 1)
    );
    assert_eq!((hubness.anti_hub.queries, hubness.anti_hub.pairs), (0, 0));
    assert_eq!(hubness.base.query_budget, 1.0);
}

/// Queries at rows of a line, k = 1: the nearest is known, and any other row is wrong.
fn rows_of_a_line(n: usize) -> Line {
    let base: Vec<f32> = (0..n).map(|row| row as f32).collect();
    let queries = base.iter().map(|x| x + 0.25).collect();
    Line::new(base, queries, 1)
}

#[test]
fn w13_a_stratum_moves_the_mean_by_its_weight_at_most() {
    // 1,000 queries, 100 of them of anti-hubs: 891 of 900 found, and 20 of 100, then none.
    let line = rows_of_a_line(1000);
    let counts: Vec<u32> = (0..1000).map(|row| u32::from(row % 10 != 0)).collect();
    let answers = |found: u32| -> Vec<u32> {
        (0..1000u32)
            .map(|q| match (q % 10, q / 10) {
                (0, number) if number < found => q,
                (1, number) if number >= 9 => q,
                (0 | 1, _) => (q + 5) % 1000,
                _ => q,
            })
            .collect()
    };
    let some = line.score(&counts, &answers(20));
    assert_eq!(some.quality.recall_mean, 0.911);
    assert_eq!(hubness(&some).anti_hub.recall_pairs, Some(0.20));
    let none = line.score(&counts, &answers(0));
    assert_eq!(none.quality.recall_mean, 0.891);
    assert_eq!(hubness(&none).anti_hub.recall_pairs, Some(0.0));
    // It fails entirely, and the mean is still within its weight of 0.1.
    let moved = some.quality.recall_mean - none.quality.recall_mean;
    assert!(moved <= 0.1 && none.quality.recall_mean <= 0.9);
    let bar = &none.strata.as_ref().unwrap().bars[0];
    assert_eq!((bar.recall, bar.outcome), (0.90, StratumOutcome::Fail));
}

proptest! {
    /// `aggregate_le_of_failing`, and the mean moves by no more than the weight of what was changed.
    #[test]
    fn p12_a_failing_stratum_costs_its_weight(
        n in 20usize..80,
        of_stratum in prop::collection::vec(any::<bool>(), 80),
        wrong in prop::collection::vec(any::<bool>(), 80),
    ) {
        let line = rows_of_a_line(n);
        let counts: Vec<u32> = (0..n as u32).collect();
        let answers = |failing: bool| -> Vec<u32> {
            (0..n)
                .map(|q| match (of_stratum[q] && failing) || wrong[q] {
                    true => ((q + 7) % n) as u32,
                    false => q as u32,
                })
                .collect()
        };
        let weight = of_stratum[..n].iter().filter(|&&is| is).count() as f64 / n as f64;
        let (before, after) = (line.score(&counts, &answers(false)), line.score(&counts, &answers(true)));
        let (before, after) = (before.quality.recall_mean, after.quality.recall_mean);
        prop_assert!(after <= 1.0 - weight + 1e-12);
        prop_assert!(before - after <= weight + 1e-12 && after <= before);
    }

    /// A stratum without queries, or with too few, has no figure, and nothing passes.
    #[test]
    fn p15_an_empty_stratum_abstains(n in 12usize..60, anti_hubs in 0usize..40) {
        let line = rows_of_a_line(n);
        // Base rows of count 0 that no query has in its truth, or fewer than 100 that one has.
        let counts: Vec<u32> = (0..n).map(|row| u32::from(row >= anti_hubs)).collect();
        let scored = line.score(&counts, &line.ids);
        let anti = &hubness(&scored).anti_hub;
        prop_assert_eq!((anti.recall_pairs, anti.recall_pairs_standard_error), (None, None));
        prop_assert_eq!(anti.recall_q, None);
        for bar in &scored.strata.as_ref().unwrap().bars {
            prop_assert!(bar.outcome != StratumOutcome::Pass, "every answer is right, and it abstains");
        }
    }

    /// The nearest row of a query is in its truth, so that counts of the queries never call it an anti-hub
    /// of count 0.
    #[test]
    fn p26_counts_of_the_queries_know_every_first_neighbour(
        base in prop::collection::vec((0u8..60).prop_map(f32::from), 4..40),
        queries in prop::collection::vec((0u8..60).prop_map(f32::from), 1..8),
        k in 1usize..4,
    ) {
        let line = Line::new(base, queries, k);
        let counts = line.counts_of_queries();
        for first in line.ids.iter().step_by(k) {
            prop_assert!(counts[*first as usize] >= 1);
        }
        let scored = line.score(&counts, &line.ids);
        let found = hubness(&scored);
        if found.base.anti_hub_threshold == 0 {
            prop_assert_eq!((found.anti_hub.queries, found.anti_hub.pairs), (0, 0));
        }
    }
}
