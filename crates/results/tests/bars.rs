//! When every stratum reaches a recall, and when that is not shown: pass, fail and inconclusive.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use annbench_core::{Metric, Rows, Vectors, distance};
use annbench_results::*;
use std::sync::Arc;

use StratumOutcome::{Fail, Inconclusive, Pass};

/// Rows on a circle, queries between them, and the 2k nearest rows of each.
struct Circle {
    metric: Metric,
    base: Vec<f32>,
    queries: Vec<f32>,
    ids: Vec<u32>,
    distances: Vec<f64>,
    k: usize,
}

impl Circle {
    /// A query beside each of the first `m` of `n` rows.
    fn new(metric: Metric, n: usize, m: usize) -> Self {
        Self::with_queries(metric, n, 1, (0..m).map(|q| q as f64))
    }

    /// Queries right behind these of `n` rows.
    fn with_queries(metric: Metric, n: usize, k: usize, beside: impl Iterator<Item = f64>) -> Self {
        let at = |turn: f64| {
            let angle = turn / n as f64 * std::f64::consts::TAU;
            [angle.cos() as f32, angle.sin() as f32]
        };
        let base: Vec<f32> = (0..n).flat_map(|row| at(row as f64)).collect();
        let queries: Vec<f32> = beside.flat_map(|row| at(row + 0.2)).collect();
        let mut circle = Self {
            metric,
            base,
            queries,
            ids: Vec::new(),
            distances: Vec::new(),
            k,
        };
        circle.find_truth();
        circle
    }

    fn find_truth(&mut self) {
        let base = Vectors::F32(Rows::new(&self.base, 2).unwrap());
        let queries = Vectors::F32(Rows::new(&self.queries, 2).unwrap());
        for q in 0..queries.n() {
            let mut row: Vec<(f64, u32)> = (0..base.n())
                .map(|i| distance(self.metric, queries.row(q), base.row(i)))
                .zip(0..)
                .collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            self.ids.extend(row[..2 * self.k].iter().map(|r| r.1));
            self.distances.extend(row[..2 * self.k].iter().map(|r| r.0));
        }
    }

