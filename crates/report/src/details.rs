use crate::chart::Chart;
use crate::columns::{Columns, Side};
use crate::figures::{
    count, mebibytes, micros, plural, printable, rate, recall, seconds, short_hash,
};
use crate::overlay::Overlay;
use crate::point::{Point, answers_vary, distances_per_query, index_bytes};
use crate::series::Series;
use crate::summary::{WIDTH, footer, heading, searches};
use crate::wrap::wrap;
use annbench_results::{BuildRecord, SearchRecord};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

impl Overlay<'_> {
    /// The details of all charts.
    pub fn details(&self) -> String {
        let charts: Vec<String> = self.charts().iter().map(Chart::details).collect();
        if charts.is_empty() {
            return "No search records.\n".to_owned();
        }
        charts.join("\n")
    }
}

impl Chart<'_> {
    /// Every point of every series, by build, with what its record holds against it, and the
    /// facts below. Latencies are medians over repetitions; `point` is the beginning of its id.
    pub fn details(&self) -> String {
        let mut out = String::new();
        for (i, (mode, threads)) in searches(self).into_iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            out += &heading(self, mode, threads);
            let members = self
                .series
                .iter()
                .filter(|s| (s.mode, s.threads) == (mode, threads));
            for s in members {
                out.push('\n');
                indented(&s.name, 0, &mut out);
                series(s, &mut out);
            }
        }
        out += "\n* on the Pareto front of its series; service latency is closed-loop\n\n";
        footer(self, &mut out);
        out
    }
}

/// The points of one build, in the order in which builds first appear.
#[derive(Default)]
struct Group<'p, 'r> {
    order: usize,
    build: Option<&'r BuildRecord>,
    /// Whether a point searched an index that was loaded.
    loaded: bool,
    placed: Vec<&'p Point<'r>>,
    unplaced: Vec<(&'r SearchRecord, &'p str)>,
}

fn series(s: &Series<'_>, out: &mut String) {
    let mut groups: BTreeMap<String, Group<'_, '_>> = BTreeMap::new();
    let placed = s
        .points
        .iter()
        .map(|p| (p.record, p.build, p.loaded, Ok(p)));
    let unplaced = s
        .unplaced
        .iter()
        .map(|u| (u.record, u.build, u.loaded, Err(u)));
    for (record, build, loaded, point) in placed.chain(unplaced) {
        let key = format!(
            "{}\u{0}{}",
            record.identity.build.build_params,
            // An index loaded after a crash is the one that was built.
            match build {
                Some(build) => &build.build_id,
                None => record.build_id.as_deref().unwrap_or(""),
            }
        );
        let order = groups.len();
        let group = groups.entry(key).or_insert_with(|| Group {
            order,
            ..Group::default()
        });
        group.build = group.build.or(build);
        group.loaded |= loaded == Some(true);
        match point {
            Ok(point) => group.placed.push(point),
            Err(u) => group.unplaced.push((u.record, &u.why)),
        }
    }
    let mut groups: Vec<Group<'_, '_>> = groups.into_values().collect();
    groups.sort_by_key(|group| group.order);
    for group in &groups {
        self::group(group, out);
    }
}

fn group(group: &Group<'_, '_>, out: &mut String) {
    let first = group
        .placed
        .first()
        .map(|p| p.record)
        .or(group.unplaced.first().map(|(record, _)| *record));
    let Some(first) = first else { return };
    let mut title = params(&first.identity.build.build_params);
    match group.build {
        Some(build) => title += &cost(build),
        None if group.loaded => title += " · loaded; the records do not hold its build",
        None => {}
    }
    indented(&title, 2, out);
    if !group.placed.is_empty() {
        points(&group.placed, out);
    }
    for (record, why) in &group.unplaced {
        indented(
            &format!(
                "{} ({}): {why}",
                params(&record.identity.search_params),
                short_hash(&record.point_id)
            ),
            6,
            out,
        );
    }
}

