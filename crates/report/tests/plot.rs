//! The plot as a reader of its files sees it.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_core::{Mode, Params};
use annbench_report::{LabelledRun, Overlay, SeriesBy};
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

/// Draws every chart in both formats, keeps the files for looking at, and returns the SVG texts.
fn draw(name: &str, records: &[&[Record]], by: SeriesBy) -> Vec<Vec<String>> {
    let labels = ["monday", "tuesday", "wednesday"];
    let runs: Vec<LabelledRun<'_>> = labels
        .iter()
        .zip(records)
        .map(|(label, records)| LabelledRun { label, records })
        .collect();
    let overlay = Overlay::with_series(&runs, by);
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    overlay
        .charts()
        .iter()
        .map(|chart| {
            let file = chart.png().unwrap();
            std::fs::write(dir.join(format!("{name}-k{}.png", chart.k)), &file).unwrap();
            let (width, height, rgb) = pixels(&file);
            assert_eq!(width, 2000);
            assert!(height > 1000);
            assert!(rgb.chunks(3).any(|p| p != &rgb[..3]));
            let svg = chart.svg().unwrap();
            std::fs::write(dir.join(format!("{name}-k{}.svg", chart.k)), &svg).unwrap();
            assert!(svg.contains("sans-serif"));
            texts(&svg)
        })
        .collect()
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
        &charts[0],
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
fn groups_become_series() {
    let charts = draw("groups", &[&campaign()], SeriesBy::Group);
    assert_has(&charts[0], &["faiss 1.12.0, hnsw", "faiss 1.12.0, ivf"]);
}

#[test]
fn refuted_truth_two_runs_and_two_modes() {
    let (first, second) = eventful();
    let charts = draw("eventful", &[&first, &second], SeriesBy::Library);
    assert_eq!(charts.len(), 2);
    for texts in &charts {
        assert_has(
            texts,
            &["TRUTH REFUTED: the recalls below rest on a wrong ground truth"],
        );
    }
    assert_has(
        &charts[0],
        &[
            "faiss 1.12.0, single, 1 thread, run monday",
            "faiss 1.12.0, batch, 1 thread",
            "mismatch accepted by name for siftimg-50k.u8bin",
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
        &charts[0],
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
    assert_has(&charts[0], &["a<b>&\"c 1"]);
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
    assert_has(&charts[0], &["scann 2.0.1, batch, 1 thread"]);
}
