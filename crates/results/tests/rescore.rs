//! From raw files to scores, at measuring and again later.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use annbench_core::wire::Repetition;
use annbench_core::worker::{answers_hash, latency_hash};
use annbench_core::{EMPTY_SLOT, InvalidId, Metric, Rows, Vectors, npy};
use annbench_results::*;
use std::fs;
use std::path::Path;

/// Rows at 0, 1, 2, 3 on a line; queries at 0 and 3.
struct Line {
    base: Vec<f32>,
    queries: Vec<f32>,
    truth_ids: Vec<u32>,
    truth_distances: Vec<f64>,
}

impl Line {
    fn new() -> Self {
        Self {
            base: vec![0.0, 1.0, 2.0, 3.0],
            queries: vec![0.0, 3.0],
            truth_ids: vec![0, 1, 2, 3, 2, 1],
            truth_distances: vec![0.0, 1.0, 4.0, 0.0, 1.0, 4.0],
        }
    }

    fn subject(&self) -> RescoreSubject<'_> {
        RescoreSubject {
            info: common::dataset(),
            truth: common::truth(),
            scoring: ScoringSet {
                metric: Metric::L2,
                base: Vectors::F32(Rows::new(&self.base, 1).unwrap()),
                queries: Vectors::F32(Rows::new(&self.queries, 1).unwrap()),
                truth_ids: &self.truth_ids,
                truth_distances: &self.truth_distances,
                truth_width: 3,
                max_base_norm: 3.0,
                strata: &[],
                relevance: None,
            },
        }
    }
}

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap()
}

/// Three repetitions of two passes: the second repeats the first, the third differs.
fn write_raw(dir: &Path) -> Vec<Repetition> {
    npy::write(&dir.join("ids-0.npy"), &[2, 2], &[0u32, 1, 3, 0]).unwrap();
    npy::write(&dir.join("returned-0.npy"), &[2], &[2u32, 2]).unwrap();
    npy::write(&dir.join("ids-2.npy"), &[2, 2], &[0, EMPTY_SLOT, 3, 2]).unwrap();
    npy::write(&dir.join("returned-2.npy"), &[2], &[1u32, 5]).unwrap();
    let mut repetitions: Vec<Repetition> = (0..3u64)
        .map(|number| {
            let latency = format!("latency-{number}.npy");
            npy::write(&dir.join(&latency), &[2, 2], &[number + 1, 20, 30, 40]).unwrap();
            Repetition {
                wall_ns: 1_000 * (number + 1),
                ids_file: (number != 1).then(|| format!("ids-{number}.npy")),
                returned_file: (number != 1).then(|| format!("returned-{number}.npy")),
                latency_file: Some(latency),
                ..common::repetition()
            }
        })
        .collect();
    rehash(dir, &mut repetitions);
    repetitions
}

/// The hashes that a worker would have taken of the answers in `dir`.
fn rehash(dir: &Path, repetitions: &mut [Repetition]) {
    for repetition in &mut *repetitions {
        if let (Some(ids), Some(returned)) = (&repetition.ids_file, &repetition.returned_file) {
            let (_, ids) = npy::read::<u32>(&dir.join(ids)).unwrap();
            let (_, returned) = npy::read::<u32>(&dir.join(returned)).unwrap();
            repetition.ids_hash = answers_hash(&ids, &returned);
        }
    }
    for repetition in &mut *repetitions {
        if let Some(file) = &repetition.latency_file {
            let (_, latencies) = npy::read::<u64>(&dir.join(file)).unwrap();
            repetition.latency_hash = Some(latency_hash(&latencies));
        }
    }
    let first = repetitions[0].ids_hash.clone();
    for repetition in repetitions.iter_mut().filter(|r| r.ids_file.is_none()) {
        repetition.ids_hash.clone_from(&first);
    }
}

fn measured_run(dir: &Path, line: &Line) -> Vec<Record> {
    measured_run_of(dir, line, write_raw)
}

