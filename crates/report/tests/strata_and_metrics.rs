//! Strata and metrics that are not recall@k, as people see them.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_core::Params;
use annbench_report::{LabelledRun, Overlay};
use annbench_results::{
    AnnBenchmarksRecall, Bar, BigAnnRecall, DifficultyMeasure, DifficultyQuality, KRecallAtN,
    OneRecallAtR, OneThird, OtherMetrics, Record, RelativeDistanceError, SearchRecord,
    StrataQuality, StratumOutcome,
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
    let bar = |recall, outcome| Bar { recall, outcome };
    StrataQuality {
        queries_by_hits: vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 225, 675],
        hubness: Err("too long".to_owned()),
        difficulty: Ok(DifficultyQuality {
            measure: DifficultyMeasure::Lid,
            thirds: vec![third(1.0), third(0.99), third(0.93)],
        }),
        bars: vec![
            bar(0.90, StratumOutcome::Pass),
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
    let records = [Record::Search(Box::new(point))];
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
