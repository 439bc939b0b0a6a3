//! The command as its users meet it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_results::{Record, RunRecords};
use support::{Bench, DIM, N, QUERIES, QUICK_CAMPAIGN, RUN, SWEEP, random_sweep};

#[test]
fn a_campaign_becomes_records_a_table_plots_and_a_csv() {
    let bench = Bench::calibrated();
    let plan = bench.answer(&["plan", "configs/campaign.yaml", "--out", "run"]);
    assert!(
        plan.contains("1 build, 3 searches of 2 repetitions, at least "),
        "{plan}"
    );
    assert!(
        plan.contains("require `seed < 3` does not hold: seed = 3"),
        "{plan}"
    );
    assert!(plan.contains("found nonsense"), "{plan}");
    assert!(plan.contains("(default)"), "{plan}");

    let output = bench.run(&RUN);
    let table = String::from_utf8(output.stdout).unwrap();
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{progress}");
    for expected in [
        "annbench-calibration",
        "tiny",
        "anti-hub recall",
        "annbench-calibration 0.1.0 abstains · found of",
        "computed",
    ] {
        assert!(table.contains(expected), "{expected} is not in\n{table}");
    }
    assert!(
        table.contains("annbench run configs/campaign.yaml"),
        "{table}"
    );
    assert!(progress.contains("[5/5]"), "{progress}");
    // Lines for people and logs, no control characters for terminals.
    assert!(!progress.contains('\u{1b}'), "{progress}");
    for line in table.lines().filter(|line| line.starts_with("run/report/")) {
        assert!(bench.path(line).metadata().unwrap().len() > 100, "{line}");
    }
    assert_eq!(
        table
            .lines()
            .filter(|line| line.starts_with("run/report/"))
            .count(),
        // Five kinds of plot in two formats, and the CSV.
        11
    );

    let run = RunRecords::open(&bench.path("run")).unwrap();
    let outcomes: Vec<&str> = run
        .latest_searches()
        .iter()
        .map(|s| s.outcome.word())
        .collect();
    assert_eq!(outcomes.iter().filter(|&&word| word == "ok").count(), 3);
    assert_eq!(
        outcomes.iter().filter(|&&word| word == "rejected").count(),
        2
    );
    let exact = run
        .latest_searches()
        .into_iter()
        .find(|search| search.group == "exact")
        .unwrap();
    let quality = exact.quality.as_ref().unwrap();
    assert_eq!(
        (quality.hits, quality.recall_mean),
        ((QUERIES * 5) as u64, 1.0)
    );
    let per_query = exact
        .measured
        .as_ref()
        .map(|m| m.report.counters.distance_computations.unwrap() / m.report.counted_queries);
    assert_eq!(per_query, Some(N as u64));

    // The same command again has nothing to do, and says the same.
    let again = bench.run(&RUN);
    assert!(
        String::from_utf8_lossy(&again.stderr).contains("5 points are finished already; 0 remain")
    );
    let searches = |run: &RunRecords| {
        run.records
            .iter()
            .filter(|r| matches!(r, Record::Search(_)))
            .count()
    };
    assert_eq!(
        searches(&RunRecords::open(&bench.path("run")).unwrap()),
        searches(&run)
    );
    let plan = bench.answer(&["plan", "configs/campaign.yaml", "--out", "run"]);
    assert!(plan.contains("0 builds, 0 searches"), "{plan}");

    let rescored = bench.answer(&["rescore", "run"]);
    assert!(
        rescored.contains("run: 3 points scored again, 0 changed"),
        "{rescored}"
    );
    let report = bench.answer(&["report", "run", "--points"]);
    assert!(report.contains("searcher=exact"), "{report}");
    std::fs::create_dir(bench.path("copy")).unwrap();
    std::fs::copy(
        bench.path("run/records.jsonl"),
        bench.path("copy/records.jsonl"),
    )
    .unwrap();
    bench.answer(&["report", "run", "copy", "--out", "both"]);
}