fn measured_run_of(
    dir: &Path,
    line: &Line,
    write: impl Fn(&Path) -> Vec<Repetition>,
) -> Vec<Record> {
    let mut store = Store::create_or_open(dir).unwrap();
    let subject = line.subject();
    let draft = store.begin_raw().unwrap();
    let repetitions = write(draft.path());
    let scores = score_measured(&pool(), &subject.scoring, 2, draft.path(), &repetitions).unwrap();
    let mut search = common::search('a', Outcome::Ok);
    let raw_dir = store.place_raw(draft, &search.point_id).unwrap();
    let mut measured = common::measured(&raw_dir);
    measured.report.repetitions = repetitions;
    search.measured = Some(measured);
    search.quality = Some(scores.quality);
    search.other_quality = scores.other_quality;
    search.other_metrics = Some(scores.other_metrics);
    search.speed = Some(scores.speed);
    store.append(&common::run_record()).unwrap();
    store.append(&common::build_record()).unwrap();
    store.append(&Record::Search(Box::new(search))).unwrap();
    store
        .append(&common::search_record('b', common::failed(Cause::Panic)))
        .unwrap();
    store.records().to_vec()
}

fn search_of(record: &Record) -> &SearchRecord {
    match record {
        Record::Search(search) => search,
        other => panic!("a {} record", other.kind()),
    }
}

#[test]
fn every_repetition_that_differs_is_scored() {
    let dir = tempfile::tempdir().unwrap();
    let repetitions = write_raw(dir.path());
    let line = Line::new();
    let scores = score_measured(
        &pool(),
        &line.subject().scoring,
        2,
        dir.path(),
        &repetitions,
    )
    .unwrap();
    let q = &scores.quality;
    assert_eq!(
        (q.hits, q.short, q.over_returned, q.recall_mean),
        (3, 0, 0, 0.75)
    );
    assert_eq!(scores.other_quality.keys().collect::<Vec<_>>(), [&2]);
    let other = &scores.other_quality[&2];
    assert_eq!((other.hits, other.short, other.over_returned), (3, 1, 3));
    assert_eq!(scores.speed.qps, [4e6, 2e6, 4e9 / 3_000.0]);
    assert_eq!(scores.speed.qps_median, 2e6);
    let latency = &scores.speed.service_latency[2];
    assert_eq!(
        (latency.p50_ns, latency.max_ns, latency.mean_ns),
        (20, 40, 23.25)
    );
    assert_eq!(scores.invalid_answer, None);
}

#[test]
fn scoring_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    let records = measured_run(dir.path(), &line);
    let mut asked = 0;
    let again = rescore(&pool(), dir.path(), &records, |info| {
        asked += 1;
        assert_eq!(*info, common::dataset());
        Ok(line.subject())
    });
    assert_eq!(again.records, records);
    assert_eq!((again.points, again.changed.len(), asked), (1, 0, 1));
    assert_eq!(again.gained, 0);
}

#[test]
fn an_earlier_record_gains_figures_and_is_not_called_changed() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    let records = measured_run(dir.path(), &line);
    let proved = |queries| {
        let mut subject = line.subject();
        subject.truth.proved_queries = Some(queries);
        Ok(subject)
    };
    let mut earlier = records.clone();
    if let Record::Search(search) = &mut earlier[2] {
        search.other_metrics = None;
    }
    let again = rescore(&pool(), dir.path(), &earlier, |_| proved(2));
    assert_eq!((again.changed.len(), again.gained), (0, 1));
    let gained = search_of(&again.records[2]);
    assert_eq!(gained.other_metrics, search_of(&records[2]).other_metrics);
    assert_eq!(gained.truth.as_ref().unwrap().proved_queries, Some(2));
    // What was told before and is another now has changed.
    let other = rescore(&pool(), dir.path(), &again.records, |_| proved(1));
    assert_eq!((other.changed.len(), other.gained), (1, 0));
}

