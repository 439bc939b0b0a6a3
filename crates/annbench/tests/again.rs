//! What becomes of a run later: scored again, repaired, gone on with.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Outcome, RunRecords};
use std::path::PathBuf;
use support::{Bench, DIM, N, QUERIES, RUN, SWEEP};

#[test]
fn changed_truth_and_changed_raw_files_show_when_scored_again() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let random = run
        .latest_searches()
        .into_iter()
        .find(|search| search.group == "random" && search.outcome == Outcome::Ok)
        .unwrap();
    let raw = bench
        .path("run")
        .join(&random.measured.as_ref().unwrap().raw_dir);
    // An id that no base row has, where the first answer was.
    let ids = raw.join("ids.r0.npy");
    let mut bytes = std::fs::read(&ids).unwrap();
    let body = bytes.len() - QUERIES * 5 * 4;
    let first: Vec<u8> = bytes[body..body + 4].to_vec();
    bytes[body..body + 4].copy_from_slice(&(N as u32).to_le_bytes());
    std::fs::write(&ids, &bytes).unwrap();
    let rescored = bench.run(&["rescore", "run"]);
    assert_eq!(rescored.status.code(), Some(1));
    let text = String::from_utf8_lossy(&rescored.stdout).into_owned();
    assert!(text.contains("2 points scored again, 0 changed"), "{text}");
    assert!(text.contains("ids.r0.npy"), "{text}");
    assert!(text.contains("hash"), "{text}");
    let again = RunRecords::open(&bench.path("run")).unwrap();
    assert_eq!(again.records, run.records);
    // A score that was edited shows, and `--check` only says so.
    let journal = bench.path("run/records.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let edited = text.replacen("\"recall_mean\":1.0", "\"recall_mean\":0.5", 1);
    assert_ne!(edited, text);
    std::fs::write(&journal, &edited).unwrap();
    bytes[body..body + 4].copy_from_slice(&first);
    std::fs::write(&ids, &bytes).unwrap();
    let checked = bench.run(&["rescore", "run", "--check"]);
    assert_eq!(checked.status.code(), Some(1));
    let shown = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(shown.contains("1 changed"), "{shown}");
    assert!(shown.contains("recall 0.500000"), "{shown}");
    assert!(shown.contains("recall 1.000000"), "{shown}");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), edited);
    bench.answer(&["rescore", "run"]);
    let again = RunRecords::open(&bench.path("run")).unwrap();
    assert_eq!(again.records, run.records);
    // A raw file that is gone costs its point, and the point can be measured again.
    std::fs::remove_file(&ids).unwrap();
    let rescored = bench.run(&["rescore", "run"]);
    assert_eq!(rescored.status.code(), Some(1));
    let text = String::from_utf8_lossy(&rescored.stdout).into_owned();
    assert!(text.contains("ids.r0.npy"), "{text}");
    assert!(text.contains("--retry lost"), "{text}");
    assert_eq!(
        RunRecords::open(&bench.path("run")).unwrap().records,
        again.records
    );
    let output = bench.run(&[&RUN[..], &["--retry", "lost"]].concat());
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        progress.contains("1 points have lost their raw files"),
        "{progress}"
    );
    assert!(progress.contains("ids.r0.npy"), "{progress}");
    assert!(
        progress.contains("4 points are finished already; 1 remain"),
        "{progress}"
    );
    let text = bench.answer(&["rescore", "run"]);
    assert!(text.contains("3 points scored again, 0 changed"), "{text}");
}

/// The raw folder of the only measured point of `group`.
fn raw_of(bench: &Bench, group: &str) -> PathBuf {
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let searches = run.latest_searches();
    let search = searches
        .into_iter()
        .find(|search| search.group == group && search.measured.is_some());
    let raw_dir = &search.unwrap().measured.as_ref().unwrap().raw_dir;
    bench.path("run").join(raw_dir)
}

