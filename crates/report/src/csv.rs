use crate::overlay::{Overlay, Row};
use crate::point::{Point, answers_vary, distances_per_query, index_bytes, median_latency};
use annbench_core::Params;
use annbench_results::{
    AntiHubQuality, BaseResidence, Latency, OtherMetrics, Outcome, RelevanceQuality, StrataQuality,
    TruthOrigin, robustness,
};

/// A column: its name, with the unit where there is one, and how its value is read.
type Column = (&'static str, fn(&str, &Row<'_>) -> String);

/// The columns, in an order that only ever grows at its end.
const COLUMNS: &[Column] = &[
    ("run", |run, _| run.to_owned()),
    ("run_id", |_, r| r.record.run_id.clone()),
    ("point_id", |_, r| r.record.point_id.clone()),
    ("build_id", |_, r| {
        r.record.build_id.clone().unwrap_or_default()
    }),
    ("superseded", |_, r| r.superseded.to_string()),
    ("dataset", |_, r| r.record.dataset.name.clone()),
    ("base_fingerprint", |_, r| {
        r.record.dataset.base_fingerprint.clone()
    }),
    ("queries_fingerprint", |_, r| {
        r.record.dataset.queries_fingerprint.clone()
    }),
    ("metric", |_, r| r.record.dataset.metric.to_string()),
    ("element", |_, r| r.record.dataset.element.to_string()),
    ("n", |_, r| r.record.dataset.n.to_string()),
    ("queries", |_, r| r.record.dataset.queries.to_string()),
    ("dim", |_, r| r.record.dataset.dim.to_string()),
    ("adapter", |_, r| r.record.identity.build.adapter.clone()),
    ("library", |_, r| r.record.library.clone()),
    ("library_version", |_, r| {
        r.record.identity.build.library_version.clone()
    }),
    ("executable_sha256", |_, r| {
        r.record.identity.build.executable_sha256.clone()
    }),
    ("group", |_, r| r.record.group.clone()),
    ("build_params", |_, r| {
        r.record.identity.build.build_params.to_string()
    }),
    ("build_params_json", |_, r| {
        json(&r.record.identity.build.build_params)
    }),
    ("search_params", |_, r| {
        r.record.identity.search_params.to_string()
    }),
    ("search_params_json", |_, r| {
        json(&r.record.identity.search_params)
    }),
    ("k", |_, r| r.record.identity.k.to_string()),
    ("mode", |_, r| r.record.identity.mode.to_string()),
    ("threads", |_, r| r.record.identity.threads.to_string()),
    ("build_threads", |_, r| {
        r.record.identity.build.build_threads.to_string()
    }),
    ("seed", |_, r| r.record.identity.build.seed.to_string()),
    ("element_given", |_, r| {
        r.record.identity.build.element_given.to_string()
    }),
    ("base_residence", |_, r| {
        match r.record.identity.build.base_residence {
            BaseResidence::Copied => "copied",
            BaseResidence::Mapped => "mapped",
        }
        .to_owned()
    }),
    ("repetitions", |_, r| {
        r.record.identity.repetitions.to_string()
    }),
    ("min_pass_ns", |_, r| {
        r.record.identity.min_pass_ns.to_string()
    }),
    ("warm_up_ns", |_, r| {
        r.record.identity.warm_up_ns.to_string()
    }),
    ("machine_cpu_model", |_, r| {
        r.record.identity.build.machine.cpu_model.clone()
    }),
    ("machine_cpus", |_, r| {
        r.record.identity.build.machine.cpus.to_string()
    }),
    ("machine_memory_bytes", |_, r| {
        r.record.identity.build.machine.memory_bytes.to_string()
    }),
    ("outcome", |_, r| r.record.outcome.word().to_owned()),
    ("failed_stage", |_, r| match &r.record.outcome {
        Outcome::Failed(failure) => failure.stage.to_string(),
        _ => String::new(),
    }),
    ("failure_cause", |_, r| match &r.record.outcome {
        Outcome::Failed(failure) => failure.cause.word().to_owned(),
        _ => String::new(),
    }),
    ("message", |_, r| match &r.record.outcome {
        Outcome::Ok => String::new(),
        Outcome::Rejected { reason } => reason.clone(),
        Outcome::Failed(failure) => failure.message.clone(),
        Outcome::Skipped { because, .. } => because.clone(),
    }),
    ("not_plotted_because", |_, r| {
        if r.superseded {
            return "superseded by a later record of the point".to_owned();
        }
        Point::new(0, r).err().unwrap_or_default()
    }),
    ("on_front", |_, r| r.on_front.to_string()),
    ("truth_origin", |_, r| {
        r.record.truth.as_ref().map_or_else(String::new, |truth| {
            match truth.origin {
                TruthOrigin::Shipped => "shipped",
                TruthOrigin::Computed => "computed",
            }
            .to_owned()
        })
    }),
    ("truth_fingerprint", |_, r| {
        r.record
            .truth
            .as_ref()
            .map_or_else(String::new, |truth| truth.fingerprint.clone())
    }),
    ("truth_refuted", |_, r| match &r.record.truth {
        Some(_) => r.refuted.to_string(),
        None => String::new(),
    }),
    ("scored_queries", |_, r| {
        quality(r, |q| q.scored_queries.to_string())
    }),
    ("undefined_queries", |_, r| {
        quality(r, |q| q.undefined_queries.to_string())
    }),
    ("hits", |_, r| quality(r, |q| q.hits.to_string())),
    ("id_hits", |_, r| quality(r, |q| q.id_hits.to_string())),
    ("queries_where_ids_differ", |_, r| {
        quality(r, |q| q.queries_where_ids_differ.to_string())
    }),
    ("duplicates", |_, r| {
        quality(r, |q| q.duplicates.to_string())
    }),
    ("short", |_, r| quality(r, |q| q.short.to_string())),
    ("over_returned", |_, r| {
        quality(r, |q| q.over_returned.to_string())
    }),
    ("invalid", |_, r| quality(r, |q| q.invalid.to_string())),
    ("beats_truth", |_, r| {
        quality(r, |q| q.beats_truth.to_string())
    }),
    ("queries_using_tolerance", |_, r| {
        quality(r, |q| q.queries_using_tolerance.to_string())
    }),
    ("recall_mean", |_, r| {
        quality(r, |q| q.recall_mean.to_string())
    }),
    ("recall_min", |_, r| {
        quality(r, |q| q.recall_min.to_string())
    }),
    ("recall_p05", |_, r| {
        quality(r, |q| q.recall_p05.to_string())
    }),
    ("perfect_share", |_, r| {
        quality(r, |q| q.perfect_share.to_string())
    }),
    ("anti_hub_pairs", |_, r| {
        anti_hub(r, |a| a.pairs.to_string())
    }),
    ("anti_hub_pairs_found", |_, r| {
        anti_hub(r, |a| a.pairs_found.to_string())
    }),
    ("anti_hub_recall_pairs", |_, r| {
        anti_hub(r, |a| {
            a.recall_pairs.map_or_else(String::new, |v| v.to_string())
        })
    }),
    ("anti_hub_recall_q", |_, r| {
        anti_hub(r, |a| {
            a.recall_q.map_or_else(String::new, |v| v.to_string())
        })
    }),
    ("min_over_strata", |_, r| {
        let strata = r.record.strata.as_ref();
        let bars = strata.iter().flat_map(|strata| &strata.bars);
        let bars: Vec<String> = bars
            .map(|bar| format!("{} {}", bar.recall, bar.outcome.word()))
            .collect();
        bars.join("; ")
    }),
    ("strata_abstained", |_, r| {
        let strata = r.record.strata.as_ref();
        let mut told = strata.iter().flat_map(|strata| &strata.bars);
        let Some(strata) = told.find_map(|bar| bar.strata.as_ref()) else {
            return String::new();
        };
        let abstained: Vec<&str> = strata.abstained.iter().map(|s| s.words()).collect();
        abstained.join("; ")
    }),
    ("answers_vary", |_, r| match &r.record.measured {
        Some(_) => answers_vary(r.record).to_string(),
        None => String::new(),
    }),
    ("qps_median", |_, r| speed(r, |s| s.qps_median.to_string())),
    ("qps_min", |_, r| speed(r, |s| s.qps_min.to_string())),
    ("qps_max", |_, r| speed(r, |s| s.qps_max.to_string())),
    ("service_latency_mean_ns", |_, r| latency(r, |l| l.mean_ns)),
    ("service_latency_p50_ns", |_, r| {
        latency(r, |l| l.p50_ns as f64)
    }),
    ("service_latency_p95_ns", |_, r| {
        latency(r, |l| l.p95_ns as f64)
    }),
    ("service_latency_p99_ns", |_, r| {
        latency(r, |l| l.p99_ns as f64)
    }),
    ("service_latency_p999_ns", |_, r| {
        latency(r, |l| l.p999_ns as f64)
    }),
    ("service_latency_max_ns", |_, r| {
        latency(r, |l| l.max_ns as f64)
    }),
    ("distance_computations_per_query", |_, r| {
        distances_per_query(r.record).map_or_else(String::new, |d| d.to_string())
    }),
    ("build_wall_ns", |_, r| {
        let report = r.build.and_then(|b| b.report.as_ref());
        report.map_or_else(String::new, |report| report.wall_ns.to_string())
    }),
    ("index_bytes", |_, r| {
        r.build
            .and_then(index_bytes)
            .map_or_else(String::new, |bytes| bytes.to_string())
    }),
    ("accepted_checksums", |_, r| {
        r.record.accepted_checksums.join("; ")
    }),
    ("accepted_violations", |_, r| {
        r.record.accepted_violations.join("; ")
    }),
    ("index_loaded", |_, r| {
        r.loaded
            .map_or_else(String::new, |loaded| loaded.to_string())
    }),
    ("robustness_0.90", |_, r| robust(r, 0.90)),
    ("robustness_0.95", |_, r| robust(r, 0.95)),
    ("robustness_0.99", |_, r| robust(r, 0.99)),
    ("recall_easy_third", |_, r| third(r, 0)),
    ("recall_middle_third", |_, r| third(r, 1)),
    ("recall_hard_third", |_, r| third(r, 2)),
    ("id_recall_by_count", |_, r| by_count(r)),
    ("1_recall_at_1", |_, r| one_recall(r, 1)),
    ("1_recall_at_10", |_, r| one_recall(r, 10)),
    ("1_recall_at_100", |_, r| one_recall(r, 100)),
    ("1_recall_at_k", |_, r| k_recall(r, 1)),
    ("10_recall_at_k", |_, r| k_recall(r, 10)),
    ("100_recall_at_k", |_, r| k_recall(r, 100)),
    ("mrr_of_nearest", |_, r| other(r, |o| Some(o.mrr))),
    ("relative_distance_error", |_, r| {
        other(r, |o| o.relative_distance_error.as_ref().ok()?.mean)
    }),
    ("ann_benchmarks_recall", |_, r| {
        other(r, |o| Some(o.ann_benchmarks_recall.as_ref().ok()?.recall))
    }),
    ("big_ann_recall", |_, r| {
        other(r, |o| Some(o.big_ann_recall.recall))
    }),
    ("qrels_ndcg_at_k", |_, r| qrels(r, |q| q.ndcg)),
    ("qrels_mrr_at_k", |_, r| qrels(r, |q| q.mrr)),
    ("qrels_recall_at_k", |_, r| qrels(r, |q| q.recall)),
];