/// An earlier rule passed without the strata that abstained: what it told and this one does not has changed.
#[test]
fn outcomes_of_an_earlier_rule_gain_their_strata_or_change() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    let strata = [Strata::new(
        &line.subject().scoring,
        2,
        Err("not counted".to_owned()),
    )];
    let subject = || {
        let mut subject = line.subject();
        subject.scoring.strata = &strata;
        Ok(subject)
    };
    let records = measured_run(dir.path(), &line);
    let records = rescore(&pool(), dir.path(), &records, |_| subject()).records;
    let earlier = |outcome| {
        let mut records = records.clone();
        if let Record::Search(search) = &mut records[2] {
            for bar in &mut search.strata.as_mut().unwrap().bars {
                (bar.outcome, bar.strata) = (outcome, None);
            }
        }
        // As an earlier version wrote it.
        let text = serde_json::to_string(&records[2]).unwrap();
        assert!(text.contains(r#"{"recall":0.9,"outcome":"#) && !text.contains("abstained"));
        records[2] = serde_json::from_str(&text).unwrap();
        records
    };
    for (outcome, expected) in [
        (StratumOutcome::Inconclusive, (0, 1)),
        (StratumOutcome::Pass, (1, 0)),
    ] {
        let again = rescore(&pool(), dir.path(), &earlier(outcome), |_| subject());
        assert_eq!((again.changed.len(), again.gained), expected);
        assert_eq!(again.records, records);
    }
}

#[test]
fn lost_figures_and_another_truth_are_put_right() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    let records = measured_run(dir.path(), &line);
    let mut blank = records.clone();
    if let Record::Search(search) = &mut blank[2] {
        search.quality = None;
        search.other_quality.clear();
        search.speed = None;
    }
    let again = rescore(&pool(), dir.path(), &blank, |_| Ok(line.subject()));
    assert_eq!(again.records, records);
    assert_eq!(again.changed, ["a".repeat(64)]);

    // A truth that misses row 1: the answers refute it.
    let worse = Line {
        truth_ids: vec![0, 2, 3, 3, 2, 1],
        truth_distances: vec![0.0, 4.0, 9.0, 0.0, 1.0, 4.0],
        ..Line::new()
    };
    let again = rescore(&pool(), dir.path(), &records, |_| {
        let mut subject = worse.subject();
        subject.truth.fingerprint = "0ther".to_owned();
        Ok(subject)
    });
    let search = search_of(&again.records[2]);
    assert_eq!(search.truth.as_ref().unwrap().fingerprint, "0ther");
    assert_eq!(search.quality.as_ref().unwrap().beats_truth, 1);
    assert_eq!(search.speed, search_of(&records[2]).speed);
}

#[test]
fn ids_of_no_row_fail_the_point_and_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    let records = measured_run_of(dir.path(), &line, |raw| {
        let mut repetitions = write_raw(raw);
        npy::write(&raw.join("ids-2.npy"), &[2, 2], &[0u32, 1, 3, 4]).unwrap();
        rehash(raw, &mut repetitions);
        repetitions
    });
    let again = rescore(&pool(), dir.path(), &records, |_| Ok(line.subject()));
    let search = search_of(&again.records[2]);
    let Outcome::Failed(failure) = &search.outcome else {
        panic!("{:?}", search.outcome)
    };
    assert_eq!(failure.cause, Cause::InvalidAnswer);
    assert_eq!(
        failure.message,
        "repetition 2: 1 of the ids returned are of no base row, expected 0 to 3; first: query 1, position 1: 4"
    );
    assert_eq!(search.other_quality[&2].invalid, 1);
    assert_eq!(search.quality.as_ref().unwrap().hits, 3);
}