#[test]
fn only_points_of_the_selection_are_measured_again_when_lost() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    std::fs::remove_file(raw_of(&bench, "exact").join("ids.r0.npy")).unwrap();
    let again = |more: &[&str]| {
        let output = bench.run(&[&RUN[..], &["--retry", "lost"], more].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let progress = again(&["--group", "random"]);
    assert!(
        progress.contains("0 points have lost their raw files"),
        "{progress}"
    );
    let progress = again(&[]);
    assert!(progress.contains("1 points have lost"), "{progress}");
}

#[test]
fn a_dataset_that_is_gone_costs_its_points_and_a_directory_that_fails_none_before_it() {
    let bench = Bench::calibrated();
    let other = Bench::entry("").replace("name: tiny", "name: other");
    let other = other.replace("base.u8bin", "other.u8bin");
    bench.write(
        "datasets/other.yaml",
        &other.replace("dim:", "folder: tiny\ndim:"),
    );
    bench.write_u8bin("datasets/tiny/other.u8bin", N, DIM, 3);
    bench.answer(&[&RUN[..], &["--dataset", "tiny", "--dataset", "other"]].concat());
    let before = RunRecords::open(&bench.path("run")).unwrap().records;
    let rescored = || {
        let output = bench.run(&["rescore", "run"]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    // Another base under the old name, then none at all.
    bench.write_u8bin("datasets/tiny/other.u8bin", N, DIM, 4);
    let text = rescored();
    assert!(text.contains("3 points scored again, 0 changed"), "{text}");
    assert!(text.contains("3 points could not be scored"), "{text}");
    let said = "dataset other: the records were measured on a base with fingerprint";
    assert_eq!(text.matches(said).count(), 1, "{text}");
    std::fs::remove_file(bench.path("datasets/tiny/other.u8bin")).unwrap();
    let text = rescored();
    assert!(text.contains("3 points scored again, 0 changed"), "{text}");
    assert!(text.contains("other.u8bin is missing"), "{text}");
    assert_eq!(
        RunRecords::open(&bench.path("run")).unwrap().records,
        before
    );

    // Without the points of that dataset, and with a score that was edited.
    let journal = std::fs::read_to_string(bench.path("run/records.jsonl")).unwrap();
    let tiny: String = journal
        .lines()
        .filter(|line| !line.contains("\"name\":\"other\""))
        .map(|line| line.replace("\"recall_mean\":1.0", "\"recall_mean\":0.5") + "\n")
        .collect();
    bench.write("run/records.jsonl", &tiny);
    for folder in ["second", "third"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
        bench.write(&format!("{folder}/records.jsonl"), &tiny);
    }
    let held = annbench_results::Store::create_or_open(&bench.path("second")).unwrap();
    let output = bench.run(&["rescore", "run", "second", "third"]);
    let (text, complaint) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(
        text.contains("run: 3 points scored again, 1 changed"),
        "{text}"
    );
    assert!(
        complaint.contains("second: another annbench"),
        "{complaint}"
    );
    assert!(complaint.contains("third"), "{complaint}");
    drop(held);
    // A folder that is no run is said before anything is rewritten.
    bench.write("run/records.jsonl", &tiny);
    let complaint = bench.complaint(&["rescore", "run", "configs"], 2);
    assert!(complaint.contains("configs: expected a run"), "{complaint}");
    let kept = std::fs::read_to_string(bench.path("run/records.jsonl")).unwrap();
    assert_eq!(kept, tiny);
}

#[test]
fn what_was_accepted_is_one_file_and_not_any() {
    let bench = Bench::calibrated();
    bench.write_truth(0);
    let wrong = "a".repeat(64);
    let truth = "truth: { file: truth.ibin, format: bigann_truth, width: 10 }\n";
    let files = format!("files: {{ truth.ibin: {{ sha256: \"{wrong}\" }} }}\n");
    bench.write(
        "datasets/tiny.yaml",
        &Bench::entry(&(truth.to_owned() + &files)),
    );
    let accepting = [
        "--accept-checksum",
        "tiny",
        "--accept-violation",
        "tiny:corpus_matches",
    ];
    bench.answer(&[&RUN[..], &accepting].concat());
    bench.answer(&["rescore", "run"]);
    let path = bench.path("datasets/tiny/truth.ibin");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8..12].copy_from_slice(&20u32.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let output = bench.run(&["rescore", "run"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("which no record has accepted"), "{text}");
    assert!(text.contains(&wrong), "{text}");
}

#[test]
fn a_truth_that_was_corrected_since_asks_for_rescoring() {
    let bench = Bench::calibrated();
    bench.write_truth(0);
    let accepting = ["--accept-violation", "tiny:corpus_matches"];
    bench.answer(&[&RUN[..], &accepting].concat());
    bench.write("datasets/tiny.yaml", &Bench::entry(""));
    let output = bench.run(&RUN);
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        progress.contains("3 finished points were scored against another truth"),
        "{progress}"
    );
    assert!(progress.contains("annbench rescore run"), "{progress}");
    let text = bench.answer(&["rescore", "run"]);
    assert!(text.contains("3 changed"), "{text}");
    let output = bench.run(&RUN);
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!progress.contains("another truth"), "{progress}");
}

#[test]
fn a_point_that_its_sweep_no_longer_refuses_is_measured() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let outcome = || {
        let run = RunRecords::open(&bench.path("run")).unwrap();
        let searches = run.latest_searches();
        let third = searches
            .into_iter()
            .find(|search| search.identity.search_params.to_string() == "searcher=random seed=3");
        third.unwrap().outcome.word()
    };
    assert_eq!(outcome(), "rejected");
    bench.write(
        "configs/sweep.yaml",
        &SWEEP.replace(", require: [\"seed < 3\"]", ""),
    );
    let plan = bench.answer(&["plan", "configs/campaign.yaml", "--out", "run"]);
    assert!(plan.contains("1 build, 1 search"), "{plan}");
    let output = bench.run(&RUN);
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        progress.contains("4 points are finished already; 1 remain"),
        "{progress}"
    );
    assert_eq!(outcome(), "ok");
}

