//! The plot as a reader of its files sees it.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_core::{Mode, Params};
use annbench_report::{LabelledRun, Overlay, PlotKind, SeriesBy};
use annbench_results::{Cause, Record};
use common::*;

/// Width, height and pixels of a PNG file.
fn pixels(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut rgb).unwrap();
    (info.width, info.height, rgb)
}

/// The texts of an SVG document, unescaped, and whether it is one element that opens and closes.
fn texts(svg: &str) -> Vec<String> {
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    svg.split("<text ")
        .skip(1)
        .map(|part| {
            let (_, rest) = part.split_once(">\n").unwrap();
            let (text, _) = rest.split_once("\n</text>").unwrap();
            text.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&apos;", "'")
                .replace("&amp;", "&")
        })
        .collect()
}

/// Draws every plot of every chart in both formats, keeps the files for looking at, and returns the
/// SVG texts by chart, of all kinds in their order.
fn draw(name: &str, records: &[&[Record]], by: SeriesBy) -> Vec<Vec<Vec<String>>> {
    let labels = ["monday", "tuesday", "wednesday"];
    let runs: Vec<LabelledRun<'_>> = labels
        .iter()
        .zip(records)
        .map(|(label, records)| LabelledRun {
            label,
            records,
            doubts: &[],
        })
        .collect();
    let overlay = Overlay::with_series(&runs, by);
    overlay
        .charts()
        .iter()
        .map(|chart| {
            PlotKind::ALL
                .map(|kind| {
                    let name = format!("{name}-k{}{}", chart.k, kind.file_suffix());
                    keep(&name, &chart.png(kind).unwrap(), &chart.svg(kind).unwrap())
                })
                .to_vec()
        })
        .collect()
}

/// Checks a drawing in both formats, keeps the files, and returns the SVG's texts.
fn keep(name: &str, png: &[u8], svg: &str) -> Vec<String> {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(dir.join(format!("{name}.png")), png).unwrap();
    std::fs::write(dir.join(format!("{name}.svg")), svg).unwrap();
    let (width, height, rgb) = pixels(png);
    assert_eq!(width, 2000);
    assert!(height > 800);
    assert!(rgb.chunks(3).any(|p| p != &rgb[..3]));
    assert!(svg.contains("sans-serif"));
    texts(svg)
}

fn assert_has(texts: &[String], wanted: &[&str]) {
    for &text in wanted {
        assert!(
            texts.iter().any(|t| t == text),
            "no {text:?} among {texts:#?}"
        );
    }
}

#[test]
fn a_campaign() {
    let charts = draw("campaign", &[&campaign()], SeriesBy::Library);
    assert_eq!(charts.len(), 1);
    assert_has(
        &charts[0][0],
        &[
            "faiss 1.12.0",
            "hnsw_rs 0.3.4",
            "exact 0.1.0",
            "not drawn: 2 failed (signal 1, timeout 1), 3 rejected",
            "0.9",
            "0.99",
            "0.999",
            "1",
            "1k",
            "10k",
            "queries per second",
            "anti-hub recall",
            "not computed",
            "annbench run configs/quickstart.yaml --out results/quick",
        ],
    );
}

#[test]
fn every_kind_counts_what_failed() {
    let charts = draw("campaign", &[&campaign()], SeriesBy::Library);
    let wanted: [(PlotKind, &[&str]); 5] = [
        (PlotKind::RecallQps, &["queries per second", "10k"]),
        (
            PlotKind::RecallLatency,
            &["service latency p99, lower is better", "1 ms", "100 µs"],
        ),
        (
            PlotKind::RecallBuildTime,
            &["build time, lower is better", "10 ms", "1 s"],
        ),
        (
            PlotKind::RecallMemory,
            &["index memory in MiB, lower is better", "10", "50"],
        ),
        (
            PlotKind::BuildTimeQps,
            &[
                "build time, lower is better",
                "recall@10 ≥ 0.90",
                "recall@10 ≥ 0.95",
                "recall@10 ≥ 0.99",
                "2 builds; reaching 0.90: 2, 0.95: 2, 0.99: 2",
            ],
        ),
    ];
    for (texts, (kind, wanted)) in charts[0].iter().zip(wanted) {
        assert_eq!(
            kind,
            PlotKind::ALL[charts[0].iter().position(|t| t == texts).unwrap()]
        );
        assert_has(texts, wanted);
        assert_has(
            texts,
            &[
                "not drawn: 2 failed (signal 1, timeout 1), 3 rejected",
                "anti-hub recall",
            ],
        );
    }
}

#[test]
fn missing_figures_are_counted() {
    let (first, second) = eventful();
    let charts = draw("eventful", &[&first, &second], SeriesBy::Library);
    let latency = &charts[0][1];
    assert_has(latency, &["1 not drawn: batch mode has no service latency"]);
}

#[test]
fn groups_become_series() {
    let charts = draw("groups", &[&campaign()], SeriesBy::Group);
    assert_has(&charts[0][0], &["faiss 1.12.0, hnsw", "faiss 1.12.0, ivf"]);
}

