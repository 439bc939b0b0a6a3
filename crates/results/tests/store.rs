//! The run directory through interruptions.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_results::*;
use common::*;
use std::fs;
use std::path::Path;

fn sample() -> Vec<Record> {
    vec![
        run_record(),
        build_record(),
        search_record('a', Outcome::Ok),
        search_record(
            'b',
            Outcome::Rejected {
                reason: "k > n".to_owned(),
            },
        ),
        search_record(
            'c',
            failed(Cause::OutOfMemory {
                limit_bytes: u64::MAX,
                observed_bytes: None,
            }),
        ),
    ]
}

fn filled(dir: &Path) -> Vec<u8> {
    let mut store = Store::create_or_open(dir).unwrap();
    for record in sample() {
        store.append(&record).unwrap();
    }
    fs::read(dir.join(RECORDS_FILE)).unwrap()
}

#[test]
fn records_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("results/new");
    filled(&run);
    assert_eq!(RunRecords::open(&run).unwrap().records, sample());
    let store = Store::create_or_open(&run).unwrap();
    assert_eq!(store.records(), sample());
    assert_eq!(store.opening(), &Opening::default());
}

#[test]
fn a_file_cut_anywhere_keeps_every_whole_record_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = filled(&dir.path().join("whole"));
    let ends: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').collect();
    let shrinking = dir.path().join("whole");
    let file = fs::OpenOptions::new()
        .write(true)
        .open(shrinking.join(RECORDS_FILE))
        .unwrap();
    for len in (0..=bytes.len()).rev() {
        file.set_len(len as u64).unwrap();
        // A record that lacks only its newline is whole.
        let whole = ends.iter().filter(|&&end| len >= end).count();
        let torn = len > 0 && !ends.contains(&(len - 1)) && !ends.contains(&len);

        let reading = RunRecords::open(&shrinking).unwrap();
        assert_eq!(reading.records, sample()[..whole], "read at {len}");
        assert_eq!(reading.torn_bytes > 0, torn, "read at {len}");

        // Opening for writing syncs, which is slow: near the ends of lines and here and there.
        let near = ends.iter().any(|&end| len.abs_diff(end) < 2);
        if !near && len % 997 != 0 {
            continue;
        }
        let run = dir.path().join(format!("cut-{len}"));
        fs::create_dir(&run).unwrap();
        fs::write(run.join(RECORDS_FILE), &bytes[..len]).unwrap();
        let mut store = Store::create_or_open(&run).unwrap();
        assert_eq!(store.records(), &sample()[..whole], "opened at {len}");
        let aside = store.opening().torn_line.clone();
        assert_eq!(aside.is_some(), torn, "opened at {len}");
        store.append(&run_record()).unwrap();
        drop(store);
        let again = RunRecords::open(&run).unwrap();
        assert_eq!((again.records.len(), again.torn_bytes), (whole + 1, 0));
        if let Some(aside) = aside {
            let start = if whole == 0 { 0 } else { ends[whole - 1] + 1 };
            assert_eq!(fs::read(&aside).unwrap(), bytes[start..len]);
        }
    }
}

#[test]
fn torn_lines_are_kept_one_beside_the_other() {
    let dir = tempfile::tempdir().unwrap();
    for (number, piece) in [(1, "{\"kind\":\"ru"), (2, "\0\0\0\n")] {
        let path = dir.path().join(RECORDS_FILE);
        fs::write(&path, piece).unwrap();
        let store = Store::create_or_open(dir.path()).unwrap();
        let aside = dir.path().join(format!("torn.{number}"));
        assert_eq!(store.opening().torn_line, Some(aside.clone()));
        assert_eq!(fs::read_to_string(aside).unwrap(), piece);
    }
}

fn opened(bytes: &[u8]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(RECORDS_FILE), bytes).unwrap();
    let read = RunRecords::open(dir.path()).map_err(|e| e.to_string());
    let write = Store::create_or_open(dir.path()).map_err(|e| e.to_string());
    assert_eq!(read.is_err(), write.is_err());
    assert_eq!(fs::read(dir.path().join(RECORDS_FILE)).unwrap(), bytes);
    read.map(|_| ())
        .map_err(|e| e.replace(&dir.path().display().to_string(), "RUN"))
}

