use super::lines::Lines;
use super::units::{micros, millis};
use annbench_results::{Latency, Quality, SearchRecord};

/// Quality, speed and latency of every repetition.
pub(super) fn write_repetitions(lines: &mut Lines, search: &SearchRecord) {
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
