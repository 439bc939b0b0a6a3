use crate::anti_hubs::anti_hubs;
use crate::cpu_use::cpu_use;
use crate::every_stratum::every_stratum;
use crate::figures::{count, gibibytes, plural, printable, short_hash};
use crate::overlay::Source;
use annbench_results::{BaseResidence, Outcome, TruthInfo, TruthOrigin};
use std::collections::{BTreeMap, BTreeSet};

/// One line under a plot or table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactLine {
    /// What it tells about.
    pub label: &'static str,
    /// What it tells.
    pub text: String,
    /// Whether it casts doubt on the figures and is shown in red.
    pub alarm: bool,
}

pub(crate) fn line(label: &'static str, text: String) -> FactLine {
    FactLine {
        label,
        text: printable(&text),
        alarm: false,
    }
}

pub(crate) fn alarm(label: &'static str, text: String) -> FactLine {
    FactLine {
        alarm: true,
        ..line(label, text)
    }
}

/// What a reader must know to judge or repeat the figures of a chart.
pub(crate) fn facts(source: &Source<'_, '_>) -> Vec<FactLine> {
    let mut facts = dataset(source);
    facts.extend(truth(source));
    facts.extend(conditions(source));
    facts.extend(cost_control(source));
    facts.extend(cpu_use(source));
    facts.extend(doubts(source));
    facts.extend(anti_hubs(source));
    facts.extend(every_stratum(source));
    facts.extend(reproduction(source));
    facts
}

