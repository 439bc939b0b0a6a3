//! A name with a letter wrong, wherever one is given: refused, with the name that was meant.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use serde_json::{Value, json};
use support::{Bench, RUN, SWEEP};

/// The complaint about `arguments` suggests `meant`.
fn suggests(bench: &Bench, arguments: &[&str], meant: &str) -> String {
    let complaint = bench.complaint(arguments, 2);
    let suggestion = format!("id you mean `{meant}`?");
    assert!(
        complaint.contains(&suggestion),
        "{arguments:?}:\n{complaint}"
    );
    complaint
}

#[test]
fn a_misspelt_choice_on_the_command_line_is_refused_by_every_verb_that_takes_one() {
    let bench = Bench::calibrated();
    for verb in ["check", "plan", "run"] {
        for (flag, given, meant) in [
            ("--adapter", "calibraton", "calibration"),
            ("--without-adapter", "Calibration", "calibration"),
            ("--group", "exakt", "exact"),
            ("--dataset", "tinny", "tiny"),
            ("--accept-checksum", "tinny", "tiny"),
            ("--narrow", "tinny", "tiny"),
        ] {
            let complaint = suggests(&bench, &[verb, "configs/campaign.yaml", flag, given], meant);
            assert!(complaint.contains(given), "{complaint}");
        }
    }
    assert!(!bench.path("results").exists());
}

#[test]
fn misspelt_things_to_show_are_refused() {
    let bench = Bench::calibrated();
    suggests(&bench, &["adapters", "exakt"], "exact");
    suggests(&bench, &["datasets", "show", "tinny"], "tiny");
    suggests(&bench, &["datasets", "check", "Tiny"], "tiny");
    // Nothing is near: no suggestion misleads.
    for arguments in [
        &["adapters", "faraway"][..],
        &["datasets", "show", "faraway"],
    ] {
        let complaint = bench.complaint(arguments, 2);
        assert!(!complaint.contains("id you mean"), "{complaint}");
    }
}

#[test]
fn an_adapter_that_is_not_installed_is_refused_at_its_line_with_the_nearest_one_that_is() {
    let bench = Bench::calibrated();
    bench.write(
        "configs/sweep.yaml",
        &SWEEP.replace("calibration", "calibratoin"),
    );
    let complaint = suggests(&bench, &RUN, "calibration");
    for words in [
        "configs/sweep.yaml:1:10: adapter `calibratoin` is not installed",
        "1 | adapter: calibratoin",
        "annbench-adapter-calibratoin",
        "`exact`",
        "scripts/build-adapters calibratoin",
    ] {
        assert!(complaint.contains(words), "{words} is not in\n{complaint}");
    }
    // As its executable is called.
    bench.write(
        "configs/sweep.yaml",
        &SWEEP.replace("calibration", "hnsw-rs"),
    );
    let complaint = suggests(&bench, &RUN, "hnsw_rs");
    assert!(complaint.contains("configs/sweep.yaml:1:10"), "{complaint}");
}

#[test]
fn a_misspelt_file_is_refused_with_the_one_beside_it() {
    let bench = Bench::calibrated();
    let complaint = bench.complaint(&["plan", "configs/campagin.yaml"], 2);
    assert!(
        complaint.contains("did you mean configs/campaign.yaml?"),
        "{complaint}"
    );
    let sweeps = "sweeps: [ { file: sweeep.yaml } ]\ndatasets: [tiny]\n";
    bench.write("configs/campaign.yaml", sweeps);
    let complaint = bench.complaint(&["plan", "configs/campaign.yaml"], 2);
    assert!(
        complaint.contains("did you mean configs/sweep.yaml?"),
        "{complaint}"
    );
}

#[test]
fn a_misspelt_parameter_is_told_with_its_line_by_check_plan_and_run() {
    let bench = Bench::calibrated();
    bench.write(
        "configs/sweep.yaml",
        &SWEEP.replace("{ searcher: random", "{ sarcher: random"),
    );
    let screen = "configs/sweep.yaml:4:23: adapter `calibration` has no search parameter `sarcher`";
    for arguments in [
        &["check", "configs/campaign.yaml"][..],
        &["plan", "configs/campaign.yaml"],
        &RUN,
    ] {
        let output = bench.run(arguments);
        let both = [output.stdout, output.stderr].concat();
        let both = String::from_utf8(both).unwrap();
        assert!(both.contains(screen), "{arguments:?}:\n{both}");
        assert!(
            both.contains("did you mean `searcher`?"),
            "{arguments:?}:\n{both}"
        );
        assert_eq!(both.matches(screen).count(), 1, "{arguments:?}:\n{both}");
    }
    for verb in ["check", "plan"] {
        let output = bench.run(&[verb, "configs/campaign.yaml", "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            document["undeclared_parameters"],
            json!([{
                "adapter": "calibration",
                "stage": "search",
                "name": "sarcher",
                "nearest": "searcher",
                "file": "configs/sweep.yaml",
                "line": 4,
                "column": 23,
            }])
        );
    }
    bench.write("configs/sweep.yaml", SWEEP);
    let output = bench.run(&["check", "configs/campaign.yaml", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["undeclared_parameters"], json!([]));
}

#[test]
fn a_point_with_a_wrong_digit_is_refused_with_the_one_that_is_there() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let run = annbench_results::RunRecords::open(&bench.path("run")).unwrap();
    let searches = run.latest_searches();
    let id = searches[0].point_id.as_str();
    let wrong = if id.as_bytes()[3] == b'0' { "1" } else { "0" };
    let mistyped = format!("{}{wrong}{}", &id[..3], &id[4..12]);
    let complaint = bench.complaint(&["explain", &mistyped, "run"], 2);
    let (_, suggested) = complaint.split_once("did you mean\n").unwrap();
    assert_eq!(suggested.lines().count(), 1, "{complaint}");
    assert!(suggested.contains(&id[..12]), "{complaint}");
}