fn params(params: &annbench_core::Params) -> String {
    if params.0.is_empty() {
        "(no parameters)".to_owned()
    } else {
        params.to_string()
    }
}

fn cost(build: &BuildRecord) -> String {
    let mut parts = Vec::new();
    if let Some(report) = &build.report {
        parts.push(format!(
            "built in {} s with {}",
            seconds(report.wall_ns),
            plural(build.identity.build_threads, "thread")
        ));
        parts.push(match index_bytes(build) {
            Some(bytes) => format!("index {} MiB", mebibytes(bytes)),
            None => "index memory unknown".to_owned(),
        });
    }
    parts.iter().map(|part| format!(" · {part}")).collect()
}

fn points(placed: &[&Point<'_>], out: &mut String) {
    use Side::{Left, Right};
    let mut columns = Columns::new(&[
        Left, Left, Right, Right, Right, Right, Left, Right, Right, Right, Left,
    ]);
    columns.row(["", "", "", "", "", "", "", "service", "service", "", ""]);
    columns.row([
        "",
        "search",
        "recall",
        "min",
        "p05",
        "QPS",
        "min–max",
        "p50 µs",
        "p99 µs",
        "dist./q",
        "point",
    ]);
    for p in placed {
        let dash = || "-".to_owned();
        columns.row([
            if p.on_front { "*" } else { "" }.to_owned(),
            printable(&params(p.search_params())),
            recall(p.quality.recall_mean),
            short_recall(p.quality.recall_min),
            short_recall(p.quality.recall_p05),
            rate(p.speed.qps_median),
            format!("{}–{}", rate(p.speed.qps_min), rate(p.speed.qps_max)),
            p.latency_ns(|l| l.p50_ns as f64).map_or_else(dash, micros),
            p.latency_ns(|l| l.p99_ns as f64).map_or_else(dash, micros),
            distances_per_query(p.record).map_or_else(String::new, rate),
            printable(short_hash(&p.record.point_id)),
        ]);
    }
    let lines = columns.lines(2);
    let (head, body) = lines.split_at(2);
    for line in head {
        *out += &format!("    {line}\n");
    }
    for (line, p) in body.iter().zip(placed) {
        *out += &format!("    {line}\n");
        indented(&notes(p), 9, out);
    }
}

/// A recall of one query: a multiple of 1/k, which needs no padding.
fn short_recall(value: f64) -> String {
    let text = recall(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// What a reader should know before trusting a point; empty when there is nothing.
fn notes(p: &Point<'_>) -> String {
    let q = p.quality;
    let mut notes = Vec::new();
    if p.loaded == Some(true) {
        notes.push("index loaded after a crash".to_owned());
    }
    if q.queries_where_ids_differ > 0 {
        notes.push(format!(
            "hits {}, id hits {} ({} tied)",
            count(q.hits),
            count(q.id_hits),
            count(q.queries_where_ids_differ)
        ));
    }
    for (n, word) in [
        (q.duplicates, "duplicates"),
        (q.short, "short"),
        (q.over_returned, "over-returned"),
        (q.invalid, "invalid"),
        (q.beats_truth, "beat the truth"),
    ] {
        if n > 0 {
            notes.push(format!("{} {word}", count(n)));
        }
    }
    if answers_vary(p.record) {
        let others = p.record.other_quality.values().map(|q| q.recall_mean);
        let (low, high) = others.fold((q.recall_mean, q.recall_mean), |(low, high), r| {
            (low.min(r), high.max(r))
        });
        notes.push(format!(
            "answers vary between repetitions (recall {}–{})",
            recall(low),
            recall(high)
        ));
    }
    notes.join("; ")
}

fn indented(text: &str, indent: usize, out: &mut String) {
    let text = printable(text);
    let lines = wrap(&text, (WIDTH - indent - 2) as f64, |t| t.width() as f64);
    for (i, line) in lines.iter().enumerate() {
        let hang = if i == 0 { 0 } else { 2 };
        *out += &format!("{:blank$}{line}\n", "", blank = indent + hang);
    }
}