/// The distinct values of `value` over the chart's records, in order.
fn distinct<T: Ord>(
    source: &Source<'_, '_>,
    value: impl Fn(&crate::overlay::Row<'_>) -> T,
) -> Vec<T> {
    let values: BTreeSet<T> = source.rows.iter().map(|row| value(row)).collect();
    values.into_iter().collect()
}

fn dataset(source: &Source<'_, '_>) -> Vec<FactLine> {
    let names = distinct(source, |row| row.record.dataset.name.clone());
    let d = &source.rows[0].record.dataset;
    vec![
        line(
            "dataset",
            format!(
                "{} · base {} × {} {}, {} · {}",
                names.join(" = "),
                count(d.n),
                count(d.dim),
                d.element,
                d.metric,
                plural_queries(d.queries),
            ),
        ),
        line(
            "fingerprints",
            format!(
                "base {} · queries {}",
                short_hash(&d.base_fingerprint),
                short_hash(&d.queries_fingerprint),
            ),
        ),
    ]
}

fn truth(source: &Source<'_, '_>) -> Vec<FactLine> {
    let mut truths = BTreeMap::new();
    let mut used_by: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    // Of how many queries, and how many there are.
    let mut proved: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut unscored = false;
    for row in &source.rows {
        match &row.record.truth {
            Some(truth) => {
                truths.insert(truth.fingerprint.as_str(), truth);
                if let Some(queries) = truth.proved_queries {
                    let most = proved.entry(truth.fingerprint.as_str()).or_default();
                    *most = (most.0.max(queries), row.record.dataset.queries);
                }
                let runs = used_by.entry(truth.fingerprint.as_str()).or_default();
                runs.insert(row.run);
            }
            None => unscored |= row.record.quality.is_some(),
        }
    }
    let mut lines = Vec::new();
    for (fingerprint, truth) in &truths {
        let origin = match truth.origin {
            TruthOrigin::Shipped => "shipped with the dataset, distances recomputed",
            TruthOrigin::Computed => "computed by annbench over the whole base",
        };
        // Which run a refutation concerns, where truths differ.
        let runs: Vec<&str> = match truths.len() {
            1 => Vec::new(),
            _ => (used_by.get(fingerprint).into_iter().flatten())
                .map(|&run| source.runs[run].as_str())
                .collect(),
        };
        let of = match runs.as_slice() {
            [] => String::new(),
            runs => format!(" · of {}", runs.join(", ")),
        };
        let proved = match proved.get(fingerprint) {
            Some(&(proved, queries)) if proved >= queries => " · proved for every query".to_owned(),
            Some(&(proved, queries)) => {
                format!(
                    " · proved for {} of {} queries",
                    count(proved),
                    count(queries)
                )
            }
            None => String::new(),
        };
        let text = format!(
            "{origin}{proved} · {} · {}{of}",
            plural(truth.width, "column"),
            short_hash(fingerprint)
        );
        let status = source.refutations.status(truth);
        let mut reasons = Vec::new();
        if status.nearer_answers > 0 {
            let answers = plural(status.nearer_answers, "answer");
            reasons.push(format!("{answers} nearer than its k-th neighbour"));
        }
        reasons.extend(status.refuted_by);
        lines.push(if reasons.is_empty() {
            line("truth", text)
        } else {
            alarm(
                "truth",
                format!(
                    "REFUTED by {}, so that recalls shown may be wrong · {text}",
                    reasons.join(" and "),
                ),
            )
        });
    }
    if truths.is_empty() {
        lines.push(line("truth", "none used: no point was scored".to_owned()));
    }
    if !agree(&truths) {
        lines.push(alarm(
            "truth",
            "points were scored against different truths; their recalls may not be comparable"
                .to_owned(),
        ));
    }
    if unscored {
        lines.push(alarm(
            "truth",
            "some scored records do not name their truth".to_owned(),
        ));
    }
    lines
}

/// Whether all truths are one, or the same exact one computed to different widths.
fn agree(truths: &BTreeMap<&str, &TruthInfo>) -> bool {
    let widths: BTreeSet<u64> = truths.values().map(|truth| truth.width).collect();
    let computed = truths
        .values()
        .all(|truth| truth.origin == TruthOrigin::Computed);
    truths.len() <= 1 || (computed && widths.len() == truths.len())
}

fn conditions(source: &Source<'_, '_>) -> Vec<FactLine> {
    let searches = distinct(source, |row| {
        let i = &row.record.identity;
        (i.mode, i.threads)
    });
    let searches: Vec<String> = searches
        .iter()
        .map(|(mode, threads)| format!("{mode} with {}", plural(*threads, "thread")))
        .collect();
    let list = |values: Vec<u64>| {
        let words: Vec<String> = values.into_iter().map(count).collect();
        words.join(", ")
    };
    let mut lines = vec![line(
        "search",
        format!(
            "k = {} · {} · {} repetitions, median shown · build threads {} · seed {}",
            source.rows[0].record.identity.k,
            searches.join("; "),
            list(distinct(source, |row| row.record.identity.repetitions)),
            list(distinct(source, |row| {
                row.record.identity.build.build_threads
            })),
            list(distinct(source, |row| row.record.identity.build.seed)),
        ),
    )];
    let residences = distinct(source, |row| row.record.identity.build.base_residence);
    let words = residences.iter().map(|residence| match residence {
        BaseResidence::Copied => "copied into memory",
        BaseResidence::Mapped => "mapped from its file",
    });
    let given = distinct(source, |row| {
        let build = &row.record.identity.build;
        format!("{} {}", build.adapter, build.element_given)
    });
    let pass = distinct(source, |row| row.record.identity.min_pass_ns);
    let pass: Vec<String> = pass.into_iter().map(milliseconds).collect();
    lines.push(line(
        "vectors",
        format!(
            "base {} · given as {} · a repetition at least {} long",
            words.collect::<Vec<_>>().join(", "),
            given.join(", "),
            pass.join(", ")
        ),
    ));
    // What is compared on one curve must have been measured in one way.
    if residences.len() > 1 || pass.len() > 1 {
        lines.push(alarm(
            "search",
            "points were measured in different ways (see vectors); their QPS may not be comparable"
                .to_owned(),
        ));
    }
    let machines = distinct(source, |row| {
        let m = &row.record.identity.build.machine;
        (m.cpu_model.clone(), m.cpus, m.memory_bytes)
    });
    for (model, cpus, memory) in &machines {
        lines.push(line(
            "machine",
            format!(
                "{model} · {} · {} GiB memory",
                plural(*cpus, "CPU"),
                gibibytes(*memory)
            ),
        ));
    }
    if machines.len() > 1 {
        lines.push(alarm(
            "machine",
            "points come from different machines; their QPS are not comparable".to_owned(),
        ));
    }
    lines
}

fn milliseconds(ns: u64) -> String {
    match ns {
        0 => "one pass".to_owned(),
        _ => format!("{} ms", ns as f64 / 1e6),
    }
}

fn doubts(source: &Source<'_, '_>) -> Vec<FactLine> {
    let mut lines: Vec<FactLine> = source
        .doubts
        .iter()
        .map(|(run, doubt)| alarm("records", format!("{doubt}{}", in_run(source, *run))))
        .collect();
    let mut accepted: BTreeSet<&str> = BTreeSet::new();
    for row in &source.rows {
        accepted.extend(row.record.accepted_checksums.iter().map(String::as_str));
    }
    if !accepted.is_empty() {
        let names: Vec<&str> = accepted.into_iter().collect();
        lines.push(alarm(
            "checksums",
            format!("not verified: {}", names.join("; ")),
        ));
    }
    let mut narrowed: BTreeSet<&str> = BTreeSet::new();
    for row in &source.rows {
        narrowed.extend(row.record.narrowed.iter().map(String::as_str));
    }
    for rounded in narrowed {
        lines.push(alarm("narrowed", rounded.to_owned()));
    }
    let mut violated: BTreeSet<&str> = BTreeSet::new();
    for row in &source.rows {
        violated.extend(row.record.accepted_violations.iter().map(String::as_str));
    }
    for rule in violated {
        lines.push(alarm("violated", rule.to_owned()));
    }
    let undefined: u64 = source
        .rows
        .iter()
        .filter_map(|row| row.record.quality.as_ref())
        .map(|q| q.undefined_queries)
        .max()
        .unwrap_or(0);
    if undefined > 0 {
        lines.push(line(
            "left out",
            format!("{} without direction", plural_queries(undefined)),
        ));
    }
    lines.extend(repeated_builds(source));
    lines.extend(failed_builds(source));
    lines.extend(self_tests(source));
    lines
}

/// Builds of equal parameters that were made more than once, after an interruption or a lost file: their
/// points are of different indexes where building is not repeatable.
fn repeated_builds(source: &Source<'_, '_>) -> Option<FactLine> {
    let mut made: BTreeMap<(usize, &str), BTreeSet<&str>> = BTreeMap::new();
    for row in &source.rows {
        if let Some(build) = row.build {
            let ids = made.entry((row.run, build.build_key.as_str())).or_default();
            ids.insert(&build.build_id);
        }
    }
    let repeated = made.values().filter(|ids| ids.len() > 1).count();
    (repeated > 0).then(|| {
        line(
            "builds",
            format!(
                "points of {} come from more than one build of the same parameters, which are \
                 different indexes where building is not repeatable",
                plural(repeated as u64, "build")
            ),
        )
    })
}

/// Builds whose last attempt failed, by library and cause.
fn failed_builds(source: &Source<'_, '_>) -> Vec<FactLine> {
    let mut failures: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (run, build) in &source.failed_builds {
        let Outcome::Failed(failure) = &build.outcome else {
            continue;
        };
        let what = format!(
            "{} {}{}: {} at {}",
            build.identity.adapter,
            build.identity.library_version,
            in_run(source, *run),
            failure.cause.word(),
            failure.stage
        );
        let params = build.identity.build_params.to_string();
        failures.entry(what).or_default().insert(params);
    }
    failures
        .into_iter()
        .map(|(what, builds)| {
            let builds: Vec<String> = builds.into_iter().collect();
            line("failed builds", format!("{what}: {}", builds.join("; ")))
        })
        .collect()
}

fn self_tests(source: &Source<'_, '_>) -> Vec<FactLine> {
    let mut lines = Vec::new();
    for (run, invocation) in &source.invocations {
        let Some(selftest) = &invocation.selftest else {
            let run = in_run(source, *run);
            lines.push(alarm("self-test", format!("not run{run}")));
            continue;
        };
        let run = in_run(source, *run);
        let names: Vec<&str> = selftest.checks.iter().map(|c| c.name.as_str()).collect();
        let overhead = format!(
            "harness overhead {} ns per query{run}",
            count(selftest.overhead_ns)
        );
        if selftest.checks.iter().all(|check| check.passed) {
            let text = format!("{} passed · {overhead}", names.join(", "));
            lines.push(line("self-test", text));
        }
        for check in selftest.checks.iter().filter(|check| !check.passed) {
            let text = format!("{} FAILED{run}: {}", check.name, check.detail);
            lines.push(alarm("self-test", text));
        }
    }
    lines.dedup();
    lines
}

/// ` (run NAME)` where there are several.
fn in_run(source: &Source<'_, '_>, run: usize) -> String {
    if source.runs.len() > 1 {
        format!(" (run {})", source.runs[run])
    } else {
        String::new()
    }
}

fn plural_queries(n: u64) -> String {
    if n == 1 {
        "1 query".to_owned()
    } else {
        format!("{} queries", count(n))
    }
}

/// What kept points from being measured that were asked for.
fn cost_control(source: &Source<'_, '_>) -> Option<FactLine> {
    let mut limits = BTreeSet::new();
    for (_, invocation) in &source.invocations {
        if let Some(budget_ns) = invocation.budget_ns {
            limits.insert(format!("a budget of {} s", budget_ns as f64 / 1e9));
        }
        if let Some(recall) = invocation.stop_at_recall {
            limits.insert(format!(
                "nothing slower once a build reaches recall {recall}"
            ));
        }
    }
    let limits: Vec<String> = limits.into_iter().collect();
    (!limits.is_empty()).then(|| line("cost control", limits.join(" · ")))
}

fn reproduction(source: &Source<'_, '_>) -> Vec<FactLine> {
    let mut commands: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (run, invocation) in &source.invocations {
        commands
            .entry(invocation.command.as_str())
            .or_default()
            .insert(*run);
    }
    if commands.is_empty() {
        return vec![alarm(
            "reproduce",
            "unknown: the records hold no run record".to_owned(),
        )];
    }
    commands
        .into_iter()
        .map(|(command, runs)| {
            if source.runs.len() == 1 {
                return line("reproduce", command.to_owned());
            }
            let names: Vec<&str> = runs.iter().map(|&r| source.runs[r].as_str()).collect();
            line("reproduce", format!("{command}   # {}", names.join(", ")))
        })
        .collect()
}