#[test]
fn a_sweep_runs_by_itself_with_defaults_that_plan_prints() {
    let bench = Bench::calibrated();
    let plan = bench.answer(&[
        "plan",
        "configs/sweep.yaml",
        "--dataset",
        "tiny",
        "--group",
        "exact",
    ]);
    assert!(
        plan.contains("measure.repetitions    5  (default)"),
        "{plan}"
    );
    assert!(plan.contains("1 build, 1 search"), "{plan}");
    let complaint = bench.complaint(&["plan", "configs/sweep.yaml"], 2);
    assert!(complaint.contains("add --dataset NAME"), "{complaint}");
}

#[test]
fn k_beyond_the_base_and_beyond_the_truth_are_refused_points() {
    let bench = Bench::calibrated();
    bench.write(
        "configs/campaign.yaml",
        &QUICK_CAMPAIGN.replace("k: [5]", "k: [5, 150, 401]"),
    );
    let plan = bench.answer(&["plan", "configs/campaign.yaml", "--group", "exact"]);
    assert!(plan.contains("k = 401"), "{plan}");
    // Computed truth is as wide as the campaign asks for.
    assert!(plan.contains("2 searches"), "{plan}");
    bench.write_truth(0);
    let plan = bench.answer(&["plan", "configs/campaign.yaml", "--group", "exact"]);
    assert!(
        plan.contains("10 neighbours per query, k = 150 needs 150"),
        "{plan}"
    );
    assert!(plan.contains("1 search"), "{plan}");
}

#[test]
fn what_is_wrong_with_a_request_is_said_before_anything_is_measured() {
    let bench = Bench::calibrated();
    let check = |arguments: &[&str], expected: &[&str]| {
        let complaint = bench.complaint(arguments, 2);
        for words in expected {
            assert!(
                complaint.contains(words),
                "{arguments:?}: {words} is not in\n{complaint}"
            );
        }
        assert!(!bench.path("run").join("records.jsonl").exists());
    };
    check(
        &["run", "configs/none.yaml", "--out", "run"],
        &["configs/none.yaml", "No such file"],
    );
    check(
        &[
            "run",
            "configs/campaign.yaml",
            "--out",
            "run",
            "--dataset",
            "tinny",
        ],
        &["tinny", "tiny"],
    );
    check(
        &[
            "run",
            "configs/campaign.yaml",
            "--out",
            "run",
            "--group",
            "exakt",
        ],
        &["exakt", "exact"],
    );
    check(
        &[
            "run",
            "configs/campaign.yaml",
            "--out",
            "run",
            "--accept-checksum",
            "other",
        ],
        &["other", "tiny"],
    );
    bench.write(
        "configs/sweep.yaml",
        "adapter: no_such_library\ngroups: { a: { search: { x: 1 } } }\n",
    );
    check(
        &["run", "configs/campaign.yaml", "--out", "run"],
        &[
            "annbench-adapter-no-such-library",
            "scripts/build-adapters",
            "calibration",
        ],
    );
    bench.write("configs/sweep.yaml", "adapter: calibration\ngrups: {}\n");
    check(
        &["run", "configs/campaign.yaml", "--out", "run"],
        &["configs/sweep.yaml:2:1", "grups", "groups", "^"],
    );
    bench.write("configs/sweep.yaml", SWEEP);
    bench.write("datasets/tiny.yaml", &Bench::entry("metrc: l2\n"));
    check(
        &["run", "configs/campaign.yaml", "--out", "run"],
        &["datasets/tiny.yaml:10", "metrc", "^"],
    );
    bench.write("datasets/tiny.yaml", &Bench::entry(""));
    let base = bench.path("datasets/tiny/base.u8bin");
    let bytes = std::fs::read(&base).unwrap();
    std::fs::write(&base, &bytes[..bytes.len() - 1]).unwrap();
    check(
        &["run", "configs/campaign.yaml", "--out", "run"],
        &["base.u8bin", "3208", "3207"],
    );
    std::fs::remove_file(&base).unwrap();
    check(
        &["run", "configs/campaign.yaml", "--out", "run"],
        &["base.u8bin", "datasets"],
    );
    // A plan needs no files, and says that it had none.
    let plan = bench.answer(&["plan", "configs/campaign.yaml"]);
    assert!(plan.contains("planned from its entry alone"), "{plan}");
    assert!(plan.contains("base.u8bin"), "{plan}");
    assert!(plan.contains("3 searches"), "{plan}");
    check(&["report", "run"], &["run"]);
    check(&["rescore", "run"], &["run"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let bench = Bench::calibrated();
    // A file where the run's folder should be: refused for root as well.
    bench.write("occupied", "");
    let complaint = bench.complaint(
        &[
            "run",
            "configs/campaign.yaml",
            "--skip-selftest",
            "--out",
            "occupied/run",
        ],
        2,
    );
    assert!(complaint.contains("occupied/run"), "{complaint}");
    // The table does not need the folder that the plots would go to.
    bench.answer(&RUN);
    let output = bench.run(&["report", "run", "--out", "occupied/report"]);
    assert_eq!(output.status.code(), Some(1));
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("annbench-calibration"), "{table}");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("occupied/report"), "{complaint}");
    assert!(complaint.contains("--out"), "{complaint}");
}

