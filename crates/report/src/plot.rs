use crate::axis::{QpsAxis, RecallAxis};
use crate::chart::Chart;
use crate::facts::FactLine;
use crate::figures::{count, plural, printable};
use crate::font::Ruler;
use crate::frame::draw_frame;
use crate::legend::draw_legend;
use crate::paint::{self, PlotError};
use crate::palette::{Look, faint, looks};
use crate::scene::{Anchor, Color, Extent, Item, Scene, dash};
use crate::series::Series;
use crate::summary::searches;
use crate::wrap::wrap;

/// Canvas width. An em of 16 of them stays readable when the plot is shown at half size.
pub(crate) const WIDTH: f64 = 1000.0;
pub(crate) const MARGIN: f64 = 24.0;
pub(crate) const TITLE_EM: f64 = 21.0;
pub(crate) const AXIS_EM: f64 = 17.0;
pub(crate) const TICK_EM: f64 = 16.0;
pub(crate) const LEGEND_EM: f64 = 15.5;
const FACT_EM: f64 = 13.5;
/// Height of the plotted area.
const AREA_HEIGHT: f64 = 470.0;
pub(crate) const MARK_RADIUS: f64 = 5.0;
const FAINT_RADIUS: f64 = 3.5;
pub(crate) const INK: Color = (0x22, 0x22, 0x22);
pub(crate) const MUTED: Color = (0x66, 0x66, 0x66);
pub(crate) const GRID: Color = (0xDD, 0xDD, 0xDD);
pub(crate) const ALARM: Color = (0xB0, 0x00, 0x20);

impl Chart<'_> {
    /// The Pareto plot as an SVG document.
    ///
    /// A chart without a measured point is drawn as an empty frame that says so, with its counts
    /// and facts, since what failed is an answer too.
    ///
    /// # Errors
    /// [`PlotError`]; none is expected from any records.
    pub fn svg(&self) -> Result<String, PlotError> {
        paint::svg(&scene(self, &Ruler::new()?), &self.title())
    }

    /// The same drawing as a PNG file, 2000 pixels wide.
    ///
    /// # Errors
    /// [`PlotError`]; none is expected from any records.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        paint::png(&scene(self, &Ruler::new()?))
    }
}

/// Lays the chart out from top to bottom: title, plot, legend, facts.
pub(crate) fn scene(chart: &Chart<'_>, ruler: &Ruler) -> Scene {
    let mut scene = Scene {
        width: WIDTH,
        height: 0.0,
        items: Vec::new(),
    };
    let top = draw_title(&mut scene, chart, ruler);
    let area = Extent {
        left: 104.0,
        top,
        right: WIDTH - MARGIN,
        bottom: top + AREA_HEIGHT,
    };
    let adapters: Vec<&str> = chart.series.iter().map(|s| s.adapter).collect();
    let looks = looks(&adapters);
    draw_area(&mut scene, chart, &looks, area, ruler);
    let y = draw_legend(&mut scene, &chart.series, &looks, area.bottom + 62.0, ruler);
    let y = draw_key(&mut scene, y, ruler);
    let y = draw_facts(&mut scene, &chart.facts, y + 12.0, ruler);
    scene.height = (y + 14.0).ceil();
    scene
}

/// Writes `text`, wrapped, from `top` down and returns where it ends.
fn draw_lines(
    scene: &mut Scene,
    text: &str,
    (left, top): (f64, f64),
    em: f64,
    color: Color,
    ruler: &Ruler,
) -> f64 {
    let mut y = top;
    for line in wrap(text, WIDTH - MARGIN - left, |t| ruler.width(t, em)) {
        y += 1.35 * em;
        scene.text((left, y - 0.36 * em), em, Anchor::Start, color, line);
    }
    y
}

fn draw_title(scene: &mut Scene, chart: &Chart<'_>, ruler: &Ruler) -> f64 {
    let d = chart.dataset;
    let mut y = draw_lines(scene, &chart.title(), (MARGIN, 12.0), TITLE_EM, INK, ruler);
    let searches: Vec<String> = searches(chart)
        .iter()
        .map(|(mode, threads)| format!("{mode} with {}", plural(*threads, "thread")))
        .collect();
    let subtitle = format!(
        "{} × {} {} · {} · {}",
        count(d.n),
        count(d.dim),
        d.element,
        d.metric,
        searches.join("; ")
    );
    y = draw_lines(scene, &subtitle, (MARGIN, y), LEGEND_EM, MUTED, ruler);
    if chart.refuted {
        let warning = "TRUTH REFUTED: the recalls below rest on a wrong ground truth";
        y = draw_lines(scene, warning, (MARGIN, y + 2.0), AXIS_EM, ALARM, ruler);
    }
    y + 12.0
}