#[test]
fn a_lost_or_edited_raw_file_costs_its_point_and_no_other() {
    let line = Line::new();
    for (spoil, words) in [
        (
            (|raw: &Path| fs::remove_file(raw.join("latency-1.npy")).unwrap()) as fn(&Path),
            "latency-1.npy",
        ),
        (
            |raw| npy::write(&raw.join("ids-0.npy"), &[2, 2], &[0u32, 1, 3, 2]).unwrap(),
            "expected the answers that were measured",
        ),
        (
            |raw| npy::write(&raw.join("latency-2.npy"), &[2, 2], &[3u64, 20, 30, 41]).unwrap(),
            "expected the latencies that were measured",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let records = measured_run(dir.path(), &line);
        let point = search_of(&records[2]);
        assert!(check_raw(dir.path(), point).is_ok());
        spoil(&dir.path().join(&point.measured.as_ref().unwrap().raw_dir));
        assert!(check_raw(dir.path(), point).is_err());
        let again = rescore(&pool(), dir.path(), &records, |_| Ok(line.subject()));
        assert_eq!(again.records, records, "nothing is lost");
        assert_eq!((again.points, again.changed.len()), (0, 0));
        let [(lost, cause)] = &again.unscored[..] else {
            panic!("{:?}", again.unscored)
        };
        assert_eq!(lost, &point.point_id);
        assert!(cause.to_string().contains("--retry lost"), "{cause}");
        let cause = cause.to_string();
        assert!(cause.contains(words), "{cause}");

        // Measured again, it is complete again: the earlier record no longer counts.
        let mut all = records.clone();
        let mut fresh = point.clone();
        let other = dir.path().join("raw/again");
        fs::create_dir(&other).unwrap();
        let measured = fresh.measured.as_mut().unwrap();
        measured.raw_dir = "raw/again".to_owned();
        measured.report.repetitions = write_raw(&other);
        all.push(Record::Search(Box::new(fresh)));
        let again = rescore(&pool(), dir.path(), &all, |_| Ok(line.subject()));
        assert_eq!((again.points, again.unscored.len()), (1, 0));
    }
}

#[test]
fn answers_that_are_no_ids_count_as_invalid_and_not_as_short() {
    let dir = tempfile::tempdir().unwrap();
    let mut repetitions = write_raw(dir.path());
    // One slot of the first answers, and with it of the second repetition's, held nonsense.
    npy::write(
        &dir.path().join("ids-0.npy"),
        &[2, 2],
        &[0u32, 1, 3, EMPTY_SLOT],
    )
    .unwrap();
    rehash(dir.path(), &mut repetitions);
    repetitions[2].invalid_count = 1;
    repetitions[2].invalid = vec![InvalidId {
        query: 0,
        position: 1,
        value: -7,
    }];
    // The same slots as the first, but one of them was nonsense.
    repetitions[1].invalid_count = 1;
    let line = Line::new();
    let scores = score_measured(
        &pool(),
        &line.subject().scoring,
        2,
        dir.path(),
        &repetitions,
    )
    .unwrap();
    let other = &scores.other_quality[&2];
    assert_eq!((other.invalid, other.short, other.hits), (1, 0, 3));
    assert_eq!(scores.other_quality[&1].invalid, 1);
    let message = scores.invalid_answer.unwrap();
    assert!(message.starts_with("repetition 1: 1 of"), "{message}");
    let only_third = [repetitions[0].clone(), repetitions[2].clone()];
    let message = score_measured(&pool(), &line.subject().scoring, 2, dir.path(), &only_third)
        .unwrap()
        .invalid_answer
        .unwrap();
    assert!(
        message.ends_with("first: query 0, position 1: -7"),
        "{message}"
    );
}

#[test]
fn a_dataset_that_is_not_there_costs_its_own_points_only() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    let mut records = measured_run(dir.path(), &line);
    // The same point on a dataset of another name: one is there, the other is not.
    let mut elsewhere = search_of(&records[2]).clone();
    elsewhere.point_id = "e".repeat(64);
    elsewhere.dataset.name = "elsewhere".to_owned();
    records.push(Record::Search(Box::new(elsewhere)));
    type Refuse =
        for<'l> fn(
            &'l Line,
        ) -> Result<RescoreSubject<'l>, Box<dyn std::error::Error + Send + Sync>>;
    let other_base: Refuse = |line| {
        let mut subject = line.subject();
        subject.info.base_fingerprint = "fa15e".to_owned();
        Ok(subject)
    };
    let missing: Refuse = |_| Err("no such file".into());
    for (refuse, said) in [
        (
            other_base,
            "dataset elsewhere: the records were measured on a base with fingerprint ba5e, found \
             fa15e; provide the files they were measured on",
        ),
        (
            missing,
            "dataset elsewhere, which scoring needs, cannot be opened; provide what is missing and \
             rescore again: no such file",
        ),
    ] {
        let again = rescore(&pool(), dir.path(), &records, |info| {
            match info.name.as_str() {
                "elsewhere" => refuse(&line),
                _ => Ok(line.subject()),
            }
        });
        assert_eq!(again.records, records);
        assert_eq!((again.points, again.changed.len()), (1, 0));
        let [(point, cause)] = &again.unscored[..] else {
            panic!("{:?}", again.unscored)
        };
        assert_eq!(*point, "e".repeat(64));
        assert_eq!(common::chain(cause), said);
    }
}

