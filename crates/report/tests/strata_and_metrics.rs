//! Strata and metrics that are not recall@k, as people see them.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_core::Params;
use annbench_report::{LabelledRun, Overlay};
use annbench_results::{
    AnnBenchmarksRecall, AntiHubQuality, Bar, BarStrata, BigAnnRecall, DifficultyMeasure,
    DifficultyQuality, Hubness, HubnessQuality, KRecallAtN, OneRecallAtR, OneThird, OtherMetrics,
    Record, RelativeDistanceError, SearchRecord, StrataQuality, Stratum, StratumOutcome,
};
use common::*;

fn third(recall: f64) -> OneThird {
    OneThird {
        queries: 300,
        hits: (3000.0 * recall) as u64,
        recall: Some(recall),
    }
}

fn strata() -> StrataQuality {
    let bar = |recall, outcome| Bar {
        recall,
        outcome,
        strata: Some(BarStrata {
            judged: Stratum::THIRDS.to_vec(),
            abstained: vec![Stratum::AntiHubs],
        }),
    };
    StrataQuality {
        queries_by_hits: vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 225, 675],
        hubness: Err("too long".to_owned()),
        difficulty: Ok(DifficultyQuality {
            measure: DifficultyMeasure::Lid,
            thirds: vec![third(1.0), third(0.99), third(0.93)],
        }),
        bars: vec![
            bar(0.90, StratumOutcome::Inconclusive),
            bar(0.95, StratumOutcome::Fail),
            bar(0.99, StratumOutcome::Fail),
        ],
    }
}

fn other_metrics() -> OtherMetrics {
    let one = |r, queries_found, recall| OneRecallAtR {
        r,
        queries_found,
        recall,
    };
    OtherMetrics {
        scored_queries: 900,
        k_recall_at_n: vec![KRecallAtN {
            k: 1,
            n: 10,
            id_hits: 891,
            recall: 0.99,
        }],
        one_recall_at_r: vec![one(1, 810, 0.9), one(10, 891, 0.99)],
        nearest_at_rank: vec![810, 81],
        mrr: 0.945,
        relative_distance_error: Ok(RelativeDistanceError {
            queries: 900,
            short_queries: 0,
            zero_queries: 0,
            zero_pairs: 0,
            mean: Some(0.00125),
        }),
        ann_benchmarks_recall: Ok(AnnBenchmarksRecall {
            slots_within: 8910,
            recall: 0.99,
        }),
        big_ann_recall: BigAnnRecall {
            extended_hits: 8883,
            recall: 0.987,
        },
        qrels: None,
    }
}

fn point() -> SearchRecord {
    let params = Params::new().with("ef", int(40));
    let mut point = Library::new("faiss", "1.12.0").point(&Params::new(), &params, 10, 0.97, 100.0);
    point.strata = Some(strata());
    point.other_metrics = Some(other_metrics());
    point
}

