use crate::chart::Chart;
use crate::curve::{Curve, Selection};
use crate::facts::FactLine;
use crate::figures::{count, plural, printable};
use crate::font::Ruler;
use crate::kind::PlotKind;
use crate::legend::{Entry, draw_legend};
use crate::paint::{self, PlotError};
use crate::panel::{Panel, axes};
use crate::quantity::Quantity;
use crate::scene::{Anchor, Color, Extent, Item, Scene, Text};
use crate::summary::searches;
use crate::wrap::wrap;

/// Canvas width. An em of 16 of them stays readable when the plot is shown at half size.
pub(crate) const WIDTH: f64 = 1000.0;
pub(crate) const MARGIN: f64 = 24.0;
/// Where plotted areas begin: room for the title of y and its tick labels.
pub(crate) const AREA_LEFT: f64 = 104.0;
pub(crate) const TITLE_EM: f64 = 21.0;
pub(crate) const AXIS_EM: f64 = 17.0;
pub(crate) const TICK_EM: f64 = 16.0;
pub(crate) const LEGEND_EM: f64 = 15.5;
pub(crate) const FACT_EM: f64 = 13.5;
/// Height of the plotted area.
const AREA_HEIGHT: f64 = 470.0;
/// Between areas side by side, so that the tick labels at their ends keep apart.
pub(crate) const PANEL_GAP: f64 = 44.0;
pub(crate) const INK: Color = (0x22, 0x22, 0x22);
pub(crate) const MUTED: Color = (0x66, 0x66, 0x66);
pub(crate) const GRID: Color = (0xDD, 0xDD, 0xDD);
pub(crate) const ALARM: Color = (0xB0, 0x00, 0x20);

impl Chart<'_> {
    /// A plot as an SVG document.
    ///
    /// One without a point to draw is an empty frame that says so, with its counts and facts,
    /// since what failed or is missing is an answer too.
    ///
    /// # Errors
    /// [`PlotError`]; none is expected from any records.
    pub fn svg(&self, kind: PlotKind) -> Result<String, PlotError> {
        paint::svg(&scene(self, kind, &Ruler::new()?), &self.title(kind))
    }

    /// The same drawing as a PNG file, 2000 pixels wide.
    ///
    /// # Errors
    /// [`PlotError`]; none is expected from any records.
    pub fn png(&self, kind: PlotKind) -> Result<Vec<u8>, PlotError> {
        paint::png(&scene(self, kind, &Ruler::new()?))
    }

    /// The most hits that a recall of this chart counts: queries times k.
    pub(crate) fn slots(&self) -> f64 {
        let points = self.series.iter().flat_map(|s| &s.points);
        let queries = points.map(|p| p.quality.scored_queries).max();
        queries.unwrap_or(1) as f64 * self.k as f64
    }
}

/// Lays the chart out from top to bottom: title, panels, legend, facts.
pub(crate) fn scene(chart: &Chart<'_>, kind: PlotKind, ruler: &Ruler) -> Scene {
    let mut scene = Scene {
        width: WIDTH,
        height: 0.0,
        items: Vec::new(),
    };
    let mut top = draw_title(&mut scene, chart, kind, ruler);
    let selections = kind.panels();
    // By panel, then by series.
    let curves: Vec<Vec<Curve>> = selections
        .iter()
        .map(|&selection| {
            let curve = |series| Curve::new(series, kind.axes(), selection);
            chart.series.iter().map(curve).collect()
        })
        .collect();
    if selections.len() > 1 {
        top += 1.35 * AXIS_EM;
    }
    let areas = row(selections.len(), (top, top + AREA_HEIGHT));
    let axes = axes(
        curves.iter().flatten(),
        kind.axes(),
        chart.slots(),
        areas[0],
    );
    for (i, (area, selection)) in areas.iter().zip(&selections).enumerate() {
        if let Selection::FastestPerBuild { recall } = selection {
            let heading = format!("recall@{} ≥ {recall:.2}", chart.k);
            let at = ((area.left + area.right) / 2.0, area.top - 8.0);
            scene.text(at, AXIS_EM, Anchor::Middle, INK, heading);
        }
        let looks = chart.series.iter().map(|series| series.look);
        let panel = Panel {
            area: *area,
            curves: curves[i].iter().zip(looks).collect(),
            nothing: match chart.is_empty() {
                true => PlotKind::RecallQps.nothing(),
                false => kind.nothing(),
            },
            y_labels: i == 0,
        };
        panel.draw(&mut scene, axes.as_ref(), ruler);
    }
    let bottom = top + AREA_HEIGHT;
    draw_axis_titles(
        &mut scene,
        (AREA_LEFT, top, bottom),
        (
            &axis_title(kind.axes().0, chart.k),
            &axis_title(kind.axes().1, chart.k),
        ),
    );
    let entries = entries(chart, &selections, &curves);
    let y = draw_legend(&mut scene, &entries, bottom + 62.0, ruler);
    let y = draw_key(&mut scene, kind.key(), y, ruler);
    let y = draw_facts(&mut scene, &chart.facts, y + 12.0, ruler);
    scene.height = (y + 14.0).ceil();
    scene
}

/// `n` areas of one size, side by side over the whole width.
pub(crate) fn row(n: usize, (top, bottom): (f64, f64)) -> Vec<Extent> {
    let room = WIDTH - MARGIN - AREA_LEFT;
    let width = (room - PANEL_GAP * n.saturating_sub(1) as f64) / n as f64;
    (0..n)
        .map(|i| AREA_LEFT + i as f64 * (width + PANEL_GAP))
        .map(|left| Extent {
            left,
            top,
            right: left + width,
            bottom,
        })
        .collect()
}