    /// The strata of answers that are right where `found` says so. Rows of count 0 are those that
    /// are `rare`.
    fn strata(&self, rare: impl Fn(usize) -> bool, found: impl Fn(usize) -> bool) -> StrataQuality {
        let n = self.base.len() / 2;
        let mut set = ScoringSet {
            metric: self.metric,
            base: Vectors::F32(Rows::new(&self.base, 2).unwrap()),
            queries: Vectors::F32(Rows::new(&self.queries, 2).unwrap()),
            truth_ids: &self.ids,
            truth_distances: &self.distances,
            truth_width: 2 * self.k,
            max_base_norm: 1.0,
            strata: &[],
            relevance: None,
        };
        let counts = (0..n).map(|row| u32::from(!rare(row))).collect();
        let occurrences = Occurrences {
            k: self.k,
            asked: n as u64,
            counts: Arc::new(counts),
        };
        let strata = [Strata::new(&set, self.k, Ok(occurrences))];
        set.strata = &strata;
        let m = set.queries.n();
        let ids: Vec<u32> = (0..m)
            .flat_map(|q| {
                let right = &self.ids[2 * self.k * q..][..self.k];
                let off = if found(q) { 0 } else { n as u32 / 2 };
                right.iter().map(move |id| (id + off) % n as u32)
            })
            .collect();
        let answers = Answers {
            k: self.k,
            ids: &ids,
            returned: &vec![self.k as u32; m],
            invalid_count: 0,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let scored = score_answers(&pool, &set, &answers).unwrap();
        scored.strata.unwrap()
    }
}

/// What was judged, and what abstained.
fn told(strata: &StrataQuality) -> (&[Stratum], &[Stratum]) {
    let told = strata.bars[0].strata.as_ref().unwrap();
    (&told.judged, &told.abstained)
}

fn outcomes(strata: &StrataQuality) -> Vec<StratumOutcome> {
    strata.bars.iter().map(|bar| bar.outcome).collect()
}

#[test]
fn strata_pass_fail_and_decide_nothing() {
    let circle = Circle::new(Metric::L2, 3000, 3000);
    let rare = |row| row % 3 == 0;
    // All right: 1,000 queries in each third, and as many pairs.
    let all_right = circle.strata(rare, |_| true);
    assert_eq!(outcomes(&all_right), [Pass; 3]);
    let all = [
        Stratum::EasyThird,
        Stratum::MiddleThird,
        Stratum::HardThird,
        Stratum::AntiHubs,
    ];
    assert_eq!(told(&all_right), (&all[..], &[][..]));
    // 0.92 within each stratum: the bounds are 0.023 away.
    let some = circle.strata(rare, |q| q / 3 % 25 > 1);
    assert_eq!(outcomes(&some), [Inconclusive, Fail, Fail]);
    // One stratum at 0.70, the mean at 0.90.
    let rare_ones_lost = circle.strata(rare, |q| q % 3 != 0 || q % 10 > 2);
    let anti_hub = rare_ones_lost
        .hubness
        .as_ref()
        .unwrap()
        .anti_hub
        .recall_pairs;
    assert_eq!(anti_hub, Some(0.7));
    assert_eq!(outcomes(&rare_ones_lost), [Fail; 3]);
}

/// Inner products have no thirds: what the anti-hubs reach is not what every stratum reaches.
#[test]
fn without_difficulty_the_anti_hubs_alone_pass_nothing() {
    let circle = Circle::new(Metric::InnerProduct, 3000, 3000);
    let rare = |row| row % 10 == 0;
    let half_of_the_rest = circle.strata(rare, |q| q % 10 == 0 || q % 2 == 0);
    let hubness = half_of_the_rest.hubness.as_ref().unwrap();
    assert_eq!(hubness.anti_hub.recall_pairs, Some(1.0));
    assert!(half_of_the_rest.difficulty.is_err());
    assert_eq!(outcomes(&half_of_the_rest), [Fail; 3]);
    let judged = [Stratum::AllQueries, Stratum::AntiHubs];
    assert_eq!(told(&half_of_the_rest), (&judged[..], &Stratum::THIRDS[..]));
    assert_eq!(outcomes(&circle.strata(rare, |_| true)), [Inconclusive; 3]);
}

/// Of 299 queries the hard third has 99, too few for bounds.
#[test]
fn a_third_that_abstains_is_not_left_out() {
    let circle = Circle::new(Metric::L2, 3000, 299);
    let thirds = |strata: &StrataQuality| -> Vec<u64> {
        let difficulty = strata.difficulty.as_ref().unwrap();
        difficulty
            .thirds
            .iter()
            .map(|third| third.queries)
            .collect()
    };
    let rare = |row| row % 2 == 0;
    let all_right = circle.strata(rare, |_| true);
    assert_eq!(thirds(&all_right), [100, 100, 99]);
    assert_eq!(outcomes(&all_right), [Inconclusive; 3]);
    let (judged, abstained) = told(&all_right);
    assert_eq!(abstained, [Stratum::HardThird]);
    assert_eq!(judged[2..], [Stratum::AllQueries, Stratum::AntiHubs]);
    let more = Circle::new(Metric::L2, 3000, 300);
    assert_eq!(
        outcomes(&more.strata(rare, |_| true)),
        [Pass, Pass, Inconclusive]
    );
}

/// A query without a direction is as far from all rows: it is scored nowhere, and ranks nowhere.
#[test]
fn queries_that_are_not_scored_are_in_no_third() {
    let mut circle = Circle::new(Metric::Cosine, 600, 400);
    circle.queries[..200].fill(0.0);
    circle.ids.clear();
    circle.distances.clear();
    circle.find_truth();
    let strata = circle.strata(|row| row % 2 == 0, |_| true);
    let queries: Vec<u64> = strata
        .difficulty
        .unwrap()
        .thirds
        .iter()
        .map(|third| third.queries)
        .collect();
    assert_eq!(queries, [100, 100, 100]);
}

/// Five queries have ten anti-hubs each, sixty have one: that one of the five fails costs the most.
#[test]
fn pairs_weigh_as_many_as_their_query_has() {
    // Rows 0 to 299 are anti-hubs, and behind row 303 the ten nearest are rows 299 to 308.
    let beside = |q: usize| match q {
        0..5 => 100.0,
        5..65 => 303.0,
        _ => 1000.0 + q as f64,
    };
    let turns = (0..1000).map(beside);
    let circle = Circle::with_queries(Metric::L2, 3000, 10, turns);
    let strata = circle.strata(|row| row < 300, |_| true);
    let anti_hub = &strata.hubness.as_ref().unwrap().anti_hub;
    assert_eq!((anti_hub.pairs, anti_hub.pair_queries), (110, 65));
    assert_eq!(anti_hub.recall_pairs_standard_error, Some(0.0));
    // By 65 queries alike the lower bound would be 0.925.
    assert_eq!(outcomes(&strata), [Inconclusive; 3]);
    assert_eq!(told(&strata).1, []);
}