fn other(row: &Row<'_>, figure: impl Fn(&OtherMetrics) -> Option<f64>) -> String {
    let figure = row.record.other_metrics.as_ref().and_then(figure);
    figure.map_or_else(String::new, |figure| figure.to_string())
}

fn one_recall(row: &Row<'_>, r: u64) -> String {
    other(row, |o| {
        let found = o.one_recall_at_r.iter().find(|found| found.r == r);
        found.map(|found| found.recall)
    })
}

fn k_recall(row: &Row<'_>, k: u64) -> String {
    other(row, |o| {
        let found = o.k_recall_at_n.iter().find(|found| found.k == k);
        found.map(|found| found.recall)
    })
}

fn qrels(row: &Row<'_>, figure: impl Fn(&RelevanceQuality) -> Option<f64>) -> String {
    other(row, |o| o.qrels.as_ref().and_then(&figure))
}

fn strata(row: &Row<'_>, figure: impl Fn(&StrataQuality) -> Option<String>) -> String {
    let strata = row.record.strata.as_ref();
    strata.and_then(figure).unwrap_or_default()
}

fn robust(row: &Row<'_>, delta: f64) -> String {
    strata(row, |s| {
        robustness(&s.queries_by_hits, delta).map(|share| share.to_string())
    })
}

