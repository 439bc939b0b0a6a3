//! `agreement`: two points, two runs, and what is refused.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use support::{Bench, QUERIES, RUN};

/// Ids of the measured points of `run`, by group and number.
fn points(bench: &Bench, run: &str) -> BTreeMap<String, Vec<String>> {
    let run = annbench_results::RunRecords::open(&bench.path(run)).unwrap();
    let mut points: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for search in run.latest_searches() {
        if search.measured.is_some() {
            let of_group = points.entry(search.group.clone()).or_default();
            of_group.push(search.point_id.clone());
        }
    }
    points
}

#[test]
fn two_points_agree_as_far_as_their_answers_do() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let points = points(&bench, "run");
    let (exact, random) = (&points["exact"][0], &points["random"]);
    let text = bench.answer(&["agreement", &exact[..12], &random[0][..12], "run"]);
    for words in [
        "Agreement of approximate searches. It is not recall.",
        "tiny: 50 queries, k = 5, l2",
        "A has an exact top-k for every query: agreement with it is recall by ids",
        "two searches may agree and both be wrong",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let text = bench.answer(&["agreement", &random[0], &random[1], "run", "--json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["is_recall"], false);
    let pair = &document["pairs"][0];
    let agreement = &pair["agreement"];
    let by_shared: Vec<u64> =
        serde_json::from_value(agreement["queries_by_shared"].clone()).unwrap();
    assert_eq!(by_shared.iter().sum::<u64>(), QUERIES as u64);
    let shared: u64 = by_shared
        .iter()
        .zip(0..)
        .map(|(queries, s)| queries * s)
        .sum();
    assert_eq!(agreement["shared"], shared);
    assert_eq!(pair["a"]["point_id"], random[0].as_str());
    assert!(pair["a"].get("recall_mean").is_some() && agreement.get("recall_mean").is_none());

    let complaint = bench.complaint(&["agreement", &random[0], &random[0], "run"], 2);
    assert!(complaint.contains("twice"), "{complaint}");
    let complaint = bench.complaint(&["agreement", &random[0], "run"], 2);
    assert!(
        complaint.contains("name two run directories"),
        "{complaint}"
    );
}

#[test]
fn two_runs_are_compared_point_by_point() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let mut again = RUN;
    again[3] = "again";
    bench.answer(&again);
    let text = bench.answer(&["agreement", "run", "again"]);
    let rows: Vec<&str> = text.lines().filter(|l| l.contains("searcher=")).collect();
    assert_eq!(rows.len(), 3, "{text}");
    // Random searchers go on where their warm-up ended: only the exact one answers alike.
    assert!(
        rows[0].contains("1.0000  1.0000") && rows[0].contains("searcher=exact"),
        "{text}"
    );
    assert!(
        text.contains("left out: 4 points that were not measured"),
        "{text}"
    );

    // Lost raw files have no agreement.
    let random = &points(&bench, "run")["random"][0];
    std::fs::remove_dir_all(bench.path(&format!("run/raw/{random}"))).unwrap();
    let complaint = bench.complaint(&["agreement", "run", "again"], 2);
    assert!(complaint.contains("--retry lost"), "{complaint}");
}

/// The lines of `text` that tell what was left out.
fn left_out(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines.filter_map(|l| l.strip_prefix("left out: ")).collect()
}

/// Writes the measured points of a group of `run` once more, as another executable would have measured them.
fn measure_again_with_another_executable(bench: &Bench, run: &str, group: &str) {
    use annbench_results::{Record, RunRecords, point_id};
    let records = RunRecords::open(&bench.path(run)).unwrap();
    let file = format!("{run}/records.jsonl");
    let mut text = std::fs::read_to_string(bench.path(&file)).unwrap();
    for search in records.latest_searches() {
        if search.group == group && search.identity.k == 5 {
            let mut other = search.clone();
            other.identity.build.executable_sha256 = "0".repeat(64);
            other.point_id = point_id(&other.identity).unwrap();
            text += &serde_json::to_string(&Record::Search(Box::new(other))).unwrap();
            text += "\n";
        }
    }
    bench.write(&file, &text);
}

#[test]
fn what_two_runs_do_not_share_is_left_out_by_name() {
    let bench = Bench::calibrated();
    let campaign = |k: &str, seeds: &str| {
        let campaign = support::QUICK_CAMPAIGN.replace("k: [5]", k);
        bench.write("configs/campaign.yaml", &campaign);
        let groups = format!(
            "{{ exact: {{ search: {{ searcher: exact }} }}, \
             random: {{ search: {{ searcher: random, seed: {seeds} }} }} }}"
        );
        bench.write(
            "configs/sweep.yaml",
            &format!("adapter: calibration\ngroups: {groups}\n"),
        );
    };
    campaign("k: [4, 5]", "[1, 2]");
    bench.answer(&RUN);
    campaign("k: [3, 5]", "[2, 3, 4]");
    let mut again = RUN;
    again[3] = "again";
    bench.answer(&again);
    measure_again_with_another_executable(&bench, "again", "exact");
    let text = bench.answer(&["agreement", "run", "again"]);
    let compared: Vec<&str> = text.lines().filter(|l| l.contains("searcher=")).collect();
    assert_eq!(compared.len(), 2, "{text}");
    let on = |number, own, k, other| {
        format!(
            "{number} points of {own} on tiny, k = {k}: {other} has no approximate point on the same base and \
             queries with this metric and k"
        )
    };
    let again = "1 points of B like another one but for their executable or machine, and no \
                 more such points in A";
    let expected = [
        on(3, "A", 4, "B"),
        "1 points of A whose adapter, parameters, mode, threads and seed no point of B has"
            .to_owned(),
        on(4, "B", 3, "A"),
        "2 points of B whose adapter, parameters, mode, threads and seed no point of A has"
            .to_owned(),
        again.to_owned(),
    ];
    let found: Vec<&str> = left_out(&text);
    assert_eq!(found, expected, "{text}");

    // With both executables in both runs each finds its own.
    measure_again_with_another_executable(&bench, "run", "exact");
    let text = bench.answer(&["agreement", "run", "again"]);
    let compared: Vec<&str> = text.lines().filter(|l| l.contains("searcher=")).collect();
    assert_eq!(compared.len(), 3, "{text}");
    assert!(!text.contains("but for their executable"), "{text}");
}

#[test]
fn agreement_with_an_exact_search_is_recall_and_refused() {
    let bench = Bench::calibrated();
    bench.write(
        "configs/flat.yaml",
        "adapter: exact\ngroups: { base: { search: {} } }\n",
    );
    bench.write(
        "configs/campaign.yaml",
        "sweeps: [ { file: sweep.yaml }, { file: flat.yaml } ]\n\
         datasets: [tiny]\nk: [5]\n\
         measure: { repetitions: 1, min_pass: 5ms, warm_up: 1ms }\n",
    );
    bench.answer(&RUN);
    let points = points(&bench, "run");
    let complaint = bench.complaint(
        &["agreement", &points["random"][0], &points["base"][0], "run"],
        2,
    );
    for words in [
        "is an exact search",
        "recall, which `annbench run` computes",
    ] {
        assert!(complaint.contains(words), "{complaint}");
    }
}

#[test]
fn answers_to_other_k_are_not_compared() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let other = support::QUICK_CAMPAIGN.replace("k: [5]", "k: [4]");
    bench.write("configs/campaign.yaml", &other);
    let mut again = RUN;
    again[3] = "other";
    bench.answer(&again);
    let complaint = bench.complaint(&["agreement", "run", "other"], 2);
    assert!(
        complaint.contains("no dataset, with the same base, queries, metric and k"),
        "{complaint}"
    );
    let (a, b) = (
        &points(&bench, "run")["random"][0],
        &points(&bench, "other")["random"][0],
    );
    let complaint = bench.complaint(&["agreement", a, b, "run", "other"], 2);
    assert!(complaint.contains("k: 5 and 4"), "{complaint}");
}