#[test]
fn refuted_truth_two_runs_and_two_modes() {
    let (first, second) = eventful();
    let charts = draw("eventful", &[&first, &second], SeriesBy::Library);
    assert_eq!(charts.len(), 2);
    for texts in charts.iter().flatten() {
        assert_has(
            texts,
            &["TRUTH REFUTED: the recalls below rest on a wrong ground truth"],
        );
    }
    assert_has(
        &charts[0][0],
        &[
            "faiss 1.12.0, single, 1 thread, run monday",
            "faiss 1.12.0, batch, 1 thread",
            "not verified: siftimg-50k.u8bin",
        ],
    );
}

#[test]
fn nothing_measured() {
    let none = Params::new();
    let library = Library::new("faiss", "1.12.0");
    let record = library.unmeasured(&none, &none, 10, failed(Cause::Panic, "it panicked"));
    let charts = draw("nothing", &[&[search(record)]], SeriesBy::Library);
    assert_has(
        &charts[0][0],
        &[
            "no point was measured and scored",
            "not drawn: 1 failed (panic 1)",
        ],
    );
}

#[test]
fn text_that_would_break_xml() {
    let none = Params::new();
    let mut record = Library::new("a<b>&\"c", "1").point(&none, &none, 10, 0.9, 100.0);
    record.dataset.name = "]]>\u{0}<script>".to_owned();
    let charts = draw("markup", &[&[search(record)]], SeriesBy::Library);
    assert_has(&charts[0][0], &["a<b>&\"c 1"]);
}

#[test]
fn many_series() {
    let mut records = Vec::new();
    let none = Params::new();
    let adapters = [
        "faiss", "hnsw_rs", "usearch", "diskann", "scann", "annoy", "hnswlib",
    ];
    for (i, adapter) in adapters.iter().enumerate() {
        for mode in [Mode::Single, Mode::Batch] {
            let mut library = Library::new(adapter, "2.0.1");
            library.mode = mode;
            for step in 0..10 {
                let shortfall = 0.6 * (0.35 + 0.04 * i as f64).powi(step);
                let qps = 20_000.0 * 0.6f64.powi(step) / (1.0 + 0.3 * i as f64)
                    * if mode == Mode::Batch { 3.0 } else { 1.0 };
                let params = Params::new().with("ef", int(i64::from(step)));
                let mut point = library.point(&none, &params, 10, 1.0 - shortfall, qps);
                let speed = point.speed.as_mut().unwrap();
                speed.qps_min *= 0.8;
                records.push(search(point));
            }
        }
    }
    let charts = draw("many", &[&records], SeriesBy::Library);
    let runs = [LabelledRun {
        label: "monday",
        records: &records,
        doubts: &[],
    }];
    assert!(
        Overlay::new(&runs).overview().is_none(),
        "one chart needs none"
    );
    assert_has(&charts[0][0], &["scann 2.0.1, batch, 1 thread"]);
}

#[test]
fn several_datasets_share_an_overview() {
    let names = [
        "siftimg-50k-128-euclidean",
        "glove-100-angular",
        "deep-image-96-angular",
        "a-dataset-with-a-name-that-is-much-too-long-for-one-panel-100-euclidean",
        "wordnet-minilm-10k",
    ];
    let mut records = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for record in campaign() {
            let Record::Search(mut point) = record else {
                continue;
            };
            // Not every library has points on every dataset.
            if i == 1 && point.identity.build.adapter == "faiss" {
                continue;
            }
            let slower = 1.0 + 0.7 * i as f64;
            point.dataset.name = (*name).to_owned();
            point.dataset.base_fingerprint = format!("b3:{i}");
            point.point_id += name;
            if let Some(speed) = &mut point.speed {
                speed.qps_median /= slower;
                speed.qps_min /= slower;
                speed.qps_max /= slower;
            }
            records.push(Record::Search(point));
        }
    }
    for datasets in [2, 5] {
        let shown: Vec<Record> = records
            .iter()
            .filter(|record| match record {
                Record::Search(point) => names[..datasets].contains(&point.dataset.name.as_str()),
                _ => true,
            })
            .cloned()
            .collect();
        let runs = [LabelledRun {
            label: "monday",
            records: &shown,
            doubts: &[],
        }];
        let overlay = Overlay::new(&runs);
        let overview = overlay.overview().unwrap();
        assert_eq!(overview.file_stem(), "overview");
        let name = format!("overview-{datasets}");
        let texts = keep(&name, &overview.png().unwrap(), &overview.svg().unwrap());
        let libraries = texts.iter().filter(|t| t.as_str() == "faiss 1.12.0");
        assert_eq!(libraries.count(), 1);
        let failed = match datasets {
            2 => "not drawn: 2 failed (signal 1, timeout 1), 3 rejected",
            _ => "not drawn: 8 failed (signal 4, timeout 4), 12 rejected",
        };
        assert_has(
            &texts,
            &[
                "glove-100-angular, k\u{a0}=\u{a0}10",
                failed,
                "anti-hub recall",
            ],
        );
    }
}