fn draw_area(scene: &mut Scene, chart: &Chart<'_>, looks: &[Look], area: Extent, ruler: &Ruler) {
    if chart.is_empty() {
        draw_frame(scene, area, None, chart.k, ruler);
        scene.text(
            (
                (area.left + area.right) / 2.0,
                (area.top + area.bottom) / 2.0,
            ),
            TITLE_EM,
            Anchor::Middle,
            MUTED,
            "no point was measured and scored",
        );
        return;
    }
    let points = || chart.series.iter().flat_map(|s| &s.points);
    let recalls: Vec<f64> = points().map(|p| p.quality.recall_mean).collect();
    let rates: Vec<f64> = points()
        .flat_map(|p| [p.speed.qps_min, p.speed.qps_max])
        .collect();
    let queries = points()
        .map(|p| p.quality.scored_queries)
        .max()
        .unwrap_or(1);
    let x = RecallAxis::new(&recalls, queries, chart.k, area.left, area.right);
    let y = QpsAxis::new(&rates, area.bottom, area.top);
    draw_frame(scene, area, Some((&x, &y)), chart.k, ruler);
    // Faint things first, so that no dominated point of one series hides another's front.
    let shown = || chart.series.iter().zip(looks);
    for (series, look) in shown() {
        draw_dominated(scene, series, look, &x, &y);
    }
    for (series, look) in shown() {
        draw_front(scene, series, look, &x, &y);
    }
}

fn draw_dominated(
    scene: &mut Scene,
    series: &Series<'_>,
    look: &Look,
    x: &RecallAxis,
    y: &QpsAxis,
) {
    let color = faint(look.color, 0.35);
    for p in series.points.iter().filter(|p| !p.on_front) {
        let at = x.at(p.quality.recall_mean);
        let bar = ((at, y.at(p.speed.qps_min)), (at, y.at(p.speed.qps_max)));
        scene.line(bar.0, bar.1, 0.5, color);
        let center = (at, y.at(p.speed.qps_median));
        scene
            .items
            .push(look.mark.item(center, FAINT_RADIUS, color));
    }
}

fn draw_front(scene: &mut Scene, series: &Series<'_>, look: &Look, x: &RecallAxis, y: &QpsAxis) {
    let front = series.front();
    let centers: Vec<(f64, f64)> = front
        .iter()
        .map(|p| (x.at(p.quality.recall_mean), y.at(p.speed.qps_median)))
        .collect();
    for points in dash(&centers, look.dash) {
        scene.items.push(Item::Path {
            points,
            width: 1.75,
            color: look.color,
        });
    }
    for (p, &center) in front.iter().zip(&centers) {
        // A rim of white keeps marks of different series apart where they meet.
        let rim = look.mark.item(center, MARK_RADIUS + 1.0, (255, 255, 255));
        scene.items.push(rim);
        let (low, high) = (y.at(p.speed.qps_min), y.at(p.speed.qps_max));
        scene.line((center.0, low), (center.0, high), 1.0, look.color);
        for end in [low, high] {
            scene.line(
                (center.0 - 3.0, end),
                (center.0 + 3.0, end),
                1.0,
                look.color,
            );
        }
        scene
            .items
            .push(look.mark.item(center, MARK_RADIUS, look.color));
    }
}

fn draw_key(scene: &mut Scene, top: f64, ruler: &Ruler) -> f64 {
    let key = "Lines and large marks: Pareto front of each series. Faint marks: dominated by it. \
               Bars: slowest to fastest repetition.";
    draw_lines(scene, key, (MARGIN, top + 6.0), FACT_EM, MUTED, ruler)
}