#[test]
fn a_sweep_whose_every_point_is_refused_is_said_to_measure_nothing() {
    let bench = Bench::calibrated();
    bench.write(
        "configs/sweep.yaml",
        "adapter: calibration\ngroups: { odd: { search: { searcher: nonsense } } }\n",
    );
    let output = bench.run(&["plan", "configs/campaign.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let plan = String::from_utf8_lossy(&output.stdout);
    assert!(plan.contains("nothing would be measured"), "{plan}");
    let output = bench.run(&RUN);
    assert_eq!(output.status.code(), Some(1));
    let progress = String::from_utf8_lossy(&output.stderr);
    assert!(progress.contains("nothing was measured"), "{progress}");
}

#[test]
fn a_plan_without_one_of_its_adapters_shows_the_rest() {
    let bench = Bench::calibrated();
    bench.write(
        "configs/other.yaml",
        "adapter: no_such_library\ngroups: { a: { search: { x: 1 } } }\n",
    );
    bench.write(
        "configs/campaign.yaml",
        &QUICK_CAMPAIGN.replace("[ {", "[ { file: other.yaml }, {"),
    );
    let output = bench.run(&["plan", "configs/campaign.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let plan = String::from_utf8_lossy(&output.stdout);
    assert!(plan.contains("1 build, 3 searches"), "{plan}");
    assert!(plan.contains("not planned"), "{plan}");
    assert!(plan.contains("annbench-adapter-no-such-library"), "{plan}");
    assert!(plan.contains("scripts/build-adapters"), "{plan}");
}

#[test]
fn every_adapter_that_is_missing_is_named_and_a_group_of_one_is_planned_without_it() {
    let bench = Bench::calibrated();
    for name in ["one", "two"] {
        bench.write(
            &format!("configs/{name}.yaml"),
            &format!(
                "adapter: no_such_{name}\ngroups: {{ only_{name}: {{ search: {{ x: [1, 2] }} }} }}\n"
            ),
        );
    }
    let sweeps = "[ { file: one.yaml }, { file: two.yaml }, {";
    bench.write(
        "configs/campaign.yaml",
        &QUICK_CAMPAIGN.replace("[ {", sweeps),
    );
    let complaint = bench.complaint(&RUN, 2);
    for name in [
        "annbench-adapter-no-such-one",
        "annbench-adapter-no-such-two",
    ] {
        assert!(complaint.contains(name), "{complaint}");
    }
    let output = bench.run(&["plan", "configs/campaign.yaml", "--group", "only_one"]);
    assert_eq!(output.status.code(), Some(1));
    let plan = String::from_utf8_lossy(&output.stdout);
    assert!(plan.contains("0 builds, 0 searches"), "{plan}");
    assert!(
        plan.contains("no_such_one: 1 build with 2 points are left out"),
        "{plan}"
    );
    assert!(!plan.contains("no_such_two: 1 build"), "{plan}");
    let complaint = bench.complaint(&["plan", "configs/campaign.yaml", "--group", "none"], 2);
    assert!(complaint.contains("only_one"), "{complaint}");
}

#[test]
fn what_opening_finds_is_told_once_by_every_verb_and_doubts_stand_on_results() {
    let bench = Bench::calibrated();
    let base = bench.path("datasets/tiny/base.u8bin");
    let bytes = std::fs::read(&base).unwrap();
    let sum = "b".repeat(64);
    let entry = Bench::entry(&format!(
        "files: {{ base.u8bin: {{ bytes: {}, sha256: \"{sum}\" }} }}\nnotes: [ \"ever so nice\" ]\n",
        bytes.len()
    ));
    let taken = format!("rows: {N}, take_first: 300");
    bench.write(
        "datasets/tiny.yaml",
        &entry.replace(&format!("rows: {N}"), &taken),
    );
    let mut cut = bytes[..8 + 300 * DIM].to_vec();
    cut[..4].copy_from_slice(&300u32.to_le_bytes());
    std::fs::write(&base, cut).unwrap();
    // Nothing can be kept: that is a note.
    bench.write("datasets/.cache", "");
    let doubt = format!("base.u8bin: expected sha256 {sum}, not compared: the file is cut to 2408");
    let notes = ["base.u8bin is cut to 2408", "could not be kept"];
    let told = |verb: &str, text: &str, notes: &[&str]| {
        for words in notes.iter().chain([&doubt.as_str()]) {
            assert_eq!(text.matches(words).count(), 1, "{verb}: {words} in\n{text}");
        }
        assert_eq!(text.contains("ever so nice"), verb == "datasets", "{text}");
    };
    let plan = ["plan", "configs/campaign.yaml"];
    for (arguments, notes) in [
        (&RUN[..], &notes[..]),
        (&plan, &notes[..1]),
        (&["rescore", "run"], &notes),
        (&["datasets", "check", "tiny"], &notes),
    ] {
        let output = bench.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        match arguments[0] {
            // Its table and its plots say it too.
            "run" => told("run", &stderr, notes),
            verb => {
                let stdout = String::from_utf8_lossy(&output.stdout);
                told(verb, &(stderr + &stdout), notes);
            }
        }
    }
    let report = bench.answer(&["report", "run"]);
    assert!(report.contains("not verified"), "{report}");
    let run = RunRecords::open(&bench.path("run")).unwrap();
    for search in run.latest_searches() {
        assert_eq!(search.accepted_checksums.len(), 1);
        assert!(search.accepted_checksums[0].starts_with(&doubt));
    }
}

#[test]
fn a_wrong_checksum_refuses_and_an_override_is_on_every_result() {
    let bench = Bench::calibrated();
    let zeros = "a".repeat(64);
    bench.write(
        "datasets/tiny.yaml",
        &Bench::entry(&format!(
            "files: {{ base.u8bin: {{ sha256: \"{zeros}\" }} }}\n"
        )),
    );
    let complaint = bench.complaint(&RUN, 2);
    assert!(
        complaint.contains("base.u8bin") && complaint.contains(&zeros),
        "{complaint}"
    );
    assert!(complaint.contains("--accept-checksum"), "{complaint}");
    let mut accepting = RUN.to_vec();
    accepting.extend(["--accept-checksum", "tiny"]);
    let table = bench.answer(&accepting);
    assert!(table.contains("checksum"), "{table}");
    let run = RunRecords::open(&bench.path("run")).unwrap();
    for search in run.latest_searches() {
        assert_eq!(search.accepted_checksums.len(), 1);
        assert!(search.accepted_checksums[0].contains(&zeros));
    }
    let svg = bench.path("run/report");
    let plots: Vec<_> = std::fs::read_dir(svg)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "svg"))
        .collect();
    assert_eq!(plots.len(), 5);
    for plot in plots {
        let text = std::fs::read_to_string(&plot).unwrap();
        assert!(text.contains("checksum"), "{}", plot.display());
    }
}

#[test]
fn values_that_do_not_fit_are_rounded_by_name_and_every_result_says_so() {
    let bench = Bench::calibrated();
    // An array of f64 as NumPy saves it, for an entry of f32.
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({QUERIES}, 8), }}");
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((padded as u16).to_le_bytes());
    npy.extend(format!("{header:<width$}\n", width = padded - 1).bytes());
    npy.extend((0..QUERIES * 8).flat_map(|i| (0.1 * i as f64).to_le_bytes()));
    std::fs::write(bench.path("datasets/tiny/query.npy"), npy).unwrap();
    let base: Vec<u8> = [N as u32, 8]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .chain((0..N * 8).flat_map(|i| (i as f32).to_le_bytes()))
        .collect();
    std::fs::write(bench.path("datasets/tiny/base.fbin"), base).unwrap();
    let entry = Bench::entry("")
        .replace("element: u8", "element: f32")
        .replace("base.u8bin, format: u8bin", "base.fbin, format: fbin")
        .replace("query.u8bin, format: u8bin", "query.npy, format: npy");
    bench.write("datasets/tiny.yaml", &entry);
    let complaint = bench.complaint(&RUN, 2);
    assert!(complaint.contains("query.npy"), "{complaint}");
    assert!(complaint.contains("--narrow"), "{complaint}");
    let narrowing = [&RUN[..], &["--narrow", "tiny"]].concat();
    let table = bench.answer(&narrowing);
    assert!(table.contains("values rounded to f32"), "{table}");
    assert!(table.contains("--narrow tiny"), "{table}");
    let text = bench.answer(&["rescore", "run"]);
    assert!(text.contains("3 points scored again, 0 changed"), "{text}");
}