fn overlay_of<T>(point: SearchRecord, of: impl FnOnce(&Overlay<'_>) -> T) -> T {
    overlay_of_all(vec![point], of)
}

fn overlay_of_all<T>(points: Vec<SearchRecord>, of: impl FnOnce(&Overlay<'_>) -> T) -> T {
    let records: Vec<Record> = points.into_iter().map(search).collect();
    of(&Overlay::new(&[LabelledRun {
        label: "a",
        records: &records,
        doubts: &[],
    }]))
}

#[test]
fn a_line_tells_whether_every_stratum_reaches_the_recall() {
    let summary = overlay_of(point(), |o| o.summary());
    let line =
        "strata ≥ 0.95    faiss 1.12.0 fail (hard third 0.9300) · by the bounds of every stratum";
    assert!(summary.contains(line), "{summary}");
    let mut without = point();
    without.strata = None;
    let summary = overlay_of(without, |o| o.summary());
    assert!(!summary.contains("strata ≥"), "{summary}");
}

/// A point of `adapter` whose bars have this outcome.
fn outcome_of(
    adapter: &'static str,
    outcome: StratumOutcome,
    abstained: &[Stratum],
) -> SearchRecord {
    let params = Params::new().with("ef", int(40));
    let mut point = Library::new(adapter, "1").point(&Params::new(), &params, 10, 0.97, 100.0);
    let mut strata = strata();
    for bar in &mut strata.bars {
        bar.outcome = outcome;
        bar.strata.as_mut().unwrap().abstained = abstained.to_vec();
    }
    point.strata = Some(strata);
    point
}

fn strata_line(points: Vec<SearchRecord>) -> String {
    let summary = overlay_of_all(points, |o| o.summary());
    let line = summary.split("strata ≥ 0.95").nth(1).unwrap();
    // Long lines are wrapped.
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn the_line_says_what_keeps_a_library_from_passing() {
    use StratumOutcome::{Inconclusive, Pass};
    let pass = outcome_of("a", Pass, &[]);
    let hard = outcome_of("b", Inconclusive, &[Stratum::HardThird]);
    let mut none = outcome_of("c", Inconclusive, &[]);
    let all = [&Stratum::THIRDS[..], &[Stratum::AntiHubs]].concat();
    let strata = none.strata.as_mut().unwrap();
    strata.difficulty = Err("inner products are no distances".to_owned());
    for bar in &mut strata.bars {
        bar.strata.as_mut().unwrap().abstained.clone_from(&all);
    }
    let mut unscored = pass.clone();
    unscored.library = "d 1".to_owned();
    unscored.point_id = "d".repeat(64);
    unscored.strata = None;
    let line = strata_line(vec![pass, hard, none, unscored]);
    for words in [
        "a 1 pass (hard third 0.9300), ",
        "b 1 inconclusive (hard third 0.9300; without bounds: hard third), ",
        "c 1 inconclusive (without bounds: all thirds, anti-hubs), ",
        "d 1 not told ·",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
}

#[test]
fn a_point_that_is_only_the_best_and_an_earlier_rule_are_named() {
    let mut low = outcome_of("a", StratumOutcome::Pass, &[]);
    low.quality.as_mut().unwrap().recall_mean = 0.93;
    for bar in &mut low.strata.as_mut().unwrap().bars {
        bar.strata = None;
    }
    let line = strata_line(vec![low]);
    let words =
        "a 1 pass (at its best, recall 0.9300; hard third 0.9300; by an earlier rule: rescore) ·";
    assert!(line.contains(words), "{line}");
}

fn by_counts(adapter: &'static str, asked_rows: u64, recall: Option<f64>) -> SearchRecord {
    let mut point = outcome_of(adapter, StratumOutcome::Inconclusive, &[]);
    point.strata.as_mut().unwrap().hubness = Ok(HubnessQuality {
        base: Hubness {
            k: 10,
            asked_rows,
            anti_hub_threshold: 2,
            anti_hub_rows: 5_500,
            never_rows: 3,
            skewness: None,
            robin_hood: None,
            query_budget: 0.2,
            query_skewness: None,
        },
        anti_hub: AntiHubQuality {
            pairs: 342,
            pairs_found: 340,
            pair_queries: 277,
            recall_pairs: recall,
            recall_pairs_standard_error: recall.map(|_| 0.01),
            queries: 34,
            hits: 340,
            recall_q: None,
        },
        by_count: Vec::new(),
        hub_rank_all: None,
        hub_rank_support: None,
        total_variation: 0.1,
        hub_overlap: None,
    });
    point
}

#[test]
fn anti_hubs_by_other_counts_stand_on_a_line_of_their_own() {
    let mut never = outcome_of("d", StratumOutcome::Inconclusive, &[]);
    never.strata.as_mut().unwrap().hubness = Err("it takes long".to_owned());
    let mut unscored = never.clone();
    unscored.library = "e 1".to_owned();
    unscored.point_id = "e".repeat(64);
    unscored.strata = None;
    let points = vec![
        by_counts("a", 50_000, Some(0.99)),
        by_counts("b", 25_000, Some(0.98)),
        by_counts("c", 50_000, None),
        never.clone(),
        unscored,
    ];
    let summary = overlay_of_all(points, |o| o.summary());
    let words: Vec<&str> = summary.split_whitespace().collect();
    let text = words.join(" ");
    let lines: Vec<&str> = text.split("anti-hub recall ").skip(1).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("a 1 0.9900 (all rows by ids 0.9700), c 1 abstains · found of"));
    assert!(!lines[0].contains("estimated"));
    assert!(lines[1].starts_with("b 1 0.9800 (all rows by ids 0.9700) · found of"));
    assert!(lines[1].contains("estimated from the neighbours of 25,000 rows"));
    assert!(lines[2].starts_with("e 1 not computed"), "{lines:?}");
    assert!(
        lines[3].starts_with("d 1 not computed: it takes long"),
        "{lines:?}"
    );
    // Where that is so of all, none is named.
    let summary = overlay_of(never, |o| o.summary());
    assert!(
        summary.contains("anti-hub recall  not computed: it takes long"),
        "{summary}"
    );
}

#[test]
fn other_metrics_stand_apart_from_recall() {
    let text = overlay_of(point(), |o| o.metrics());
    let row = "recall@10  |  1-rec@1  1-rec@10  MRR@10  rel. error  ann-b.  big-ann";
    let figures = "0.9700  |   0.9000    0.9900  0.9450     1.25e-3  0.9900   0.9870";
    for words in [
        row,
        figures,
        "none of the columns right of the bar is recall@k",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    // Scored by an earlier version.
    let mut earlier = point();
    earlier.other_metrics = None;
    let text = overlay_of(earlier, |o| o.metrics());
    let dashes = "0.9700  |        -         -       -           -       -        -";
    assert!(text.contains(dashes), "{text}");
}

#[test]
fn the_csv_has_strata_and_other_metrics() {
    let csv = overlay_of(point(), |o| o.csv());
    let mut lines = csv.lines();
    let (header, row) = (lines.next().unwrap(), lines.next().unwrap());
    // No field of this row holds a comma before these columns but in quotes: count from the end.
    let cell = |name: &str| {
        let from_end = header.split(',').rev().position(|h| h == name).unwrap();
        row.split(',').rev().nth(from_end).unwrap()
    };
    for (name, value) in [
        ("min_over_strata", "0.9 inconclusive; 0.95 fail; 0.99 fail"),
        ("strata_abstained", "anti-hubs"),
        ("robustness_0.90", "1"),
        ("robustness_0.95", "0.75"),
        ("recall_easy_third", "1"),
        ("recall_hard_third", "0.93"),
        ("id_recall_by_count", ""),
        ("1_recall_at_1", "0.9"),
        ("1_recall_at_100", ""),
        ("1_recall_at_k", "0.99"),
        ("10_recall_at_k", ""),
        ("mrr_of_nearest", "0.945"),
        ("relative_distance_error", "0.00125"),
        ("ann_benchmarks_recall", "0.99"),
        ("big_ann_recall", "0.987"),
        ("qrels_ndcg_at_k", ""),
    ] {
        assert_eq!(cell(name), value, "{name}");
    }
}