/// What is written along the axis of a quantity.
fn axis_title(quantity: Quantity, k: u64) -> String {
    match quantity {
        Quantity::Recall => format!("recall@{k}, {}", quantity.axis_title()),
        _ => quantity.axis_title().to_owned(),
    }
}

/// Titles below and to the left of areas from `left` to the margin, `top` to `bottom`.
pub(crate) fn draw_axis_titles(
    scene: &mut Scene,
    (left, top, bottom): (f64, f64, f64),
    (x, y): (&str, &str),
) {
    let below = ((left + WIDTH - MARGIN) / 2.0, bottom + 46.0);
    scene.text(below, AXIS_EM, Anchor::Middle, INK, x);
    scene.items.push(Item::Text(Text {
        at: (26.0, (top + bottom) / 2.0),
        em: AXIS_EM,
        anchor: Anchor::Middle,
        color: INK,
        text: y.to_owned(),
        upward: true,
    }));
}

/// An entry per series: what is drawn of it, what lacks a figure, what failed.
fn entries(chart: &Chart<'_>, selections: &[Selection], curves: &[Vec<Curve>]) -> Vec<Entry> {
    let entry = |(i, series): (usize, &crate::Series<'_>)| {
        let first = &curves[0][i];
        let mut texts = vec![(series.label.clone(), INK)];
        let told = match selections {
            [Selection::EveryPoint] => format!(
                "{}, {} on the front",
                plural(first.drawn.len() as u64, "point"),
                first.front().len()
            ),
            _ => {
                let reach = selections
                    .iter()
                    .zip(curves)
                    .filter_map(|(s, curves)| match s {
                        Selection::EveryPoint => None,
                        Selection::FastestPerBuild { recall } => {
                            Some(format!("{recall:.2}: {}", curves[i].drawn.len()))
                        }
                    });
                format!(
                    "{}; reaching {}",
                    plural(first.builds, "build"),
                    reach.collect::<Vec<_>>().join(", ")
                )
            }
        };
        texts.push((told, MUTED));
        texts.extend(first.absences().map(|text| (text, MUTED)));
        if let Some(missing) = series.counts.missing() {
            texts.push((format!("not drawn: {missing}"), ALARM));
        }
        Entry {
            look: series.look,
            texts,
        }
    };
    chart.series.iter().enumerate().map(entry).collect()
}

/// Writes `text`, wrapped, from `top` down and returns where it ends.
pub(crate) fn draw_lines(
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

fn draw_title(scene: &mut Scene, chart: &Chart<'_>, kind: PlotKind, ruler: &Ruler) -> f64 {
    let d = chart.dataset;
    let mut y = draw_lines(
        scene,
        &chart.title(kind),
        (MARGIN, 12.0),
        TITLE_EM,
        INK,
        ruler,
    );
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

/// How to read the plot, from `top` down; returns where it ends.
pub(crate) fn draw_key(scene: &mut Scene, key: &str, top: f64, ruler: &Ruler) -> f64 {
    draw_lines(scene, key, (MARGIN, top + 6.0), FACT_EM, MUTED, ruler)
}

/// The facts under their labels, from `top` down; returns where they end.
pub(crate) fn draw_facts(scene: &mut Scene, facts: &[FactLine], top: f64, ruler: &Ruler) -> f64 {
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

    fn within(extent: &Extent, scene: &Scene) -> bool {
        extent.left >= 0.0
            && extent.top >= 0.0
            && extent.right <= scene.width
            && extent.bottom <= scene.height
    }

    /// Every text and mark of every plot lies on the canvas, and no text covers another text or a mark.
    fn assert_tidy(records: &[&[Record]]) {
        let runs: Vec<LabelledRun<'_>> = records
            .iter()
            .map(|records| LabelledRun {
                label: "some-run-of-a-campaign",
                records,
                doubts: &[],
            })
            .collect();
        let ruler = Ruler::new().unwrap();
        let overlay = Overlay::new(&runs);
        let plots = overlay
            .charts()
            .iter()
            .flat_map(|chart| PlotKind::ALL.map(|kind| scene(chart, kind, &ruler)));
        let overview = overlay.overview();
        for scene in plots.chain(overview.iter().map(|o| o.scene(&ruler))) {
            let (texts, marks) = boxes(&scene, &ruler);
            for (i, (extent, text)) in texts.iter().enumerate() {
                assert!(
                    within(extent, &scene),
                    "{text:?} leaves the canvas: {extent:?}"
                );
                for (other, other_text) in &texts[i + 1..] {
                    assert!(!extent.overlaps(other), "{text:?} overlaps {other_text:?}");
                }
                for mark in &marks {
                    assert!(within(mark, &scene), "a mark leaves the canvas: {mark:?}");
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
    fn several_datasets_are_tidy() {
        for datasets in 2..=7 {
            let mut records = Vec::new();
            for i in 0..datasets {
                for mut record in campaign() {
                    if let Record::Search(point) = &mut record {
                        point.dataset.name = "a-dataset-with-a-name-of-some-length-".repeat(i + 1);
                        point.dataset.base_fingerprint = format!("b3:{i}");
                        point.point_id += &i.to_string();
                        if let Some(quality) = &mut point.quality {
                            quality.beats_truth = i as u64 % 2;
                        }
                    }
                    records.push(record);
                }
            }
            assert_tidy(&[&records]);
        }
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
            let overlay = Overlay::new(&[LabelledRun { label: "run", records: &records, doubts: &[] }]);
            overlay.csv();
            overlay.summary();
            overlay.details();
            for width in [0, 40, 80, 200] {
                let plot = overlay.text_plots(width);
                prop_assert!(plot.chars().all(|c| c == '\n' || !c.is_control()));
                prop_assert!(plot.lines().all(|line| line.chars().count() <= width.max(40)));
            }
        }
    }
}