#[test]
fn a_broken_line_in_the_middle_is_named() {
    let good = serde_json::to_string(&run_record()).unwrap();
    let error = opened(format!("{good}\n{{oops\n{good}\n").as_bytes()).unwrap_err();
    assert!(
        error.starts_with("RUN/records.jsonl:2: expected a record, found no JSON"),
        "{error}"
    );
    let error = opened(format!("{good}\n[1]\n").as_bytes()).unwrap_err();
    assert!(
        error.contains("records.jsonl:2") && error.contains("without `kind`"),
        "{error}"
    );
    let missing = good.replace("\"run_id\":\"run-1\",", "");
    let error = opened(format!("{missing}\n").as_bytes()).unwrap_err();
    assert!(
        error.contains("records.jsonl:1") && error.contains("run_id"),
        "{error}"
    );
}

#[test]
fn what_a_newer_version_wrote_is_refused_by_name() {
    let good = serde_json::to_string(&run_record()).unwrap();
    let kind = good.replace("\"kind\":\"run\"", "\"kind\":\"stratum\"");
    let error = opened(format!("{good}\n{kind}\n").as_bytes()).unwrap_err();
    assert!(
        error.contains("records.jsonl:2") && error.contains("\"stratum\""),
        "{error}"
    );
    assert!(error.contains("newer"), "{error}");
    let field = good.replace("\"overhead_ns\":60", "\"overhead_ns\":60,\"jitter_ns\":3");
    let error = opened(format!("{field}\n").as_bytes()).unwrap_err();
    assert!(error.contains("`selftest.jitter_ns`"), "{error}");
}

#[test]
fn a_second_writer_is_told_where_the_first_is() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::create_or_open(dir.path()).unwrap();
    let error = Store::create_or_open(dir.path()).unwrap_err();
    assert!(matches!(&error, StoreError::Locked { dir: d } if d == dir.path()));
    assert!(error.to_string().contains("--out"));
    assert!(RunRecords::open(dir.path()).is_ok(), "readers need no lock");
    drop(first);
    Store::create_or_open(dir.path()).unwrap();
}

#[test]
fn a_directory_without_a_run_is_no_empty_run() {
    let dir = tempfile::tempdir().unwrap();
    let error = RunRecords::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::NoRun { .. }));
}

#[test]
fn a_record_that_json_cannot_hold_is_refused_before_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(dir.path()).unwrap();
    let mut bad = search('a', Outcome::Ok);
    bad.quality.as_mut().unwrap().recall_mean = f64::NAN;
    let error = store.append(&Record::Search(Box::new(bad))).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }));
    assert!(fs::read(dir.path().join(RECORDS_FILE)).unwrap().is_empty());
}

#[test]
fn later_records_replace_earlier_ones_of_the_same_point() {
    let records = [
        search_record('a', failed(Cause::Panic)),
        search_record('b', Outcome::Ok),
        search_record('a', Outcome::Ok),
        search_record(
            'c',
            Outcome::Skipped {
                cause: SkipCause::Build,
                because: "the build failed".to_owned(),
            },
        ),
    ];
    let finished = finished_points(&records);
    let words: Vec<&str> = finished.values().copied().collect();
    assert_eq!(words, ["ok", "ok", "skipped"]);
    let latest = latest_searches(&records);
    let order: Vec<char> = latest
        .iter()
        .map(|s| s.point_id.chars().next().unwrap())
        .collect();
    assert_eq!(order, ['a', 'b', 'c']);
    assert_eq!(latest[0].outcome, Outcome::Ok);
}

