use super::affinity::write_affinity;
use super::build::write_identity;
use super::lines::Lines;
use super::outcome::write_outcome;
use super::repetitions::write_repetitions;
use super::units::{micros, millis, or_none};
use annbench_core::wire::Repetition;
use annbench_results::{SearchRecord, TruthOrigin};

/// Everything that defines a point and what was measured; `raw` tells why its raw files are lost.
pub(super) fn write_point(lines: &mut Lines, search: &SearchRecord, raw: Option<&str>) {
    write_outcome(lines, &search.outcome);
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
    write_identity(lines, &identity.build);
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
                TruthOrigin::Shipped => "shipped",
                TruthOrigin::Computed => "computed exactly",
            };
            let proved = match truth.proved_queries {
                Some(queries) => {
                    let all = search.dataset.queries;
                    format!(", proved for {queries} of {all} queries")
                }
                None => String::new(),
            };
            lines.add(
                "truth",
                format!("{origin}, {} columns{proved}", truth.width),
            );
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
    for violated in &search.accepted_violations {
        lines.add("VIOLATED", violated);
    }
    write_repetitions(lines, search);
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
        write_affinity(lines, &report.affinity);
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

fn files(repetition: &Repetition) -> impl Iterator<Item = &String> {
    let files = [
        &repetition.ids_file,
        &repetition.returned_file,
        &repetition.latency_file,
    ];
    files.into_iter().flatten()
}
