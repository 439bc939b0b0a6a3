//! The metrics that are not recall@k, in a table of their own.

use crate::chart::Chart;
use crate::columns::{Columns, Side};
use crate::figures::{printable, recall, short_hash};
use crate::overlay::Overlay;
use crate::series::Series;
use crate::summary::{heading, searches};
use annbench_results::OtherMetrics;

impl Overlay<'_> {
    /// The other metrics of all charts.
    pub fn metrics(&self) -> String {
        let charts: Vec<String> = self.charts().iter().map(Chart::metrics).collect();
        charts.join("\n")
    }
}

impl Chart<'_> {
    /// Every point of every series with recall@k and, beside it, the metrics that are none; `-` where a
    /// metric is not defined, or was not known to the version that scored the point.
    pub fn metrics(&self) -> String {
        let mut out = String::new();
        for (mode, threads) in searches(self) {
            out += &heading(self, mode, threads);
            out += "Other metrics: none of the columns right of the bar is recall@k.\n";
            let members = self
                .series
                .iter()
                .filter(|s| (s.mode, s.threads) == (mode, threads));
            for s in members {
                out += &format!("\n{}\n", printable(&s.name));
                table(s, self.k, &mut out);
            }
            out.push('\n');
        }
        out += "1-rec@R: the nearest row is among the first R. MRR: of the nearest row. rel. error: how much\n\
            farther than the true neighbours. ann-b., big-ann: recall as those suites compute it.\n";
        out
    }
}

fn table(series: &Series<'_>, k: u64, out: &mut String) {
    use Side::{Left, Right};
    let mut columns = Columns::new(&[
        Left, Right, Left, Right, Right, Right, Right, Right, Right, Left,
    ]);
    columns.row([
        "search".to_owned(),
        format!("recall@{k}"),
        "|".to_owned(),
        "1-rec@1".to_owned(),
        format!("1-rec@{k}"),
        format!("MRR@{k}"),
        "rel. error".to_owned(),
        "ann-b.".to_owned(),
        "big-ann".to_owned(),
        "point".to_owned(),
    ]);
    for point in &series.points {
        let other = point.record.other_metrics.as_ref();
        let figure = |of: &dyn Fn(&OtherMetrics) -> Option<f64>| {
            other.and_then(of).map_or_else(|| "-".to_owned(), recall)
        };
        let error = other.and_then(|o| o.relative_distance_error.as_ref().ok()?.mean);
        let params = format!(
            "{} {}",
            point.record.identity.build.build_params,
            point.search_params()
        );
        columns.row([
            printable(params.trim()),
            recall(point.quality.recall_mean),
            "|".to_owned(),
            figure(&|o| one_recall(o, 1)),
            figure(&|o| one_recall_at_k(o)),
            figure(&|o| Some(o.mrr)),
            error.map_or_else(|| "-".to_owned(), |error| format!("{error:.2e}")),
            figure(&|o| Some(o.ann_benchmarks_recall.as_ref().ok()?.recall)),
            figure(&|o| Some(o.big_ann_recall.recall)),
            printable(short_hash(&point.record.point_id)),
        ]);
    }
    for line in columns.lines(2) {
        *out += &format!("  {line}\n");
    }
}

fn one_recall(other: &OtherMetrics, r: u64) -> Option<f64> {
    let found = other.one_recall_at_r.iter().find(|found| found.r == r)?;
    Some(found.recall)
}

/// 1-recall@k is k-recall@n at 1.
fn one_recall_at_k(other: &OtherMetrics) -> Option<f64> {
    let found = other.k_recall_at_n.iter().find(|found| found.k == 1)?;
    Some(found.recall)
}