#[test]
fn datasets_and_adapters_are_listed_and_shown() {
    let bench = Bench::calibrated();
    let list = bench.answer(&["datasets", "list"]);
    assert!(list.contains("tiny") && list.contains("here"), "{list}");
    let shown = bench.answer(&["datasets", "show", "tiny"]);
    for words in [
        "400 x 8 u8",
        "base.u8bin",
        "computed exactly",
        "generated by a test",
    ] {
        assert!(shown.contains(words), "{words} is not in\n{shown}");
    }
    let checked = bench.answer(&["datasets", "check", "tiny"]);
    assert!(
        checked.contains("base fingerprint") && checked.contains("computed exactly"),
        "{checked}"
    );
    let adapters = bench.answer(&["adapters"]);
    assert!(
        adapters.contains("calibration") && adapters.contains("exact"),
        "{adapters}"
    );
    let one = bench.answer(&["adapters", "calibration"]);
    assert!(one.contains("spin_ns") && one.contains("sha256"), "{one}");
}

#[test]
fn the_self_test_is_in_the_record_and_its_answer_names_every_check() {
    let bench = Bench::calibrated();
    bench.write("configs/sweep.yaml", &random_sweep(1));
    bench.answer(&["run", "configs/campaign.yaml", "--out", "run"]);
    let run = RunRecords::open(&bench.path("run")).unwrap();
    let Some(Record::Run(record)) = run.records.first() else {
        panic!("the first record is no run record");
    };
    let selftest = record.selftest.as_ref().unwrap();
    let names: Vec<&str> = selftest
        .checks
        .iter()
        .map(|check| check.name.as_str())
        .collect();
    assert_eq!(names, ["exact", "random", "null", "spin"]);
    // What depends on time may fail on a busy machine; what does not may not.
    assert!(selftest.checks[0].passed, "{:?}", selftest.checks[0]);
    assert!(selftest.checks[1].passed, "{:?}", selftest.checks[1]);
}

#[test]
fn truth_of_another_base_is_refused_or_refuted_never_scored_silently() {
    let bench = Bench::calibrated();
    // Ids beyond the base: the truth of a larger one.
    bench.write_truth(N as u32 - 5);
    let complaint = bench.complaint(&RUN, 2);
    assert!(complaint.contains("truth.ibin"), "{complaint}");
    assert!(complaint.contains(&N.to_string()), "{complaint}");
    // Ids of rows that exist, but are not the nearest ones.
    bench.write_truth(0);
    let checked = bench.run(&["datasets", "check", "tiny"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("REFUTED"));
    let complaint = bench.complaint(&RUN, 2);
    assert!(
        complaint.contains("--accept-violation tiny:corpus_matches"),
        "{complaint}"
    );
    assert!(!bench.path("run/records.jsonl").exists(), "measured first");
    let output = bench.run(&[&RUN[..], &["--accept-violation", "tiny:corpus_matches"]].concat());
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("REFUTED"));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("REFUTED"), "{table}");
    let run = RunRecords::open(&bench.path("run")).unwrap();
    for search in run.latest_searches() {
        assert!(search.truth.as_ref().unwrap().refuted_by.is_some());
    }
}
