use crate::chart::Chart;
use crate::columns::{Columns, Side};
use crate::figures::{mebibytes, micros, plural, rate, recall, seconds};
use crate::footnotes::Footnotes;
use crate::overlay::Overlay;
use crate::point::index_bytes;
use crate::series::Series;
use crate::wrap::wrap;
use annbench_core::Mode;
use annbench_results::SkipCause;
use unicode_width::UnicodeWidthStr;

/// Terminal columns that text is fitted to.
pub(crate) const WIDTH: usize = 100;
/// The recalls at which QPS is tabulated and plotted against build time.
pub const TARGETS: [f64; 3] = annbench_results::BARS;
/// The one at which the chosen point's costs are told.
pub(crate) const COST_TARGET: f64 = 0.95;
/// A series label longer than this stands on a line of its own; one longer than [`WIDTH`] stands whole
/// below the table.
const LABEL_WIDTH: usize = 28;

impl Overlay<'_> {
    /// The summaries of all charts.
    pub fn summary(&self) -> String {
        let charts: Vec<String> = self.charts().iter().map(Chart::summary).collect();
        if charts.is_empty() {
            return "No search records.\n".to_owned();
        }
        charts.join("\n")
    }
}

impl Chart<'_> {
    /// A table per mode and thread count with a row per series, and the facts below.
    ///
    /// QPS at a recall is that of the fastest *measured* point that reaches it, `-` when none
    /// does, `skipped` when the points that might were left out. Build time, index memory and service latency p99 (closed loop) are those of the point
    /// chosen at recall 0.95.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        for (i, (mode, threads)) in searches(self).into_iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            out += &heading(self, mode, threads);
            out.push('\n');
            table(self, mode, threads, &mut out);
        }
        out.push('\n');
        footer(self, &mut out);
        out
    }
}

/// The modes and thread counts of the chart, in order.
pub(crate) fn searches(chart: &Chart<'_>) -> Vec<(Mode, u64)> {
    let mut searches: Vec<(Mode, u64)> = chart.series.iter().map(|s| (s.mode, s.threads)).collect();
    searches.sort_unstable();
    searches.dedup();
    searches
}

/// `dataset, recall@k, single, 1 thread`, underlined, with the warning that truth is refuted.
pub(crate) fn heading(chart: &Chart<'_>, mode: Mode, threads: u64) -> String {
    let title = format!(
        "{} · recall@{} · {mode}, {}",
        chart.name,
        chart.k,
        plural(threads, "thread")
    );
    let mut out = format!("{title}\n{}\n", "─".repeat(title.width()));
    if chart.refuted {
        out += "TRUTH REFUTED: the recalls below rest on a wrong ground truth.\n";
    }
    out
}

fn table(chart: &Chart<'_>, mode: Mode, threads: u64, out: &mut String) {
    use Side::{Left, Right};
    let mut columns = Columns::new(&[Left, Right, Right, Right, Right, Right, Right, Right, Right]);
    columns.row([
        "",
        "QPS at",
        "QPS at",
        "QPS at",
        "best",
        "build",
        "index",
        "service",
        "ok/failed",
    ]);
    columns.row([
        "series",
        "≥ 0.90",
        "≥ 0.95",
        "≥ 0.99",
        "recall",
        "s",
        "MiB",
        "p99 µs",
        "/rej./skip.",
    ]);
    let series: Vec<&Series<'_>> = chart
        .series
        .iter()
        .filter(|s| (s.mode, s.threads) == (mode, threads))
        .collect();
    for s in &series {
        columns.row(cells(s));
    }
    let lines = columns.lines(2);
    let (head, body) = lines.split_at(2);
    for line in head {
        *out += &format!("{line}\n");
    }
    let mut notes = Footnotes::new();
    for (line, s) in body.iter().zip(&series) {
        if s.name.width() > LABEL_WIDTH {
            *out += &format!("{}\n", notes.fit(&s.name, WIDTH));
        }
        *out += &format!("{line}\n");
        if let Some(missing) = s.counts.missing() {
            *out += &format!("  {missing}\n");
        }
    }
    *out += "QPS: fastest measured point that reaches the recall. Build, index, service p99: of the point at\n\
        ≥ 0.95; service latency is closed-loop, without waiting under load.\n";
    if series.iter().any(|s| falls_short(s)) {
        *out += "*: of the point of the highest recall, for none reaches 0.95.\n";
    }
    *out += &notes.to_string();
}

/// Whether something was measured and nothing reaches the recall at which costs are told.
fn falls_short(s: &Series<'_>) -> bool {
    s.best().is_some() && s.fastest_at(COST_TARGET).is_none()
}

fn cells(s: &Series<'_>) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut cells = vec![if s.name.width() > LABEL_WIDTH {
        String::new()
    } else {
        s.name.clone()
    }];
    // What was left out on purpose was not found wanting.
    let left_out = s.counts.skipped.contains_key(&SkipCause::Recall);
    cells.extend(TARGETS.iter().map(|&target| match s.fastest_at(target) {
        Some(point) => rate(point.speed.qps_median),
        None if left_out => "skipped".to_owned(),
        None => dash(),
    }));
    cells.push(s.best_recall().map_or_else(dash, recall));
    // What a library that reaches less costs is no secret either.
    let mark = if falls_short(s) { "*" } else { "" };
    let chosen = s.fastest_at(COST_TARGET).or_else(|| s.best());
    let build = chosen.and_then(|p| p.build);
    let cost = |figure: Option<String>| figure.map_or_else(dash, |f| format!("{f}{mark}"));
    let report = build.and_then(|b| b.report.as_ref());
    cells.push(cost(report.map(|r| seconds(r.wall_ns))));
    cells.push(cost(build.and_then(index_bytes).map(mebibytes)));
    let p99 = chosen.and_then(|p| p.latency_ns(|l| l.p99_ns as f64));
    cells.push(cost(p99.map(micros)));
    let c = &s.counts;
    cells.push(format!(
        "{}/{}/{}/{}",
        c.ok,
        c.failed_total(),
        c.rejected,
        c.skipped_total()
    ));
    cells
}

/// The facts, wrapped under their labels.
pub(crate) fn footer(chart: &Chart<'_>, out: &mut String) {
    let label_width = chart
        .facts
        .iter()
        .map(|fact| fact.label.width())
        .max()
        .unwrap_or(0);
    for fact in &chart.facts {
        let mark = if fact.alarm { "! " } else { "" };
        // A command is for copying: it stays on one line.
        let width = match fact.label {
            "reproduce" => usize::MAX,
            _ => WIDTH - label_width - 2,
        };
        let lines = wrap(&format!("{mark}{}", fact.text), width as f64, |t| {
            t.width() as f64
        });
        for (i, line) in lines.iter().enumerate() {
            let label = if i == 0 { fact.label } else { "" };
            *out += &format!("{label:label_width$}  {line}\n");
        }
    }
}