#[test]
fn raw_files_that_do_not_fit_are_named() {
    let line = Line::new();
    let attempt = |spoil: &dyn Fn(&Path, &mut Vec<Repetition>)| {
        let dir = tempfile::tempdir().unwrap();
        let mut repetitions = write_raw(dir.path());
        spoil(dir.path(), &mut repetitions);
        score_measured(
            &pool(),
            &line.subject().scoring,
            2,
            dir.path(),
            &repetitions,
        )
        .unwrap_err()
        .to_string()
        .replace(&dir.path().display().to_string(), "RAW")
    };
    let error = attempt(&|dir, _| fs::remove_file(dir.join("latency-1.npy")).unwrap());
    assert!(
        error.starts_with("RAW/latency-1.npy: No such file"),
        "{error}"
    );
    let error = attempt(&|dir, _| {
        npy::write(&dir.join("ids-0.npy"), &[1, 4], &[0u32, 1, 3, 0]).unwrap();
    });
    assert!(
        error.starts_with("RAW/ids-0.npy: expected shape [2, 2], found [1, 4]"),
        "{error}"
    );
    let error = attempt(&|_, repetitions| repetitions[0].passes = 3);
    assert!(
        error.starts_with("RAW/latency-0.npy: expected shape [3, 2]"),
        "{error}"
    );
    type Spoil = fn(&mut Vec<Repetition>);
    let without: [Spoil; 4] = [
        |r| r.clear(),
        |r| r[0].ids_file = None,
        |r| r[2].returned_file = None,
        |r| r[1].ids_hash = "another".to_owned(),
    ];
    for spoil in without {
        let error = attempt(&|_, repetitions| spoil(repetitions));
        assert!(error.contains("expected a file of ids"), "{error}");
    }
    let error = attempt(&|dir, _| {
        fs::remove_file(dir.join("ids-0.npy")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.join("ids-0.npy")).unwrap();
    });
    assert!(error.contains("expected a plain file"), "{error}");
    let error = attempt(&|_, repetitions| repetitions[0].wall_ns = 0);
    assert!(error.contains("give no rate"), "{error}");
    for name in ["../../secret.npy", "/etc/passwd", ""] {
        let error = attempt(&|_, repetitions| repetitions[0].ids_file = Some(name.to_owned()));
        assert!(error.contains("expected a name without folders"), "{error}");
    }
}

#[test]
fn arrays_that_do_not_fit_one_another_are_refused() {
    let line = Line::new();
    let subject = line.subject();
    let score = |set: &ScoringSet<'_>, k: usize, ids: &[u32], returned: &[u32]| {
        score_answers(
            &pool(),
            set,
            &Answers {
                k,
                ids,
                returned,
                invalid_count: 0,
            },
        )
    };
    let set = subject.scoring;
    let narrow = score(&set, 4, &[0; 8], &[4, 4]).unwrap_err();
    assert_eq!(narrow, ScoreError::NarrowTruth { width: 3, k: 4 });
    for (k, ids, returned) in [(2, 3, 2), (2, 4, 1), (0, 0, 2)] {
        let error = score(&set, k, &vec![0; ids], &vec![0; returned]).unwrap_err();
        assert!(matches!(error, ScoreError::Shape { .. }), "{error}");
    }
    let unsorted = ScoringSet {
        truth_distances: &[0.0, 1.0, 4.0, 1.0, 0.0, 4.0],
        ..set
    };
    let error = score(&unsorted, 2, &[0; 4], &[2, 2]).unwrap_err();
    assert_eq!(error, ScoreError::UnsortedTruth { query: 1 });
    let short = ScoringSet {
        truth_ids: &line.truth_ids[..5],
        ..set
    };
    assert!(score(&short, 2, &[0; 4], &[2, 2]).is_err());
    let zero = [0.0f32, 0.0];
    let undefined = ScoringSet {
        metric: Metric::Cosine,
        queries: Vectors::F32(Rows::new(&zero, 1).unwrap()),
        ..set
    };
    let error = score(&undefined, 2, &[0; 4], &[2, 2]).unwrap_err();
    assert_eq!(
        error,
        ScoreError::Empty {
            queries: 2,
            undefined: 2
        }
    );
}

#[test]
fn a_zero_query_under_cosine_is_left_out_and_counted() {
    let base = [1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0];
    let queries = [0.0f32, 0.0, 1.0, 0.0];
    let set = ScoringSet {
        metric: Metric::Cosine,
        base: Vectors::F32(Rows::new(&base, 2).unwrap()),
        queries: Vectors::F32(Rows::new(&queries, 2).unwrap()),
        truth_ids: &[0, 0],
        truth_distances: &[1.0, 0.0],
        truth_width: 1,
        max_base_norm: 0.0,
        strata: &[],
        relevance: None,
    };
    let answers = Answers {
        k: 1,
        ids: &[9, 0],
        returned: &[1, 1],
        invalid_count: 0,
    };
    let scored = score_answers(&pool(), &set, &answers).unwrap();
    assert_eq!(scored.hits, [None, Some(1)]);
    let q = &scored.quality;
    assert_eq!(
        (q.scored_queries, q.undefined_queries, q.recall_mean),
        (1, 1, 1.0)
    );
    assert_eq!(
        q.invalid, 1,
        "an invalid answer is invalid whatever the query"
    );
}
