use crate::chart::Chart;
use crate::counts::Counts;
use crate::curve::{Curve, Selection};
use crate::facts::FactLine;
use crate::figures::{plural, printable};
use crate::font::Ruler;
use crate::kind::PlotKind;
use crate::legend::{Entry, draw_legend};
use crate::overlay::Overlay;
use crate::paint::{self, PlotError};
use crate::panel::{Panel, axes};
use crate::plot::{
    ALARM, AREA_LEFT, INK, LEGEND_EM, MARGIN, MUTED, TITLE_EM, WIDTH, draw_axis_titles, draw_facts,
    draw_key, draw_lines, row,
};
use crate::scene::{Anchor, Color, Scene};
use crate::wrap::wrap;
use std::collections::BTreeMap;

const KIND: PlotKind = PlotKind::RecallQps;
/// Height of a panel's area.
const AREA_HEIGHT: f64 = 250.0;
/// From the end of an area to the headings below it: its tick labels.
const BELOW: f64 = 34.0;

/// The Pareto plots of several charts in one figure, a panel each, on the same axes.
#[derive(Clone, Copy, Debug)]
pub struct Overview<'o, 'r> {
    overlay: &'o Overlay<'r>,
}

impl<'r> Overlay<'r> {
    /// The figure of all charts; `None` when there are fewer than two.
    pub fn overview(&self) -> Option<Overview<'_, 'r>> {
        (self.charts().len() > 1).then_some(Overview { overlay: self })
    }
}