#[test]
fn a_parameter_that_was_edited_in_a_record_shows_everywhere() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let journal = bench.path("run/records.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let edited = text.replacen("\"seed\":1,", "\"seed\":7,", 1);
    let edited = match edited == text {
        true => text.replacen("\"seed\":1}", "\"seed\":7}", 1),
        false => edited,
    };
    assert_ne!(edited, text);
    std::fs::write(&journal, &edited).unwrap();
    for verb in [&["plan", "configs/campaign.yaml", "--out", "run"][..], &RUN] {
        let complaint = bench.complaint(verb, 2);
        assert!(complaint.contains("were edited"), "{complaint}");
        assert!(complaint.contains("records.jsonl"), "{complaint}");
    }
    let checked = bench.run(&["rescore", "run", "--check"]);
    assert_eq!(checked.status.code(), Some(1));
    let shown = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(shown.contains("edited: run, line"), "{shown}");
    let report = bench.answer(&["report", "run"]);
    assert!(report.contains("contradict themselves"), "{report}");
}

#[test]
fn edited_times_are_refused_and_lost_folders_are_told() {
    let bench = Bench::calibrated();
    bench.answer(&RUN);
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let searches = run.latest_searches();
    let measured: Vec<_> = searches
        .iter()
        .filter_map(|s| s.measured.as_ref())
        .collect();
    let raw = bench.path("run").join(&measured[0].raw_dir);
    let file = raw.join("latency.r0.npy");
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let rescored = bench.run(&["rescore", "run"]);
    assert_eq!(rescored.status.code(), Some(1));
    let text = String::from_utf8_lossy(&rescored.stdout).into_owned();
    assert!(text.contains("0 changed"), "{text}");
    assert!(
        text.contains("expected the latencies that were measured"),
        "{text}"
    );
    std::fs::remove_dir_all(&raw).unwrap();
    let report = bench.answer(&["report", "run"]);
    assert!(
        report.contains("raw files of 1 points are gone"),
        "{report}"
    );
}
