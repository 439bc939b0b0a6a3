//! The verbs that answer questions, and answers for programs.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use serde_json::Value;
use support::{Bench, DIM, N, QUERIES, QUICK_CAMPAIGN, random_sweep};

/// The one document that `arguments` answer with, and the exit code.
fn document(bench: &Bench, arguments: &[&str]) -> (Value, i32) {
    let output = bench.run(arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let document = serde_json::from_str(&text).unwrap_or_else(|error| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        panic!("{arguments:?}: {error}\n{text}\n{stderr}")
    });
    (document, output.status.code().unwrap())
}

/// The values under `key` in the array `list`.
fn each<'v>(list: &'v Value, key: &str) -> Vec<&'v Value> {
    list.as_array().unwrap().iter().map(|v| &v[key]).collect()
}

/// `tiny` without its files, and nothing in their place.
fn without_files(bench: &Bench) {
    std::fs::remove_dir_all(bench.path("datasets/tiny")).unwrap();
}

#[test]
fn check_has_every_point_judged_without_the_files_of_the_dataset() {
    let bench = Bench::calibrated();
    without_files(&bench);
    let output = bench.run(&["check", "configs/campaign.yaml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for words in [
        "tiny, by its entry 400 x 8 u8 l2: 3 points accepted, 2 refused",
        "1 refused: require `seed < 3` does not hold: seed = 3",
        "found nonsense",
        "configs/campaign.yaml: 3 points accepted, 2 refused",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    assert!(!bench.path("datasets/tiny").exists() && !bench.path("results").exists());

    let (answer, code) = document(&bench, &["check", "configs/campaign.yaml", "--json"]);
    assert_eq!(code, 1);
    assert_eq!(
        (&answer["accepted"], &answer["rejected"]),
        (&3.into(), &2.into())
    );
    let builds = &answer["datasets"][0]["builds"];
    let points = &builds[0]["points"];
    let words: Vec<&str> = each(points, "status")
        .iter()
        .map(|w| w.as_str().unwrap())
        .collect();
    assert_eq!(words.iter().filter(|&&w| w == "accepted").count(), 3);
    assert_eq!(words.iter().filter(|&&w| w == "rejected").count(), 2);
    // Identities need the content.
    assert!(builds[0]["build_key"].is_null() && points[0]["point_id"].is_null());
}

#[test]
fn check_ends_well_when_every_point_is_accepted() {
    let bench = Bench::calibrated();
    let arguments = ["check", "configs/campaign.yaml", "--group", "exact"];
    let text = bench.answer(&arguments);
    assert!(
        text.ends_with("configs/campaign.yaml: 1 points accepted, 0 refused\n"),
        "{text}"
    );
    let sweep = ["check", "configs/sweep.yaml", "--group", "exact"];
    let complaint = bench.complaint(&sweep, 2);
    assert!(complaint.contains("add --dataset NAME"), "{complaint}");
    bench.answer(&[&sweep[..], &["--dataset", "tiny"]].concat());
}

#[test]
fn check_tells_a_file_that_cannot_be_read_and_an_adapter_that_cannot_be_asked() {
    let bench = Bench::calibrated();
    let complaint = bench.complaint(&["check", "configs/none.yaml"], 2);
    assert!(complaint.contains("configs/none.yaml"), "{complaint}");
    bench.write("configs/bad.yaml", "adapter: [\n");
    bench.complaint(&["check", "configs/bad.yaml", "--dataset", "tiny"], 2);
    bench.complaint(&["check", "configs/campaign.yaml", "--dataset", "none"], 2);

    bench.write(
        "configs/sweep.yaml",
        &random_sweep(2).replace("calibration", "absent"),
    );
    let output = bench.run(&["check", "configs/campaign.yaml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("adapter `absent` is not installed"), "{text}");
    assert!(
        text.contains("0 points accepted, 0 refused, 2 not judged"),
        "{text}"
    );
    let (answer, code) = document(&bench, &["check", "configs/campaign.yaml", "--json"]);
    assert_eq!((code, &answer["not_judged"]), (1, &2.into()));
    assert_eq!(each(&answer["unusable_adapters"], "adapter"), ["absent"]);
    // A plan tells the same.
    let (answer, code) = document(&bench, &["plan", "configs/campaign.yaml", "--json"]);
    assert_eq!(code, 1);
    let left_out = &answer["datasets"][0]["left_out"];
    assert_eq!(
        (each(left_out, "adapter"), each(left_out, "points")),
        (vec![&"absent".into()], vec![&2.into()])
    );
}

#[test]
fn plan_is_one_document() {
    let bench = Bench::calibrated();
    let arguments = ["plan", "configs/campaign.yaml", "--out", "run", "--json"];
    let (answer, code) = document(&bench, &arguments);
    assert_eq!(code, 0);
    assert_eq!(
        (&answer["builds"], &answer["searches"]),
        (&1.into(), &3.into())
    );
    assert!(each(&answer["settings"], "key").contains(&&"measure.seed".into()));
    let set = &answer["datasets"][0];
    assert_eq!(
        (&set["entry_only"], &set["dataset"]["n"]),
        (&false.into(), &N.into())
    );
    let build = &set["builds"][0];
    assert_eq!(build["build_key"].as_str().unwrap().len(), 64);
    let statuses = each(&build["points"], "status");
    assert_eq!(
        statuses.iter().filter(|&&word| word == "to_search").count(),
        3
    );
    assert_eq!(
        statuses.iter().filter(|&&word| word == "rejected").count(),
        2
    );
    for point in build["points"].as_array().unwrap() {
        assert_eq!(
            point["reason"].is_string(),
            point["status"] == "rejected",
            "{point}"
        );
    }

    bench.answer(&support::RUN);
    let (answer, _) = document(&bench, &arguments);
    assert_eq!(answer["searches"], 0);
    let points = &answer["datasets"][0]["builds"][0]["points"];
    assert_eq!(
        each(points, "status")
            .iter()
            .filter(|&&word| word == "ok")
            .count(),
        3
    );

    without_files(&bench);
    let (answer, _) = document(&bench, &arguments);
    let set = &answer["datasets"][0];
    assert_eq!(set["entry_only"], true);
    assert!(set["builds"][0]["points"][0]["point_id"].is_null());
}

#[test]
fn datasets_are_one_document() {
    let bench = Bench::new();
    std::fs::remove_file(bench.path("datasets/tiny/query.u8bin")).unwrap();
    let (entry, code) = document(&bench, &["datasets", "show", "tiny", "--json"]);
    assert_eq!(code, 0);
    assert_eq!(
        [&entry["n"], &entry["dim"], &entry["queries"]],
        [N, DIM, QUERIES].map(Value::from).each_ref()
    );
    assert_eq!(
        (&entry["metric"], &entry["element"]),
        (&"l2".into(), &"u8".into())
    );
    assert_eq!(each(&entry["files"], "state"), ["present", "missing"]);
    assert_eq!(entry["files"][0]["bytes_found"], N * DIM + 8);
    assert_eq!(
        (&entry["here"], &entry["truth_width"]),
        (&false.into(), &Value::Null)
    );

    let (list, code) = document(&bench, &["datasets", "list", "--json"]);
    assert_eq!((code, &list["datasets"][0]), (0, &entry));
    bench.write("datasets/broken.yaml", "name: other\n");
    let (list, code) = document(&bench, &["datasets", "list", "--json"]);
    assert_eq!(
        (code, each(&list["unusable_entries"], "name")),
        (1, vec![&"broken".into()])
    );
}

#[test]
fn adapters_are_one_document() {
    let bench = Bench::new();
    let (list, _) = document(&bench, &["adapters", "--json"]);
    let names = list["adapters"].as_array().unwrap();
    let names: Vec<&Value> = names.iter().map(|a| &a["descriptor"]["adapter"]).collect();
    assert!(names.contains(&&"calibration".into()) && names.contains(&&"exact".into()));
    let (one, code) = document(&bench, &["adapters", "calibration", "--json"]);
    assert_eq!(
        (code, &one["descriptor"]["adapter"]),
        (0, &"calibration".into())
    );
    assert_eq!(one["executable_sha256"].as_str().unwrap().len(), 64);
    assert!(each(&one["descriptor"]["search_params"], "name").contains(&&"searcher".into()));
}

#[test]
fn the_selftest_is_one_document() {
    // On a busy machine a check may fail: it is a document all the same.
    let (answer, code) = document(&Bench::new(), &["selftest", "--json"]);
    let passed = each(&answer["checks"], "passed");
    assert_eq!(
        each(&answer["checks"], "name"),
        ["exact", "random", "null", "spin"]
    );
    assert_eq!(code == 0, passed.iter().all(|&verdict| *verdict == true));
    assert!(answer["overhead_ns"].is_u64());
}

#[test]
fn every_verb_has_a_manual_page() {
    let bench = Bench::new();
    let page = bench.answer(&["man"]);
    assert!(
        page.contains(".TH annbench 1") && page.contains(".SH NAME"),
        "{page}"
    );
    let written = bench.answer(&["man", "--out", "man"]);
    for name in [
        "annbench",
        "annbench-check",
        "annbench-datasets-show",
        "annbench-man",
    ] {
        let path = format!("man/{name}.1");
        assert!(
            written.lines().any(|line| line == path),
            "{path} is not in\n{written}"
        );
        let page = std::fs::read_to_string(bench.path(&path)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{path}:\n{page}");
    }
    assert_eq!(
        std::fs::read_to_string(bench.path("man/annbench.1")).unwrap(),
        page
    );
    bench.write("taken", "");
    assert!(
        bench
            .complaint(&["man", "--out", "taken"], 2)
            .contains("taken")
    );
}

#[test]
fn a_campaign_of_unknown_groups_is_refused_by_check() {
    let bench = Bench::calibrated();
    bench.write("configs/campaign.yaml", QUICK_CAMPAIGN);
    let arguments = ["check", "configs/campaign.yaml", "--group", "exakt"];
    let complaint = bench.complaint(&arguments, 2);
    assert!(
        complaint.contains("exakt") && complaint.contains("exact"),
        "{complaint}"
    );
}

#[test]
fn a_report_is_one_document() {
    let bench = Bench::calibrated();
    bench.answer(&support::RUN);
    let (answer, code) = document(&bench, &["report", "run", "--json"]);
    assert_eq!(code, 0);
    let chart = &answer["charts"][0];
    assert_eq!(
        (&chart["k"], &chart["dataset"]["name"]),
        (&5.into(), &"tiny".into())
    );
    assert!(each(&chart["facts"], "label").contains(&&"reproduce".into()));
    let series = &chart["series"][0];
    assert_eq!(series["best_recall"], 1.0);
    assert_eq!(
        (&series["counts"]["ok"], &series["counts"]["rejected"]),
        (&3.into(), &2.into())
    );
    assert_eq!(each(&series["at_recall"], "recall"), [0.9, 0.95, 0.99]);
    let fastest = &series["at_recall"][2]["point"];
    assert_eq!(
        (&fastest["group"], &fastest["hits"]),
        (&"exact".into(), &(QUERIES * 5).into())
    );
    assert!(fastest["qps_median"].as_f64().unwrap() > 0.0);
    assert!(series["points"].is_null());
    for file in answer["files"].as_array().unwrap() {
        assert!(bench.path(file.as_str().unwrap()).is_file(), "{file}");
    }
    let (answer, _) = document(&bench, &["report", "run", "--json", "--points"]);
    let series = &answer["charts"][0]["series"][0];
    assert_eq!(series["points"].as_array().unwrap().len(), 3);
    assert_eq!(series["unplaced"].as_array().unwrap().len(), 2);
}

#[test]
fn a_run_is_drawn_once() {
    let bench = Bench::calibrated();
    bench.answer(&support::RUN);
    let twice = bench.complaint(&["report", "run", "./run"], 2);
    assert!(
        twice.contains("./run: expected each run once") && twice.contains("after run"),
        "{twice}"
    );
}

#[test]
fn explain_tells_everything_about_one_point() {
    let bench = Bench::calibrated();
    bench.answer(&[
        "run",
        "configs/campaign.yaml",
        "--out",
        "results/one",
        "--skip-selftest",
    ]);
    let run = annbench_results::RunRecords::open(&bench.path("results/one")).unwrap();
    let searches = run.latest_searches();
    let exact = searches
        .iter()
        .find(|search| search.group == "exact")
        .unwrap();
    let measured = exact.measured.as_ref().unwrap();
    let (id, build) = (&exact.point_id, exact.build_id.as_ref().unwrap());

    // As a report shows it, whether it was measured or refused.
    let table = bench.answer(&["report", "results/one", "--points"]);
    for search in &searches {
        assert!(table.contains(&search.point_id[..12]), "{table}");
    }
    // All directories under results, where none is named.
    let text = bench.answer(&["explain", &id[..12]]);
    let raw = measured.report.repetitions[0].ids_file.as_ref().unwrap();
    for words in [
        &format!("point {id} in results/one"),
        "searcher=exact",
        "250 hits of 250 (250 by id) over 50 queries: mean 1,",
        "other metrics (not recall@k)",
        "1-recall@1            1.000000: the nearest row is among the first 1 for 50 of 50 queries",
        "1-recall@5            1.000000: 50 of 50 by id",
        "MRR@5                 1.000000 of the exact nearest row, by id",
        "strata (the mean over queries hides one that fails)",
        "min over strata       ≥ 0.9: inconclusive",
        "repetition 1",
        "answers as in repetition 0",
        "service µs: mean",
        "distances per query   400.0",
        "computed exactly",
        &exact.dataset.base_fingerprint,
        &exact.truth.as_ref().unwrap().fingerprint,
        &exact.identity.build.executable_sha256,
        &exact.identity.build.machine.cpu_model,
        raw,
        "all here and those that were measured",
        &format!("build {build}, which was searched"),
        &format!("run {}", exact.run_id),
        "SELF-TEST             not run",
        "annbench run configs/campaign.yaml",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let metrics = bench.answer(&["report", "results/one", "--metrics"]);
    assert!(
        metrics.contains("none of the columns right of the bar is recall@k"),
        "{metrics}"
    );
    let (answer, _) = document(&bench, &["report", "results/one", "--metrics", "--json"]);
    let point = &answer["charts"][0]["series"][0]["at_recall"][0]["point"];
    assert_eq!(point["other_metrics"]["mrr"], 1.0, "{point}");
    let (answer, _) = document(&bench, &["report", "results/one", "--json"]);
    let point = &answer["charts"][0]["series"][0]["at_recall"][0]["point"];
    assert!(point.get("other_metrics").is_none(), "{point}");
    let (answer, code) = document(&bench, &["explain", id, "results/one", "--json"]);
    let search = &answer["runs"][0]["searches"][0];
    assert_eq!(
        (code, search["point_id"].as_str().unwrap()),
        (0, id.as_str())
    );
    assert_eq!(search["quality"]["hits"], QUERIES * 5);
    assert_eq!(answer["runs"][0]["builds"][0]["build_id"], build.as_str());
    assert_eq!(
        answer["runs"][0]["runs"][0]["run_id"],
        exact.run_id.as_str()
    );

    let text = bench.answer(&["explain", build, "results/one"]);
    assert!(text.contains(&format!("build {build}\n")), "{text}");
    let (key, attempt) = build.split_once('.').unwrap();
    for short in [key[..12].to_owned(), format!("{}.{attempt}", &key[..12])] {
        assert_eq!(bench.answer(&["explain", &short]), text, "{short}");
    }
    let line = text.lines().find(|line| line.contains(&id[..12])).unwrap();
    assert!(
        line.contains("searcher=exact k=5: ok, recall 1, "),
        "{line}"
    );

    let refused = searches
        .iter()
        .find(|search| search.group == "odd")
        .unwrap();
    let text = bench.answer(&["explain", &refused.point_id, "results/one"]);
    assert!(
        text.contains("rejected (") && text.contains("nonsense"),
        "{text}"
    );

    // Raw files that are not those that were measured are told.
    let path = run.dir.join(&measured.raw_dir).join(raw);
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let output = bench.run(&["explain", id, "results/one"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("RAW FILES LOST"));
    std::fs::remove_file(&path).unwrap();
    let (answer, code) = document(&bench, &["explain", id, "results/one", "--json"]);
    assert_eq!(code, 1);
    let why = answer["runs"][0]["searches"][0]["raw_files_lost"]
        .as_str()
        .unwrap();
    assert!(why.contains(raw), "{why}");
}

#[test]
fn explain_lists_candidates_where_the_beginning_of_an_id_is_not_enough() {
    let bench = Bench::new();
    bench.write("configs/sweep.yaml", &random_sweep(17));
    bench.write("configs/campaign.yaml", QUICK_CAMPAIGN);
    let complaint = bench.complaint(&["explain", "0"], 2);
    assert!(complaint.contains("results"), "{complaint}");
    bench.answer(&support::RUN);
    let run = annbench_results::RunRecords::open(&bench.path("run")).unwrap();
    let ids: Vec<&str> = run
        .latest_searches()
        .iter()
        .map(|s| s.point_id.as_str())
        .collect();
    // Seventeen ids begin with one of sixteen digits.
    let digit = "0123456789abcdef"
        .chars()
        .find(|d| ids.iter().filter(|id| id.starts_with(*d)).count() > 1);
    let digit = digit.unwrap().to_string();
    let complaint = bench.complaint(&["explain", &digit, "run"], 2);
    for id in ids.iter().filter(|id| id.starts_with(&digit)) {
        assert!(complaint.contains(&id[..12]), "{id} is not in\n{complaint}");
    }
    assert!(
        complaint.contains("add digits") && complaint.contains("searcher=random"),
        "{complaint}"
    );
    for unknown in ["none", ""] {
        let complaint = bench.complaint(&["explain", unknown, "run"], 2);
        assert!(
            complaint.contains("no point or build in run begins with"),
            "{complaint}"
        );
        assert!(
            complaint.contains("more; `annbench report DIR --points`"),
            "{complaint}"
        );
    }
    let complaint = bench.complaint(&["explain", &digit, "nowhere"], 2);
    assert!(complaint.contains("nowhere"), "{complaint}");
}
