//! What becomes a chart, a series and a point, and what is counted instead.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_core::Params;
use annbench_report::{LabelledRun, Overlay, PlotKind, SeriesBy};
use annbench_results::{Outcome, Record, SearchRecord, SkipCause, TruthOrigin};
use common::*;
use proptest::prelude::*;

fn point(recall: f64, qps: f64) -> SearchRecord {
    let params = Params::new().with("ef", int(qps as i64));
    Library::new("faiss", "1.12.0").point(&Params::new(), &params, 10, recall, qps)
}

fn labels(runs: &[LabelledRun<'_>]) -> Vec<String> {
    let overlay = Overlay::new(runs);
    overlay.charts()[0]
        .series
        .iter()
        .map(|s| s.label.clone())
        .collect()
}

fn run_of<'r>(label: &'r str, records: &'r [Record]) -> LabelledRun<'r> {
    LabelledRun {
        label,
        records,
        doubts: &[],
    }
}

#[test]
fn front_and_step_rule() {
    let records: Vec<Record> = [
        (0.90, 1000.0),
        (0.95, 900.0),
        (0.93, 800.0),
        (0.99, 100.0),
        (0.99, 90.0),
    ]
    .map(|(recall, qps)| search(point(recall, qps)))
    .to_vec();
    let overlay = Overlay::new(&[run_of("a", &records)]);
    let series = &overlay.charts()[0].series[0];
    let front: Vec<f64> = series.front().iter().map(|p| p.speed.qps_median).collect();
    assert_eq!(front, [1000.0, 900.0, 100.0]);
    let at = |recall| series.fastest_at(recall).map(|p| p.speed.qps_median);
    assert_eq!(at(0.90), Some(1000.0));
    assert_eq!(at(0.91), Some(900.0));
    assert_eq!(at(0.99), Some(100.0));
    assert_eq!(at(0.991), None);
    assert_eq!(series.best_recall(), Some(0.99));
}

#[test]
fn figures_that_cannot_be_drawn_are_counted() {
    let broken: [fn(&mut SearchRecord); 9] = [
        |r| r.quality.as_mut().unwrap().recall_mean = f64::NAN,
        |r| r.quality.as_mut().unwrap().recall_mean = 1.5,
        |r| r.quality.as_mut().unwrap().scored_queries = 0,
        |r| r.quality = None,
        |r| r.speed = None,
        |r| r.speed.as_mut().unwrap().qps_median = f64::NAN,
        |r| r.speed.as_mut().unwrap().qps_min = 0.0,
        |r| r.speed.as_mut().unwrap().qps_max = f64::INFINITY,
        |r| r.speed.as_mut().unwrap().qps_min = 1e9,
    ];
    let records: Vec<Record> = broken
        .iter()
        .enumerate()
        .map(|(i, break_it)| {
            let mut record = point(0.9, 100.0 + i as f64);
            break_it(&mut record);
            search(record)
        })
        .collect();
    let overlay = Overlay::new(&[run_of("a", &records)]);
    let series = &overlay.charts()[0].series[0];
    assert!(series.points.is_empty());
    assert_eq!(series.counts.unusable, broken.len() as u64);
    assert_eq!(
        series.unplaced[0].why,
        "unusable: recall_mean is NaN, expected 0 to 1"
    );
    assert_eq!(series.counts.missing().unwrap(), "9 unusable");
}

#[test]
fn a_later_record_replaces_an_earlier_one_within_its_run_only() {
    let mut late = point(0.9, 100.0);
    late.speed.as_mut().unwrap().qps_max = 200.0;
    let early = Outcome::Skipped {
        cause: SkipCause::Build,
        because: "interrupted".to_owned(),
    };
    let mut first = late.clone();
    first.outcome = early;
    let records = [search(first), search(late.clone())];
    let overlay = Overlay::new(&[run_of("a", &records), run_of("b", &records[1..])]);
    let chart = &overlay.charts()[0];
    assert_eq!(chart.series.len(), 2);
    for series in &chart.series {
        assert_eq!((series.points.len(), series.unplaced.len()), (1, 0));
        assert_eq!(series.points[0].speed.qps_max, 200.0);
    }
}

#[test]
fn labels_tell_only_what_differs() {
    let old = [search(Library::new("hnsw_rs", "0.3.2").point(
        &Params::new(),
        &Params::new(),
        10,
        0.9,
        10.0,
    ))];
    let new = [search(Library::new("hnsw_rs", "0.3.5").point(
        &Params::new(),
        &Params::new(),
        10,
        0.9,
        10.0,
    ))];
    assert_eq!(
        labels(&[run_of("a", &old), run_of("b", &new)]),
        ["hnsw_rs 0.3.2", "hnsw_rs 0.3.5"]
    );
    assert_eq!(
        labels(&[run_of("a", &old), run_of("a", &old)]),
        ["hnsw_rs 0.3.2, run a", "hnsw_rs 0.3.2, run a #2"]
    );
    let mut rebuilt = point(0.9, 10.0);
    rebuilt.point_id = "other".to_owned();
    rebuilt.identity.build.executable_sha256 = "0123456789abcdef".to_owned();
    let records = [search(point(0.9, 10.0)), search(rebuilt)];
    assert_eq!(
        labels(&[run_of("a", &records)]),
        [
            "faiss 1.12.0, executable 0123456789ab",
            "faiss 1.12.0, executable efaiss1.12.0"
        ]
    );
}

#[test]
fn the_content_of_a_dataset_decides_what_shares_a_chart() {
    let mut renamed = point(0.9, 20.0);
    renamed.dataset.name = "another-name".to_owned();
    let mut changed = point(0.9, 30.0);
    changed.dataset.base_fingerprint = "b3:other".to_owned();
    let records = [search(point(0.9, 10.0)), search(renamed), search(changed)];
    let overlay = Overlay::new(&[run_of("a", &records)]);
    let [same, other] = overlay.charts() else {
        panic!("expected two charts")
    };
    assert_eq!(
        same.series[0].points.len() + other.series[0].points.len(),
        3
    );
    assert_ne!(same.file_stem, other.file_stem);
    assert_eq!(same.file_stem, "siftimg-50k-128-euclidean-k10");
}

#[test]
fn a_truth_refuted_in_one_run_is_refuted_in_all() {
    let mut beaten = point(0.9, 10.0);
    beaten.identity.k = 100;
    beaten.quality.as_mut().unwrap().beats_truth = 1;
    let (late, early) = ([search(beaten)], [search(point(0.9, 10.0))]);
    let overlay = Overlay::new(&[run_of("early", &early), run_of("late", &late)]);
    assert!(overlay.charts().iter().all(|chart| chart.refuted));
    let csv = overlay.csv();
    assert_eq!(
        parse(&csv)
            .iter()
            .filter(|row| row.contains(&"shipped".to_owned()))
            .count(),
        2
    );
    assert!(!Overlay::new(&[run_of("early", &early)]).charts()[0].refuted);
}

#[test]
fn hidden_threads_and_unbound_threads_are_alarms() {
    let fact = |cpu_ns: u64, bound: bool| {
        let mut measured_point = point(0.9, 10.0);
        let measured = measured_point.measured.as_mut().unwrap();
        for repetition in &mut measured.report.repetitions {
            repetition.wall_ns = 1_000_000;
            repetition.cpu_ns = Some(cpu_ns);
        }
        measured.report.affinity = if bound {
            Ok(vec![0])
        } else {
            Err("no mask".to_owned())
        };
        let records = [search(measured_point)];
        let overlay = Overlay::new(&[run_of("run", &records)]);
        let facts = &overlay.charts()[0].facts;
        let of = |label: &str| {
            let found = facts.iter().find(|fact| fact.label == label);
            found.map(|fact| (fact.text.clone(), fact.alarm))
        };
        (of("CPU time").unwrap(), of("CPUs"))
    };
    let ((text, is_alarm), unbound) = fact(1_000_000, true);
    assert!(text.contains("at most 1.00") && !is_alarm, "{text}");
    assert_eq!(unbound, None);
    let ((text, is_alarm), unbound) = fact(1_900_000, false);
    assert!(text.contains("up to 1.90 times") && is_alarm, "{text}");
    assert!(unbound.unwrap().0.contains("no mask"));
    let mut starved = point(0.9, 10.0);
    for repetition in &mut starved.measured.as_mut().unwrap().report.repetitions {
        repetition.wall_ns = 1_000_000;
        repetition.cpu_ns = Some(400_000);
    }
    let records = [search(starved)];
    let overlay = Overlay::new(&[run_of("run", &records)]);
    let alarms = overlay.charts()[0].facts.iter().filter(|fact| fact.alarm);
    assert!(
        alarms
            .into_iter()
            .any(|fact| fact.text.contains("lowest 0.40"))
    );
}

#[test]
fn more_threads_than_cpus_is_an_alarm() {
    let mut crowded = point(0.9, 10.0);
    crowded.identity.threads = 1 + crowded.identity.build.machine.cpus;
    let records = [search(crowded)];
    let overlay = Overlay::new(&[run_of("run", &records)]);
    let mut alarms = overlay.charts()[0].facts.iter().filter(|fact| fact.alarm);
    assert!(alarms.any(|fact| fact.text.contains("more threads than there are CPUs")));
}

#[test]
fn truths_that_differ_are_an_alarm_unless_only_the_width_of_exact_ones_does() {
    let alarmed = |changes: [(TruthOrigin, u64, &str); 2]| {
        let records: Vec<Record> = changes
            .into_iter()
            .zip([10.0, 20.0])
            .map(|((origin, width, fingerprint), qps)| {
                let mut point = point(0.9, qps);
                let truth = point.truth.as_mut().unwrap();
                truth.origin = origin;
                truth.width = width;
                truth.fingerprint = fingerprint.to_owned();
                search(point)
            })
            .collect();
        let overlay = Overlay::new(&[run_of("run", &records)]);
        let mut alarms = overlay.charts()[0].facts.iter().filter(|fact| fact.alarm);
        alarms.any(|fact| fact.text.contains("different truths"))
    };
    use TruthOrigin::{Computed, Shipped};
    assert!(!alarmed([(Computed, 10, "a"), (Computed, 100, "b")]));
    assert!(!alarmed([(Shipped, 10, "a"), (Shipped, 10, "a")]));
    assert!(alarmed([(Computed, 10, "a"), (Computed, 10, "b")]));
    assert!(alarmed([(Shipped, 10, "a"), (Computed, 100, "b")]));
    assert!(alarmed([(Shipped, 10, "a"), (Shipped, 100, "b")]));
}

#[test]
fn two_datasets_under_one_name_are_titled_by_their_fingerprints() {
    let (one, mut other) = (point(0.9, 10.0), point(0.9, 20.0));
    other.dataset.base_fingerprint = "0123456789abcdef".to_owned();
    let records = [search(one), search(other)];
    let overlay = Overlay::new(&[run_of("run", &records)]);
    let titles: Vec<&str> = overlay.charts().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(titles.len(), 2);
    assert_ne!(titles[0], titles[1]);
    assert!(
        titles.iter().any(|t| t.contains("base 0123456789ab")),
        "{titles:?}"
    );
}

#[test]
fn one_dataset_under_two_names_is_titled_by_both() {
    let (mut one, mut other) = (point(0.9, 10.0), point(0.9, 20.0));
    one.dataset.name = "zebra".to_owned();
    other.dataset.name = "ant".to_owned();
    let records = [search(one), search(other)];
    let overlay = Overlay::with_series(&[run_of("run", &records)], SeriesBy::Group);
    let chart = &overlay.charts()[0];
    assert!(
        chart
            .title(PlotKind::RecallQps)
            .starts_with("ant = zebra: "),
        "{}",
        chart.title(PlotKind::RecallQps)
    );
    assert!(
        chart.file_stem.ends_with("-k10-by-group"),
        "{}",
        chart.file_stem
    );
}

/// A build that was attempted often, and loaded after a crash at last: `key.9` sorts behind `key.10`.
fn loaded_after_a_crash(builds: &[(u32, f64, bool)]) -> Vec<Record> {
    let mut records = Vec::new();
    for &(number, wall_s, loaded) in builds {
        let Record::Build(mut build) =
            Library::new("faiss", "1.12.0").build(&Params::new(), wall_s, i64::from(number))
        else {
            panic!("no build record");
        };
        build.build_key = "key".to_owned();
        build.build_id = format!("key.{number}");
        build.loaded = loaded;
        records.push(Record::Build(build));
    }
    for (ef, number) in [(10, 10), (20, 11)] {
        let mut searched = point(0.96, f64::from(ef));
        searched.build_id = Some(format!("key.{number}"));
        records.push(search(searched));
    }
    records
}

#[test]
fn loading_a_saved_index_is_no_build_time() {
    let builds = [(9, 50.0, false), (10, 100.0, false), (11, 0.5, true)];
    let records = loaded_after_a_crash(&builds);
    let overlay = Overlay::new(&[run_of("run", &records)]);
    let details = overlay.details();
    // One build, searched before and after the crash. 10 MiB and the 6.1 of the base beside them.
    let title = "built in 100 s with 2 threads · index 16.1 MiB";
    assert_eq!(details.matches(title).count(), 1, "{details}");
    assert_eq!(details.matches("built in").count(), 1, "{details}");
    assert_eq!(
        details.matches("index loaded after a crash").count(),
        1,
        "{details}"
    );
    let summary = overlay.summary();
    let row = summary.lines().find(|l| l.starts_with("faiss 1.12.0"));
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(cells[6..8], ["100", "16.1"], "{summary}");
    let rows = parse(&overlay.csv());
    for (row, loaded) in [(&rows[1], "false"), (&rows[2], "true")] {
        let cell = |name: &str| row[rows[0].iter().position(|h| h == name).unwrap()].as_str();
        assert_eq!(cell("build_wall_ns"), "100000000000");
        assert_eq!(
            cell("index_bytes"),
            (10 * (1 << 20) + 6_400_000).to_string()
        );
        assert_eq!(cell("index_loaded"), loaded);
    }
}

#[test]
fn an_index_whose_build_is_not_recorded_has_no_build_time() {
    let records = loaded_after_a_crash(&[(11, 0.5, true)]);
    let overlay = Overlay::new(&[run_of("run", &records)]);
    let details = overlay.details();
    assert!(
        details.contains("loaded; the records do not hold its build"),
        "{details}"
    );
    assert!(!details.contains("built in"), "{details}");
    let rows = parse(&overlay.csv());
    let column = |name: &str| rows[0].iter().position(|h| h == name).unwrap();
    assert_eq!(rows[2][column("build_wall_ns")], "");
    assert_eq!(rows[2][column("index_bytes")], "");
    assert_eq!(rows[1][column("index_loaded")], "");
    assert_eq!(rows[2][column("index_loaded")], "true");
}

#[test]
fn percentiles_are_named_as_service_latency() {
    let records = [search(point(0.96, 1000.0))];
    let overlay = Overlay::new(&[run_of("run", &records)]);
    let rows = parse(&overlay.csv());
    let column = |name: &str| rows[0].iter().position(|h| h == name);
    assert_eq!(
        rows[1][column("service_latency_p99_ns").unwrap()],
        "1800000"
    );
    assert!(rows[0].iter().all(|name| !name.starts_with("latency")));
    for table in [overlay.summary(), overlay.details()] {
        assert!(table.contains("service latency is closed-loop"), "{table}");
    }
}

/// Rows of an RFC 4180 document.
fn parse(csv: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let (mut quoted, mut chars) = (false, csv.chars().peekable());
    while let Some(c) = chars.next() {
        let last_row = rows.last_mut().unwrap();
        let field = last_row.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => last_row.push(String::new()),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'));
                rows.push(vec![String::new()]);
            }
            c => field.push(c),
        }
    }
    assert_eq!(rows.pop().unwrap(), [""]);
    rows
}