fn third(row: &Row<'_>, number: usize) -> String {
    strata(row, |s| {
        let third = s.difficulty.as_ref().ok()?.thirds.get(number)?;
        third.recall.map(|recall| recall.to_string())
    })
}

/// `0-2 0.71; 3-5 0.93`: counts of a bucket and the share of its pairs that were found.
fn by_count(row: &Row<'_>) -> String {
    strata(row, |s| {
        let buckets = s.hubness.as_ref().ok()?.by_count.iter();
        let buckets: Vec<String> = buckets
            .map(|b| format!("{}-{} {}", b.from, b.to, b.found as f64 / b.pairs as f64))
            .collect();
        Some(buckets.join("; "))
    })
}

fn anti_hub(row: &Row<'_>, figure: impl Fn(&AntiHubQuality) -> String) -> String {
    let hubness = row.record.strata.as_ref().map(|strata| &strata.hubness);
    match hubness {
        Some(Ok(hubness)) => figure(&hubness.anti_hub),
        _ => String::new(),
    }
}

fn json(params: &Params) -> String {
    // Text keys and plain values always serialise.
    serde_json::to_string(params).unwrap_or_default()
}

fn quality(row: &Row<'_>, value: impl Fn(&annbench_results::Quality) -> String) -> String {
    row.record.quality.as_ref().map_or_else(String::new, value)
}

fn speed(row: &Row<'_>, value: impl Fn(&annbench_results::Speed) -> String) -> String {
    row.record.speed.as_ref().map_or_else(String::new, value)
}

fn latency(row: &Row<'_>, figure: impl Fn(&Latency) -> f64) -> String {
    let speed = row.record.speed.as_ref();
    speed
        .and_then(|speed| median_latency(speed, figure))
        .map_or_else(String::new, |ns| ns.to_string())
}

impl Overlay<'_> {
    /// One row per search record of every outcome, superseded ones included, in the order of the
    /// runs; RFC 4180 with a header. Absent values are empty; latencies are medians over
    /// repetitions. Build time and index memory are those of building, also where the index was
    /// loaded after a crash (`index_loaded`); floats are written so that they read back as the same value.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
        for row in &self.rows {
            let run = &self.runs[row.run];
            push_row(&mut out, COLUMNS.iter().map(|(_, value)| value(run, row)));
        }
        out
    }
}

fn push_row(out: &mut String, fields: impl Iterator<Item = String>) {
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            out.push('"');
            *out += &field.replace('"', "\"\"");
            out.push('"');
        } else {
            *out += &field;
        }
    }
    out.push_str("\r\n");
}
