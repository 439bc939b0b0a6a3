use crate::args::ExplainArgs;
use crate::known::{Asked, Known};
use crate::places::Places;
use crate::progress::outcome_text;
use crate::{Answer, json};
use annbench_core::wire::Repetition;
use annbench_results::{
    BuildRecord, Latency, Outcome, Quality, Record, RunRecord, RunRecords, SaveOutcome,
    SearchRecord, check_raw, check_record,
};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// `annbench explain POINT [DIR...]`
pub fn explain(args: &ExplainArgs) -> anyhow::Result<Answer> {
    let dirs = match args.runs.is_empty() {
        true => Places::runs()?,
        false => args.runs.clone(),
    };
    let runs = dirs
        .iter()
        .map(|dir| RunRecords::open(dir))
        .collect::<Result<Vec<_>, _>>()?;
    let asked = Asked::find(&runs, &args.point)?;
    let known = runs.iter().filter_map(|run| Known::gather(run, &asked));
    let found: Vec<Found<'_>> = known.map(Found::new).collect();
    let good = found.iter().all(|found| found.doubts().next().is_none());
    let text = if args.form.json {
        json::document(&Document {
            runs: found.iter().map(Found::document).collect(),
        })?
    } else {
        text(&asked, &found)
    };
    Ok(Answer { text, good })
}

/// What is known, and what speaks against it.
struct Found<'r> {
    known: Known<'r>,
    /// Why the raw files of each search are not those that were measured.
    raw: Vec<Option<String>>,
    contradictions: Vec<String>,
}

#[derive(Serialize)]
struct Document<'r> {
    runs: Vec<FoundDocument<'r>>,
}

#[derive(Serialize)]
struct FoundDocument<'r> {
    dir: &'r Path,
    searches: Vec<Search<'r>>,
    builds: &'r [&'r BuildRecord],
    runs: &'r [&'r RunRecord],
    contradictions: &'r [String],
}

#[derive(Serialize)]
struct Search<'r> {
    #[serde(flatten)]
    record: &'r SearchRecord,
    /// Absent where the raw files are those that were measured, or nothing was.
    raw_files_lost: Option<&'r str>,
}

impl<'r> Found<'r> {
    fn new(known: Known<'r>) -> Self {
        let mut raw: Vec<Option<String>> = Vec::new();
        let mut contradictions = Vec::new();
        for (number, search) in known.searches.iter().enumerate() {
            // A later measurement of the same point has replaced the files of an earlier one.
            let later = &known.searches[number + 1..];
            let replaced = later
                .iter()
                .any(|l| l.point_id == search.point_id && l.measured.is_some());
            raw.push(match replaced {
                true => None,
                false => check_raw(&known.run.dir, search)
                    .err()
                    .map(|e| e.to_string()),
            });
            let record = Record::Search(Box::new((*search).clone()));
            contradictions.extend(check_record(&record).err());
        }
        for build in &known.builds {
            let record = Record::Build(Box::new((*build).clone()));
            contradictions.extend(check_record(&record).err());
        }
        Self {
            known,
            raw,
            contradictions,
        }
    }

    fn doubts(&self) -> impl Iterator<Item = &String> {
        self.contradictions.iter().chain(self.raw.iter().flatten())
    }

    fn document(&self) -> FoundDocument<'_> {
        let searches = self.known.searches.iter().zip(&self.raw);
        FoundDocument {
            dir: &self.known.run.dir,
            searches: searches
                .map(|(record, raw)| Search {
                    record,
                    raw_files_lost: raw.as_deref(),
                })
                .collect(),
            builds: &self.known.builds,
            runs: &self.known.invocations,
            contradictions: &self.contradictions,
        }
    }
}

/// Lines of a label and what it tells.
struct Lines(String);

impl Lines {
    fn add(&mut self, label: &str, what: impl std::fmt::Display) {
        let _ = writeln!(self.0, "  {label:20}  {what}");
    }

    fn head(&mut self, what: impl std::fmt::Display) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = writeln!(self.0, "{what}");
    }
}

