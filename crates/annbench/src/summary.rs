//! A report as programs read it.

use annbench_core::{Mode, Params};
use annbench_report::{Chart, Counts, Overlay, Point, Series, TARGETS};
use annbench_results::{BuildRecord, DatasetInfo, OtherMetrics, SearchRecord};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All charts, and the files that were written.
#[derive(Debug, Serialize)]
pub struct Summary<'r> {
    charts: Vec<ChartSummary<'r>>,
    files: &'r [PathBuf],
}

#[derive(Debug, Serialize)]
struct ChartSummary<'r> {
    dataset: &'r DatasetInfo,
    k: u64,
    truth_refuted: bool,
    series: Vec<SeriesSummary<'r>>,
    facts: Vec<Fact<'r>>,
}

#[derive(Debug, Serialize)]
struct Fact<'r> {
    label: &'r str,
    text: &'r str,
    /// Whether it casts doubt on the figures.
    alarm: bool,
}

#[derive(Debug, Serialize)]
struct SeriesSummary<'r> {
    label: &'r str,
    adapter: &'r str,
    mode: Mode,
    threads: u64,
    run: &'r str,
    /// Per target the fastest measured point that reaches it, or none.
    at_recall: Vec<AtRecall<'r>>,
    best_recall: Option<f64>,
    counts: CountsSummary<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<PointSummary<'r>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unplaced: Option<Vec<UnplacedSummary<'r>>>,
}

#[derive(Debug, Serialize)]
struct AtRecall<'r> {
    recall: f64,
    point: Option<PointSummary<'r>>,
}

#[derive(Debug, Serialize)]
struct CountsSummary<'r> {
    ok: u64,
    /// By cause.
    failed: &'r BTreeMap<&'static str, u64>,
    rejected: u64,
    skipped: u64,
    unusable: u64,
}

#[derive(Debug, Serialize)]
struct PointSummary<'r> {
    point_id: &'r str,
    build_id: Option<&'r str>,
    group: &'r str,
    build_params: &'r Params,
    search_params: &'r Params,
    on_front: bool,
    hits: u64,
    id_hits: u64,
    recall_mean: f64,
    recall_min: f64,
    recall_p05: f64,
    qps_median: f64,
    qps_min: f64,
    qps_max: f64,
    /// Not recall@k; where they were asked for and are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_metrics: Option<&'r OtherMetrics>,
    build: Option<BuildSummary>,
}

#[derive(Debug, Serialize)]
struct BuildSummary {
    wall_ns: Option<u64>,
    private_growth_bytes: Option<i64>,
    borrowed_base_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct UnplacedSummary<'r> {
    point_id: &'r str,
    group: &'r str,
    build_params: &'r Params,
    search_params: &'r Params,
    /// The outcome's word and why.
    reason: &'r str,
}

/// What is told besides the table.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Each point.
    pub points: bool,
    /// Metrics of a point that are not recall@k.
    pub metrics: bool,
}

impl<'r> Summary<'r> {
    /// What `overlay` tells.
    pub fn new(overlay: &'r Overlay<'r>, files: &'r [PathBuf], told: Told) -> Self {
        let charts = overlay.charts().iter();
        Self {
            charts: charts.map(|chart| ChartSummary::new(chart, told)).collect(),
            files,
        }
    }
}

impl<'r> ChartSummary<'r> {
    fn new(chart: &'r Chart<'r>, told: Told) -> Self {
        let series = chart.series.iter();
        let facts = chart.facts.iter().map(|fact| Fact {
            label: fact.label,
            text: &fact.text,
            alarm: fact.alarm,
        });
        Self {
            dataset: chart.dataset,
            k: chart.k,
            truth_refuted: chart.refuted,
            series: series
                .map(|series| SeriesSummary::new(series, told))
                .collect(),
            facts: facts.collect(),
        }
    }
}

impl<'r> SeriesSummary<'r> {
    fn new(series: &'r Series<'r>, told: Told) -> Self {
        let summary = |point: &Point<'r>| PointSummary::new(point, told.metrics);
        let at_recall = TARGETS.map(|recall| AtRecall {
            recall,
            point: series.fastest_at(recall).map(summary),
        });
        let unplaced = series.unplaced.iter().map(|unplaced| {
            let SearchRecord {
                point_id,
                group,
                identity,
                ..
            } = unplaced.record;
            UnplacedSummary {
                point_id,
                group,
                build_params: &identity.build.build_params,
                search_params: &identity.search_params,
                reason: &unplaced.why,
            }
        });
        Self {
            label: &series.label,
            adapter: series.adapter,
            mode: series.mode,
            threads: series.threads,
            run: &series.run,
            at_recall: at_recall.into(),
            best_recall: series.best_recall(),
            counts: CountsSummary::new(&series.counts),
            points: told
                .points
                .then(|| series.points.iter().map(summary).collect()),
            unplaced: told.points.then(|| unplaced.collect()),
        }
    }
}

impl<'r> CountsSummary<'r> {
    fn new(counts: &'r Counts) -> Self {
        Self {
            ok: counts.ok,
            failed: &counts.failed,
            rejected: counts.rejected,
            skipped: counts.skipped_total(),
            unusable: counts.unusable,
        }
    }
}

impl<'r> PointSummary<'r> {
    fn new(point: &Point<'r>, metrics: bool) -> Self {
        let SearchRecord {
            point_id,
            build_id,
            group,
            identity,
            ..
        } = point.record;
        let (quality, speed) = (point.quality, point.speed);
        Self {
            point_id,
            build_id: build_id.as_deref(),
            group,
            build_params: &identity.build.build_params,
            search_params: &identity.search_params,
            on_front: point.on_front,
            hits: quality.hits,
            id_hits: quality.id_hits,
            recall_mean: quality.recall_mean,
            recall_min: quality.recall_min,
            recall_p05: quality.recall_p05,
            qps_median: speed.qps_median,
            qps_min: speed.qps_min,
            qps_max: speed.qps_max,
            other_metrics: point.record.other_metrics.as_ref().filter(|_| metrics),
            build: point.build.map(BuildSummary::new),
        }
    }
}

impl BuildSummary {
    fn new(build: &BuildRecord) -> Self {
        let report = build.report.as_ref();
        Self {
            wall_ns: report.map(|report| report.wall_ns),
            private_growth_bytes: report.and_then(|report| report.private_growth_bytes),
            borrowed_base_bytes: report.map(|report| report.borrowed_base_bytes),
        }
    }
}