impl<'r> Overview<'_, 'r> {
    /// A file name without extension that no plot of a chart has.
    pub fn file_stem(&self) -> &str {
        &self.overlay.overview_stem
    }

    /// What the figure is called.
    pub fn title(&self) -> String {
        let charts = self.charts();
        let mut datasets: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
        datasets.dedup();
        let mut ks: Vec<u64> = charts.iter().map(|chart| chart.k).collect();
        ks.sort_unstable();
        ks.dedup();
        let ks: Vec<String> = ks.iter().map(u64::to_string).collect();
        format!(
            "{}: recall@k against queries per second, k = {}",
            match datasets[..] {
                [one] => one.to_owned(),
                _ => plural(datasets.len() as u64, "dataset"),
            },
            ks.join(", ")
        )
    }

    /// The figure as an SVG document.
    ///
    /// # Errors
    /// [`PlotError`]; none is expected from any records.
    pub fn svg(&self) -> Result<String, PlotError> {
        paint::svg(&self.scene(&Ruler::new()?), &self.title())
    }

    /// The same drawing as a PNG file, 2000 pixels wide.
    ///
    /// # Errors
    /// [`PlotError`]; none is expected from any records.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        paint::png(&self.scene(&Ruler::new()?))
    }

    fn charts(&self) -> &[Chart<'r>] {
        self.overlay.charts()
    }

    /// Lays the figure out: title, rows of panels, legend, facts.
    pub(crate) fn scene(&self, ruler: &Ruler) -> Scene {
        let mut scene = Scene {
            width: WIDTH,
            height: 0.0,
            items: Vec::new(),
        };
        let top = draw_lines(
            &mut scene,
            &self.title(),
            (MARGIN, 12.0),
            TITLE_EM,
            INK,
            ruler,
        );
        let bottom = self.draw_panels(&mut scene, top + 8.0, ruler);
        draw_axis_titles(
            &mut scene,
            (AREA_LEFT, top, bottom),
            (
                "recall@k, spaced by −ln(1 − recall)",
                KIND.axes().1.axis_title(),
            ),
        );
        let y = draw_legend(&mut scene, &self.entries(), bottom + 62.0, ruler);
        let key = format!("{} All panels share both axes.", KIND.key());
        let y = draw_key(&mut scene, &key, y, ruler);
        let y = draw_facts(&mut scene, &self.facts(), y + 12.0, ruler);
        scene.height = (y + 14.0).ceil();
        scene
    }

    /// Panels from `top` down; returns where the last areas end.
    fn draw_panels(&self, scene: &mut Scene, mut top: f64, ruler: &Ruler) -> f64 {
        let charts = self.charts();
        let columns = match charts.len() {
            ..=4 => 2,
            _ => 3,
        };
        let curves: Vec<Vec<Curve>> = charts
            .iter()
            .map(|chart| {
                let curve = |series| Curve::new(series, KIND.axes(), Selection::EveryPoint);
                chart.series.iter().map(curve).collect()
            })
            .collect();
        let slots = charts.iter().map(Chart::slots).fold(1.0, f64::max);
        let shape = row(columns, (0.0, AREA_HEIGHT));
        let axes = axes(curves.iter().flatten(), KIND.axes(), slots, shape[0]);
        let mut bottom = top;
        let rows = charts.chunks(columns).zip(curves.chunks(columns));
        for (i, (charts, curves)) in rows.enumerate() {
            if i > 0 {
                top = bottom + BELOW;
            }
            let areas = row(columns, (0.0, 0.0));
            let headings: Vec<Vec<(String, Color)>> = charts
                .iter()
                .zip(&areas)
                .map(|(chart, area)| heading(chart, area.right - area.left, ruler))
                .collect();
            let lines = headings.iter().map(Vec::len).max().unwrap_or(0);
            let area_top = top + lines as f64 * 1.35 * LEGEND_EM + 6.0;
            bottom = area_top + AREA_HEIGHT;
            let areas = row(columns, (area_top, bottom));
            for (column, (chart, curves)) in charts.iter().zip(curves).enumerate() {
                let area = areas[column];
                // Headings end right above their areas.
                let heading = &headings[column];
                for (line, (text, color)) in heading.iter().rev().enumerate() {
                    let baseline = area_top - 8.0 - line as f64 * 1.35 * LEGEND_EM;
                    let at = (area.left, baseline);
                    scene.text(at, LEGEND_EM, Anchor::Start, *color, text.clone());
                }
                let looks = chart.series.iter().map(|series| series.look);
                let panel = Panel {
                    area,
                    curves: curves.iter().zip(looks).collect(),
                    nothing: KIND.nothing(),
                    y_labels: column == 0,
                };
                panel.draw(scene, axes.as_ref(), ruler);
            }
        }
        bottom
    }

    /// An entry per series over all charts, with the sum of its counts.
    fn entries(&self) -> Vec<Entry> {
        let mut order: Vec<&str> = Vec::new();
        let mut entries = BTreeMap::new();
        for series in self.charts().iter().flat_map(|chart| &chart.series) {
            let label = series.overlay_label.as_str();
            let (_, counts, panels) = entries.entry(label).or_insert_with(|| {
                order.push(label);
                (series.look, Counts::default(), 0u64)
            });
            counts.add(&series.counts);
            *panels += 1;
        }
        order.sort_unstable();
        order
            .into_iter()
            .map(|label| {
                let (look, counts, panels) = &entries[label];
                let mut texts = vec![
                    (label.to_owned(), INK),
                    (
                        format!(
                            "{} in {}",
                            plural(counts.ok, "point"),
                            plural(*panels, "panel")
                        ),
                        MUTED,
                    ),
                ];
                if let Some(missing) = counts.missing() {
                    texts.push((format!("not drawn: {missing}"), ALARM));
                }
                Entry { look: *look, texts }
            })
            .collect()
    }

    /// What all charts say alike, and what casts doubt on any of them.
    fn facts(&self) -> Vec<FactLine> {
        let charts = self.charts();
        let by_all = |fact: &FactLine| charts.iter().all(|chart| chart.facts.contains(fact));
        let mut facts: Vec<FactLine> = charts
            .first()
            .map(|chart| chart.facts.iter().filter(|f| by_all(f)).cloned().collect())
            .unwrap_or_default();
        // What an alarm counts, it counts in a chart.
        for fact in facts.iter_mut().filter(|fact| fact.alarm) {
            fact.text = format!("in each panel: {}", fact.text);
        }
        for chart in charts {
            let own = chart.facts.iter().filter(|f| f.alarm && !by_all(f));
            facts.extend(own.map(|fact| FactLine {
                text: format!("{}, k = {}: {}", chart.name, chart.k, fact.text),
                ..fact.clone()
            }));
        }
        facts
    }
}

/// A panel's heading: dataset and k, and whether its truth is refuted.
fn heading(chart: &Chart<'_>, width: f64, ruler: &Ruler) -> Vec<(String, Color)> {
    // No line ends inside of k.
    let text = format!("{}, k\u{a0}=\u{a0}{}", printable(&chart.name), chart.k);
    let mut lines = vec![(text, INK)];
    if chart.refuted {
        lines.push(("TRUTH REFUTED".to_owned(), ALARM));
    }
    lines
        .into_iter()
        .flat_map(|(text, color)| {
            wrap(&text, width, |t| ruler.width(t, LEGEND_EM))
                .into_iter()
                .map(move |line| (line, color))
        })
        .collect()
}