proptest! {
    #[test]
    fn csv_keeps_any_text(message in any::<String>(), name in any::<String>()) {
        let outcome = Outcome::Rejected { reason: message.clone() };
        let none = Params::new();
        let mut record = Library::new("faiss", "1.12.0").unmeasured(&none, &none, 10, outcome);
        record.dataset.name = name.clone();
        let records = [search(record)];
        let rows = parse(&Overlay::new(&[run_of("a", &records)]).csv());
        prop_assert_eq!(rows.len(), 2);
        prop_assert_eq!(rows[0].len(), rows[1].len());
        let column = |wanted: &str| rows[0].iter().position(|h| h == wanted).unwrap();
        prop_assert_eq!(&rows[1][column("message")], &message);
        prop_assert_eq!(&rows[1][column("dataset")], &name);
    }

    #[test]
    fn lines_of_tables_hold_no_control_characters(text in any::<String>()) {
        let none = Params::new();
        let outcome = Outcome::Rejected { reason: text.clone() };
        let mut record = Library::new("faiss", "1.12.0").unmeasured(&none, &none, 10, outcome);
        record.dataset.name = text.clone();
        record.library = text.clone();
        record.accepted_checksums = vec![text];
        let records = [search(record)];
        let overlay = Overlay::new(&[run_of("a", &records)]);
        for table in [overlay.summary(), overlay.details()] {
            prop_assert!(table.chars().all(|c| c == '\n' || !c.is_control()), "{table:?}");
        }
        let svg = overlay.charts()[0].svg(PlotKind::RecallQps).unwrap();
        prop_assert!(svg.chars().all(|c| c == '\n' || !c.is_control()));
    }
}

#[test]
fn a_very_long_library_name_loses_its_middle_in_the_table_and_stands_whole_below() {
    let mut long = point(0.9, 1000.0);
    long.library = format!("begins{}ends", "-very-long".repeat(40));
    let records = [search(long.clone()), search(point(0.95, 500.0))];
    let overlay = Overlay::new(&[run_of("a", &records)]);
    let summary = overlay.summary();
    let table: Vec<&str> = summary
        .lines()
        .take_while(|l| !l.starts_with("QPS:"))
        .collect();
    assert!(
        table.iter().all(|line| line.chars().count() <= 100),
        "{summary}"
    );
    assert!(
        table
            .iter()
            .any(|line| line.starts_with("begins-very") && line.ends_with(" [1]")),
        "{summary}"
    );
    let (_, notes) = summary.split_once("\n[1] ").unwrap();
    let unbroken: String = notes.split_whitespace().collect();
    assert!(unbroken.starts_with(&long.library), "{summary}");
    let details: String = overlay.details().split_whitespace().collect();
    assert!(details.contains(&long.library), "{details}");
}