fn text(asked: &Asked, found: &[Found<'_>]) -> String {
    let mut lines = Lines(String::new());
    for found in found {
        let Known {
            run,
            searches,
            builds,
            invocations,
        } = &found.known;
        match asked {
            Asked::Point(id) => lines.head(format!("point {id} in {}", run.dir.display())),
            Asked::Build(key) => lines.head(format!("build {key} in {}", run.dir.display())),
        }
        for contradiction in &found.contradictions {
            lines.add("CONTRADICTS ITSELF", contradiction);
        }
        match asked {
            Asked::Point(_) => {
                if let (Some(search), Some(raw)) = (searches.last(), found.raw.last()) {
                    point(&mut lines, search, raw.as_deref());
                    for earlier in &searches[..searches.len() - 1] {
                        let earlier =
                            format!("{} in {}", outcome_text(&earlier.outcome), earlier.run_id);
                        lines.add("earlier", earlier);
                    }
                }
            }
            Asked::Build(_) => {
                if let Some(build) = builds.last() {
                    build_identity(&mut lines, &build.identity);
                }
                for (search, raw) in searches.iter().zip(&found.raw) {
                    let figures = figures(search);
                    let lost = raw
                        .as_ref()
                        .map_or(String::new(), |why| format!("; raw files: {why}"));
                    lines.add(
                        &search.point_id[..search.point_id.floor_char_boundary(12)],
                        format!(
                            "{} k={}: {figures}{lost}",
                            search.identity.search_params, search.identity.k
                        ),
                    );
                }
            }
        }
        for build in builds {
            let searched = searches
                .last()
                .filter(|_| matches!(asked, Asked::Point(_)))
                .is_some_and(|search| search.build_id.as_ref() == Some(&build.build_id));
            let note = if searched { ", which was searched" } else { "" };
            lines.head(format!("build {}{note}", build.build_id));
            build_attempt(&mut lines, build);
        }
        for run in invocations {
            lines.head(format!("run {}", run.run_id));
            invocation(&mut lines, run);
        }
    }
    lines.0
}

fn point(lines: &mut Lines, search: &SearchRecord, raw: Option<&str>) {
    outcome(lines, &search.outcome);
    let d = &search.dataset;
    lines.add(
        "dataset",
        format!(
            "{}: {} x {} {} {}, {} queries",
            d.name, d.n, d.dim, d.element, d.metric, d.queries
        ),
    );
    lines.add("queries fingerprint", &d.queries_fingerprint);
    lines.add("library", &search.library);
    lines.add("group", &search.group);
    let identity = &search.identity;
    build_identity(lines, &identity.build);
    lines.add(
        "search parameters",
        or_none(&identity.search_params.to_string()),
    );
    lines.add(
        "search",
        format!(
            "k = {}, {}, threads = {}",
            identity.k, identity.mode, identity.threads
        ),
    );
    lines.add(
        "measured as",
        format!(
            "{} repetitions of at least {} ms, warm-up of at least {} ms",
            identity.repetitions,
            millis(identity.min_pass_ns),
            millis(identity.warm_up_ns)
        ),
    );
    match &search.truth {
        None => lines.add("truth", "none was scored against"),
        Some(truth) => {
            let origin = match truth.origin {
                annbench_results::TruthOrigin::Shipped => "shipped",
                annbench_results::TruthOrigin::Computed => "computed exactly",
            };
            lines.add("truth", format!("{origin}, {} columns", truth.width));
            lines.add("truth fingerprint", &truth.fingerprint);
            if let Some(evidence) = &truth.refuted_by {
                lines.add("TRUTH REFUTED", evidence);
            }
        }
    }
    for accepted in &search.accepted_checksums {
        lines.add("CHECKSUM", accepted);
    }
    for narrowed in &search.narrowed {
        lines.add("NARROWED", narrowed);
    }
    repetitions(lines, search);
    if let Some(measured) = &search.measured {
        let report = &measured.report;
        let counters = &report.counters;
        for (label, total) in [
            ("distances per query", counters.distance_computations),
            ("vertices per query", counters.vertices_visited),
        ] {
            if let Some(total) = total {
                let queries = report.counted_queries.max(1);
                lines.add(label, format!("{:.1}", total as f64 / queries as f64));
            }
        }
        lines.add(
            "warm-up",
            format!(
                "{} passes in {} ms",
                report.warm_up_passes,
                millis(report.warm_up_wall_ns)
            ),
        );
        affinity(lines, &report.affinity);
        for (label, noise) in [
            ("noise before", &report.noise_before),
            ("noise after", &report.noise_after),
        ] {
            let load = noise
                .load_average_x100
                .map_or("load not told".to_owned(), |load| {
                    format!("load {:.2}", load as f64 / 100.0)
                });
            lines.add(
                label,
                format!(
                    "two clock reads {:.1} ns, longest gap {:.1} µs, {load}",
                    noise.clock_pair_ps as f64 / 1e3,
                    micros(noise.longest_gap_ns)
                ),
            );
        }
        lines.add("raw files", &measured.raw_dir);
        for file in report.repetitions.iter().flat_map(files) {
            lines.add("", file);
        }
        match raw {
            None => lines.add("", "all here and those that were measured"),
            Some(why) => lines.add("RAW FILES LOST", why),
        }
    }
}

/// Quality, speed and latency of every repetition.
fn repetitions(lines: &mut Lines, search: &SearchRecord) {
    if let Some(speed) = &search.speed {
        lines.add(
            "QPS",
            format!(
                "median {:.1}, {:.1} to {:.1}",
                speed.qps_median, speed.qps_min, speed.qps_max
            ),
        );
    }
    if let Some(q) = &search.quality {
        lines.add("recall", quality(q));
        for (number, words) in counted(q) {
            lines.add("", format!("{number} {words}"));
        }
    }
    let measured = search
        .measured
        .as_ref()
        .map(|measured| &measured.report.repetitions);
    for (number, repetition) in measured.into_iter().flatten().enumerate() {
        let mut parts = Vec::new();
        if let Some(qps) = search
            .speed
            .as_ref()
            .and_then(|speed| speed.qps.get(number))
        {
            parts.push(format!("{qps:.1} QPS"));
        }
        parts.push(format!(
            "{} passes in {} ms",
            repetition.passes,
            millis(repetition.wall_ns)
        ));
        if number > 0 {
            parts.push(match search.other_quality.get(&(number as u64)) {
                None => "answers as in repetition 0".to_owned(),
                Some(other) => format!("OTHER ANSWERS: {}", quality(other)),
            });
        }
        if repetition.ids_hash != repetition.last_ids_hash {
            parts.push("ANSWERS VARY between passes".to_owned());
        }
        lines.add(&format!("repetition {number}"), parts.join(", "));
        let latencies = search.speed.as_ref().map(|speed| &speed.service_latency);
        if let Some(latency) = latencies.and_then(|latencies| latencies.get(number)) {
            lines.add("", latency_text(latency));
        }
    }
}

fn latency_text(latency: &Latency) -> String {
    format!(
        "service µs: mean {:.1}, p50 {:.1}, p95 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1}",
        latency.mean_ns / 1e3,
        micros(latency.p50_ns),
        micros(latency.p95_ns),
        micros(latency.p99_ns),
        micros(latency.p999_ns),
        micros(latency.max_ns)
    )
}

fn quality(q: &Quality) -> String {
    format!(
        "{} hits of {} ({} by id) over {} queries: mean {}, lowest {}, p05 {}, perfect {}",
        q.hits,
        u128::from(q.k) * u128::from(q.scored_queries),
        q.id_hits,
        q.scored_queries,
        q.recall_mean,
        q.recall_min,
        q.recall_p05,
        q.perfect_share
    )
}

/// What is worth a line when it is not zero.
fn counted(q: &Quality) -> impl Iterator<Item = (u64, &'static str)> {
    [
        (q.undefined_queries, "queries without a direction, left out"),
        (
            q.queries_where_ids_differ,
            "queries with ties counted as hits",
        ),
        (
            q.queries_using_tolerance,
            "queries where the tolerance of ties decided",
        ),
        (q.duplicates, "repeated ids dropped"),
        (q.short, "places without an id"),
        (q.over_returned, "ids beyond k cut"),
        (q.invalid, "ids that no base row has"),
        (
            q.beats_truth,
            "answers nearer than the truth: it is refuted",
        ),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
}

fn files(repetition: &Repetition) -> impl Iterator<Item = &String> {
    let files = [
        &repetition.ids_file,
        &repetition.returned_file,
        &repetition.latency_file,
    ];
    files.into_iter().flatten()
}

fn build_identity(lines: &mut Lines, identity: &annbench_results::BuildIdentity) {
    lines.add(
        "adapter",
        format!(
            "{}, library version {}",
            identity.adapter, identity.library_version
        ),
    );
    lines.add("executable sha256", &identity.executable_sha256);
    lines.add("base fingerprint", &identity.base_fingerprint);
    let residence = match identity.base_residence {
        annbench_results::BaseResidence::Copied => "copied into memory",
        annbench_results::BaseResidence::Mapped => "mapped from its file",
    };
    lines.add(
        "base given",
        format!(
            "as {} {}, {residence}",
            identity.element_given, identity.metric
        ),
    );
    lines.add(
        "build parameters",
        or_none(&identity.build_params.to_string()),
    );
    lines.add(
        "build",
        format!(
            "threads = {}, seed = {}",
            identity.build_threads, identity.seed
        ),
    );
    let machine = &identity.machine;
    lines.add(
        "machine",
        format!(
            "{}, {} CPUs, {}",
            machine.cpu_model,
            machine.cpus,
            mebibytes(machine.memory_bytes as f64)
        ),
    );
}

fn build_attempt(lines: &mut Lines, build: &BuildRecord) {
    outcome(lines, &build.outcome);
    if build.loaded {
        lines.add(
            "loaded",
            "after a crash, from what an earlier attempt had saved",
        );
    }
    lines.add(
        "attempt",
        format!(
            "{:.3} s with process start and mapping",
            build.attempt_wall_ns as f64 / 1e9
        ),
    );
    if let Some(report) = &build.report {
        let cpu = report.cpu_ns.map_or("CPU time not told".to_owned(), |cpu| {
            format!("{:.3} s of CPU time", cpu as f64 / 1e9)
        });
        lines.add(
            "built in",
            format!("{:.3} s, {cpu}", report.wall_ns as f64 / 1e9),
        );
        let told = |bytes: Option<f64>| bytes.map_or("not told".to_owned(), mebibytes);
        lines.add(
            "index memory",
            format!(
                "grown by {}, and {} of the base read by searches",
                told(report.private_growth_bytes.map(|bytes| bytes as f64)),
                mebibytes(report.borrowed_base_bytes as f64)
            ),
        );
        lines.add(
            "library says",
            told(report.memory.reported_bytes.map(|bytes| bytes as f64)),
        );
        lines.add(
            "peak resident",
            told(report.peak_resident_bytes.map(|bytes| bytes as f64)),
        );
        affinity(lines, &report.affinity);
    }
    if let Some(peak) = build.sampled_peak_bytes {
        lines.add(
            "peak private",
            format!("{}, sampled by the runner", mebibytes(peak as f64)),
        );
    }
    match &build.saved {
        None => {}
        Some(SaveOutcome::Saved) => lines.add("saved", "in case of a crash"),
        Some(SaveOutcome::Failed { reason }) => lines.add("NOT SAVED", reason),
    }
}

fn invocation(lines: &mut Lines, run: &RunRecord) {
    lines.add(
        "started",
        format!("{} s after 1970-01-01 UTC", run.started_unix_s),
    );
    lines.add("command", &run.command);
    lines.add("annbench", &run.annbench_version);
    lines.add("configuration", &run.config_hash);
    for accepted in &run.accepted_checksums {
        lines.add("CHECKSUM", accepted);
    }
    match &run.selftest {
        None => lines.add("SELF-TEST", "not run"),
        Some(selftest) => {
            for check in &selftest.checks {
                let verdict = if check.passed { "ok" } else { "FAILED" };
                lines.add(
                    "self-test",
                    format!("{verdict}  {}: {}", check.name, check.detail),
                );
            }
        }
    }
}

fn outcome(lines: &mut Lines, outcome: &Outcome) {
    lines.add("outcome", outcome_text(outcome));
    if let Outcome::Failed(failure) = outcome {
        for line in failure.stderr_tail.lines() {
            lines.add("standard error", line);
        }
    }
}

fn affinity(lines: &mut Lines, affinity: &Result<Vec<usize>, String>) {
    match affinity {
        Ok(cpus) => {
            let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
            lines.add("bound to CPUs", cpus.join(", "));
        }
        Err(why) => lines.add("bound to no CPU", why),
    }
}

/// The point in a few words.
fn figures(search: &SearchRecord) -> String {
    let mut text = outcome_text(&search.outcome);
    if let Some(quality) = &search.quality {
        let _ = write!(text, ", recall {}", quality.recall_mean);
    }
    if let Some(speed) = &search.speed {
        let _ = write!(text, ", {:.1} QPS", speed.qps_median);
    }
    text
}

fn or_none(params: &str) -> &str {
    if params.is_empty() { "none" } else { params }
}

fn millis(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e6)
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / f64::from(1u32 << 20))
}
