use crate::axis::Axis;
use crate::chart::Chart;
use crate::curve::{Curve, Selection};
use crate::figures::plural;
use crate::kind::PlotKind;
use crate::overlay::Overlay;
use crate::ticks::Tick;
use crate::wrap::wrap;
use unicode_width::UnicodeWidthStr;

/// Rows of the plotted area.
const ROWS: usize = 20;
/// The narrowest plot that can be read.
const NARROWEST: usize = 40;
const KIND: PlotKind = PlotKind::RecallQps;
/// A cell where the fronts of several series meet.
const FRONTS_MEET: char = '*';
/// A cell where only dominated points of several series meet.
const DOMINATED_MEET: char = ':';
/// Series beyond the letters.
const NO_LETTER: char = '#';

impl Overlay<'_> {
    /// The text plots of all charts; see [`Chart::text_plot`].
    pub fn text_plots(&self, width: usize) -> String {
        let plots: Vec<String> = self.charts().iter().map(|c| c.text_plot(width)).collect();
        plots.join("\n")
    }
}

impl Chart<'_> {
    /// The Pareto plot as lines of at most `width` terminal columns, and at least 40: the same
    /// axes, a letter per series, capital on its front and small where dominated. Plain text: no
    /// escape codes, no colour.
    pub fn text_plot(&self, width: usize) -> String {
        let width = width.max(NARROWEST);
        let mut out = String::new();
        let say = |out: &mut String, text: &str, indent| fold(out, text, indent, width);
        say(&mut out, &self.title(KIND), 0);
        if self.refuted {
            say(
                &mut out,
                "TRUTH REFUTED: the recalls below rest on a wrong ground truth.",
                0,
            );
        }
        let curves: Vec<Curve> = self
            .series
            .iter()
            .map(|series| Curve::new(series, KIND.axes(), Selection::EveryPoint))
            .collect();
        out.push('\n');
        out += &drawing(&curves, self.slots(), width);
        say(
            &mut out,
            &format!(
                "y: queries per second; x: recall@{}, spaced by −ln(1 − recall)",
                self.k
            ),
            0,
        );
        for (i, (series, curve)) in self.series.iter().zip(&curves).enumerate() {
            let missing = series.counts.missing();
            say(
                &mut out,
                &format!(
                    "{}  {}: {}, {} on the front{}",
                    letter(i),
                    series.label,
                    plural(series.counts.ok, "point"),
                    curve.front().len(),
                    missing.map_or_else(String::new, |m| format!("; not drawn: {m}"))
                ),
                3,
            );
        }
        say(
            &mut out,
            "Capitals: Pareto front of each series; small letters: dominated by it. Where several \
             series meet: * fronts, : dominated points.",
            0,
        );
        out
    }
}

/// Appends `text`, wrapped to `width`, with all lines but the first indented.
fn fold(out: &mut String, text: &str, indent: usize, width: usize) {
    let lines = wrap(text, (width - indent) as f64, |t| t.width() as f64);
    for (i, line) in lines.iter().enumerate() {
        let indent = if i == 0 { 0 } else { indent };
        *out += &format!("{:indent$}{line}\n", "");
    }
}

/// The capital of the series at `i`, the same sign for all beyond the alphabet.
fn letter(i: usize) -> char {
    match u8::try_from(i) {
        Ok(i @ 0..26) => char::from(b'A' + i),
        _ => NO_LETTER,
    }
}

/// What stands in a cell.
#[derive(Clone, Copy, Default)]
struct Cell {
    front: Option<char>,
    dominated: Option<char>,
}

impl Cell {
    fn sign(self) -> char {
        self.front.or(self.dominated).unwrap_or(' ')
    }
}

fn meet(cell: &mut Option<char>, sign: char, several: char) {
    *cell = match *cell {
        Some(other) if other != sign => Some(several),
        _ => Some(sign),
    };
}

/// The plotted area with its frame and tick labels.
fn drawing(curves: &[Curve], slots: f64, width: usize) -> String {
    let drawn = || curves.iter().flat_map(|curve| &curve.drawn);
    let xs: Vec<f64> = drawn().map(|d| d.x).collect();
    let ys: Vec<f64> = drawn().map(|d| d.y.value).collect();
    if xs.is_empty() {
        return format!("  {}\n\n", KIND.nothing());
    }
    let (x, y) = KIND.axes();
    let y = Axis::new(y, &ys, slots, 0.02).over((ROWS - 1) as f64, 0.0);
    let mut labels = vec![String::new(); ROWS];
    // A label needs a row of its own; decades come first.
    let mut ticks = y.ticks(1.0);
    ticks.sort_by_key(|tick| tick.rank);
    for tick in ticks {
        let label = &mut labels[place(tick.at, ROWS)];
        if label.is_empty() {
            *label = tick.label;
        }
    }
    let margin = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let columns = width - margin - 2;
    let x = Axis::new(x, &xs, slots, 0.02).over(0.0, (columns - 1) as f64);
    let mut cells = vec![vec![Cell::default(); columns]; ROWS];
    for (i, curve) in curves.iter().enumerate() {
        let capital = letter(i);
        for d in &curve.drawn {
            let cell = &mut cells[place(y.at(d.y.value), ROWS)][place(x.at(d.x), columns)];
            if d.on_front {
                meet(&mut cell.front, capital, FRONTS_MEET);
            } else {
                let small = capital.to_ascii_lowercase();
                meet(&mut cell.dominated, small, DOMINATED_MEET);
            }
        }
    }
    let mut out = String::new();
    for (row, label) in cells.iter().zip(&labels) {
        let edge = if label.is_empty() { '│' } else { '┤' };
        let signs: String = row.iter().map(|cell| cell.sign()).collect();
        out += &format!("{label:>margin$} {edge}{}", signs.trim_end());
        out.push('\n');
    }
    let (edge, labels) = x_edge(x.ticks(6.0), columns);
    out += &format!("{:margin$} └{edge}\n", "");
    out += format!("{:margin$}  {labels}", "").trim_end();
    out.push('\n');
    out
}

/// The row or column of a place on an axis that `cells` cells are laid along.
fn place(at: f64, cells: usize) -> usize {
    // The cast saturates; a place is within the axis but for rounding.
    (at.round() as usize).min(cells - 1)
}

/// The lower edge with its ticks, and the labels below it: by rank, each only where it leaves a
/// blank to its neighbours.
fn x_edge(mut ticks: Vec<Tick>, columns: usize) -> (String, String) {
    ticks.sort_by_key(|tick| tick.rank);
    let mut edge = vec!['─'; columns];
    let mut line = vec![' '; columns];
    for tick in ticks {
        let at = place(tick.at, columns);
        let size = tick.label.chars().count();
        let start = at
            .saturating_sub(size / 2)
            .min(columns.saturating_sub(size));
        let around = start.saturating_sub(1)..(start + size + 1).min(columns);
        if size > columns || line[around].iter().any(|&c| c != ' ') {
            continue;
        }
        edge[at] = '┬';
        for (cell, c) in line[start..].iter_mut().zip(tick.label.chars()) {
            *cell = c;
        }
    }
    (edge.into_iter().collect(), line.into_iter().collect())
}