#[test]
fn raw_files_are_placed_whole_and_never_over_measured_ones() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(dir.path()).unwrap();
    let id = "a".repeat(64);
    let place = |store: &mut Store, text: &str| {
        let draft = store.begin_raw().unwrap();
        assert!(draft.path().is_absolute());
        fs::write(draft.path().join("ids-0.npy"), text).unwrap();
        store.place_raw(draft, &id).unwrap()
    };
    // Killed between placing and appending: nothing names the folder, the next attempt replaces it.
    assert_eq!(place(&mut store, "orphan"), format!("raw/{id}"));
    drop(store);
    let mut store = Store::create_or_open(dir.path()).unwrap();
    assert_eq!(place(&mut store, "first"), format!("raw/{id}"));
    store.append(&search_record('a', Outcome::Ok)).unwrap();
    assert_eq!(place(&mut store, "second"), format!("raw/{id}.2"));
    let read = |name: &str| fs::read_to_string(dir.path().join(name).join("ids-0.npy")).unwrap();
    assert_eq!(read(&format!("raw/{id}")), "first");
    assert_eq!(read(&format!("raw/{id}.2")), "second");

    let draft = store.begin_raw().unwrap();
    let error = store.place_raw(draft, "../../etc").unwrap_err();
    assert!(matches!(error, StoreError::PointId { .. }));
    let left: Vec<_> = fs::read_dir(dir.path().join(RAW_DIR)).unwrap().collect();
    assert_eq!(left.len(), 2, "a draft that was not placed is gone");
}

#[test]
fn partial_raw_folders_are_removed_on_opening() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create_or_open(dir.path()).unwrap();
    let draft = store.begin_raw().unwrap();
    let path = draft.path().to_owned();
    fs::write(path.join("ids-0.npy"), "half").unwrap();
    std::mem::forget(draft);
    drop(store);
    fs::write(dir.path().join("records.jsonl.rewrite"), "half").unwrap();
    let store = Store::create_or_open(dir.path()).unwrap();
    assert_eq!(store.opening().removed.len(), 2);
    assert!(!path.exists() && !dir.path().join("records.jsonl.rewrite").exists());
}

#[test]
fn rewritten_records_take_the_place_of_the_old() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let mut store = Store::create_or_open(dir.path()).unwrap();
    let fewer = vec![run_record(), search_record('a', Outcome::Ok)];
    store.replace_records(fewer.clone()).unwrap();
    store.append(&search_record('d', Outcome::Ok)).unwrap();
    drop(store);
    let mut expected = fewer;
    expected.push(search_record('d', Outcome::Ok));
    assert_eq!(RunRecords::open(dir.path()).unwrap().records, expected);

    let mut store = Store::create_or_open(dir.path()).unwrap();
    let mut bad = search('e', Outcome::Ok);
    bad.speed.as_mut().unwrap().qps_max = f64::INFINITY;
    store
        .replace_records(vec![Record::Search(Box::new(bad))])
        .unwrap_err();
    assert_eq!(store.records(), expected);
    drop(store);
    assert_eq!(RunRecords::open(dir.path()).unwrap().records, expected);
}

#[test]
fn what_is_no_plain_file_is_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(RECORDS_FILE);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    for error in [
        RunRecords::open(dir.path()).unwrap_err(),
        Store::create_or_open(dir.path()).unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(error.contains("expected a plain file"), "{error}");
        assert!(error.contains("--out"), "{error}");
    }
}

#[test]
fn a_record_that_was_edited_contradicts_itself() {
    let Record::Search(mut search) = common::search_record('a', Outcome::Ok) else {
        panic!("no search record");
    };
    search.point_id = point_id(&search.identity).unwrap();
    search.quality = Some(common::quality());
    let check = |change: &dyn Fn(&mut SearchRecord)| {
        let mut edited = search.clone();
        change(&mut edited);
        check_record(&Record::Search(edited))
    };
    let mut honest = common::quality();
    honest.k = search.identity.k;
    honest.recall_mean = honest.hits as f64 / (honest.k * honest.scored_queries) as f64;
    let unchanged = check(&|edited| edited.quality = Some(honest.clone()));
    assert_eq!(unchanged, Ok(()));
    let words = |change: &dyn Fn(&mut SearchRecord)| {
        check(&|edited| {
            edited.quality = Some(honest.clone());
            change(edited);
        })
        .unwrap_err()
    };
    let error = words(&|edited| edited.identity.build.library_version = "9.9.9".to_owned());
    assert!(error.contains("`point_id`"), "{error}");
    let error = words(&|edited| edited.quality.as_mut().unwrap().hits += 1);
    assert!(error.contains("`quality`"), "{error}");
    let error = words(&|edited| {
        edited.speed = Some(Speed {
            qps: vec![1.0, 2.0],
            qps_median: 5.0,
            qps_min: 1.0,
            qps_max: 2.0,
            service_latency: Vec::new(),
        });
    });
    assert!(error.contains("`speed`"), "{error}");
}