fn draw_facts(scene: &mut Scene, facts: &[FactLine], top: f64, ruler: &Ruler) -> f64 {
    scene.line((MARGIN, top), (WIDTH - MARGIN, top), 0.5, MUTED);
    let column = facts
        .iter()
        .map(|fact| ruler.width(fact.label, FACT_EM))
        .fold(0.0, f64::max);
    let mut y = top + 5.0;
    for fact in facts {
        let color = if fact.alarm { ALARM } else { INK };
        scene.text(
            (MARGIN, y + 0.99 * FACT_EM),
            FACT_EM,
            Anchor::Start,
            MUTED,
            fact.label,
        );
        let left = MARGIN + column + 14.0;
        let end = draw_lines(
            scene,
            &printable(&fact.text),
            (left, y),
            FACT_EM,
            color,
            ruler,
        );
        // A fact without text still takes its label's line.
        y = end.max(y + 1.35 * FACT_EM);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::*;
    use crate::{LabelledRun, Overlay};
    use annbench_core::{Mode, Params};
    use annbench_results::{Cause, Record};
    use proptest::prelude::*;

    /// Boxes of texts and of marks.
    fn boxes(scene: &Scene, ruler: &Ruler) -> (Vec<(Extent, String)>, Vec<Extent>) {
        let around = |points: &[(f64, f64)]| Extent {
            left: points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min),
            top: points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min),
            right: points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max),
            bottom: points.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max),
        };
        let (mut texts, mut marks) = (Vec::new(), Vec::new());
        for item in &scene.items {
            match item {
                Item::Text(text) => texts.push((text.extent(ruler), text.text.clone())),
                Item::Polygon { points, .. } => marks.push(around(points)),
                Item::Circle {
                    center: (x, y),
                    radius: r,
                    ..
                } => marks.push(around(&[(x - r, y - r), (x + r, y + r)])),
                Item::Path { .. } => {}
            }
        }
        (texts, marks)
    }

    /// Every text and mark lies on the canvas, and no text covers another text or a mark.
    fn assert_tidy(records: &[&[Record]]) {
        let runs: Vec<LabelledRun<'_>> = records
            .iter()
            .map(|records| LabelledRun {
                label: "some-run-of-a-campaign",
                records,
            })
            .collect();
        let ruler = Ruler::new().unwrap();
        for chart in Overlay::new(&runs).charts() {
            let scene = scene(chart, &ruler);
            let (texts, marks) = boxes(&scene, &ruler);
            for (i, (extent, text)) in texts.iter().enumerate() {
                assert!(
                    extent.left >= 0.0
                        && extent.top >= 0.0
                        && extent.right <= scene.width
                        && extent.bottom <= scene.height,
                    "{text:?} leaves the canvas: {extent:?}"
                );
                for (other, other_text) in &texts[i + 1..] {
                    assert!(!extent.overlaps(other), "{text:?} overlaps {other_text:?}");
                }
                for mark in &marks {
                    assert!(
                        !extent.overlaps(mark),
                        "{text:?} overlaps a mark at {mark:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_campaign_is_tidy() {
        assert_tidy(&[&campaign()]);
    }

    #[test]
    fn two_runs_are_tidy() {
        assert_tidy(&[&campaign(), &campaign()]);
    }

    #[test]
    fn many_series_with_long_names_are_tidy() {
        let long = "a-library-with-a-name-that-goes-on-for-rather-long";
        let mut records = Vec::new();
        for threads in 1..=12 {
            let mut library = Library::new(long, "10.20.30-rc.1+build.20260101.deadbeef");
            library.mode = if threads % 2 == 0 {
                Mode::Batch
            } else {
                Mode::Single
            };
            library.threads = threads;
            let none = Params::new();
            let mut point = library.point(&none, &none, 10, 0.9, 1000.0 * threads as f64);
            point.dataset.name = "a-dataset-whose-name-has-no-end-".repeat(8);
            records.push(search(point));
            let params = Params::new().with("ef", int(1));
            let outcome = failed(Cause::Panic, "it panicked");
            let mut point = library.unmeasured(&none, &params, 10, outcome);
            point.dataset.name = "a-dataset-whose-name-has-no-end-".repeat(8);
            records.push(search(point));
        }
        assert_tidy(&[&records]);
    }

    #[test]
    fn nothing_measured_is_tidy() {
        let none = Params::new();
        let record = Library::new("faiss", "1.12.0").unmeasured(
            &none,
            &none,
            10,
            failed(Cause::Panic, "it panicked"),
        );
        assert_tidy(&[&[search(record)]]);
    }

    fn odd() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(1.0),
            Just(1.0 - f64::EPSILON),
            Just(5e-324),
            Just(f64::MAX),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(-1.0),
            0.0..1.0f64,
            0.9..1.0f64,
            1.0..1e6f64,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_figures_are_tidy(points in prop::collection::vec((odd(), odd(), odd(), odd()), 0..12)) {
            let library = Library::new("faiss", "1.12.0");
            let none = Params::new();
            let mut records = Vec::new();
            for (i, (recall, low, median, high)) in points.into_iter().enumerate() {
                let params = Params::new().with("ef", int(i as i64));
                let mut point = library.point(&none, &params, 10, recall, median);
                let speed = point.speed.as_mut().unwrap();
                (speed.qps_min, speed.qps_max) = (low, high);
                records.push(search(point));
            }
            assert_tidy(&[&records]);
            let overlay = Overlay::new(&[LabelledRun { label: "run", records: &records }]);
            overlay.csv();
            overlay.summary();
            overlay.details();
        }
    }
}
