//! Whether a record agrees with itself: what it is named after, and figures that follow from others.

use crate::explained::check_latencies;
use crate::other_metrics::mean_reciprocal;
use crate::{BuildRecord, OtherMetrics, Quality, Record, SearchRecord, Speed, build_key, point_id};

/// Looks whether a record can be what was written when it was measured: its name, and figures that
/// follow from others.
///
/// # Errors
/// What was expected and what was found, in words.
pub fn check_record(record: &Record) -> Result<(), String> {
    check_name(record)?;
    match record {
        Record::Search(search) => check_figures(search),
        Record::Build(build) => check_build(build),
        Record::Run(_) => Ok(()),
    }
}

/// Looks whether a build or a point has the name that its identity gives it: names are hashes of what
/// they name, so that a parameter or a version that was edited shows. What is wrong here no scoring puts
/// right.
///
/// # Errors
/// What was expected and what was found, in words.
pub fn check_name(record: &Record) -> Result<(), String> {
    let (name, hash, what) = match record {
        Record::Run(_) => return Ok(()),
        Record::Build(build) => (&build.build_key, build_key(&build.identity), "build_key"),
        Record::Search(search) => (&search.point_id, point_id(&search.identity), "point_id"),
    };
    named(name, &hash.map_err(|error| error.to_string())?, what)
}

fn check_figures(search: &SearchRecord) -> Result<(), String> {
    let qualities = search.quality.iter().chain(search.other_quality.values());
    for quality in qualities {
        check_quality(quality, search.identity.k)?;
    }
    if let Some(other) = &search.other_metrics {
        check_other_metrics(other)?;
    }
    let Some(speed) = &search.speed else {
        return Ok(());
    };
    check_speed(speed)?;
    let Some(measured) = &search.measured else {
        return Ok(());
    };
    let threads = search.identity.threads as usize;
    check_latencies(&measured.report, speed, threads, search.dataset.queries)
}

/// CPU time above what all CPUs had, by more than clocks explain.
const CPU_SLACK: f64 = 1.05;

fn check_build(build: &BuildRecord) -> Result<(), String> {
    let Some(report) = &build.report else {
        return Ok(());
    };
    if report.wall_ns > build.attempt_wall_ns {
        return Err(format!(
            "`report`: expected a build within its attempt of {} ns, found {} ns",
            build.attempt_wall_ns, report.wall_ns
        ));
    }
    let cpus = build.identity.machine.cpus.max(1) as f64;
    let room_ns = report.wall_ns as f64 * cpus * CPU_SLACK + CLOCK_STEP_NS;
    match report.cpu_ns {
        Some(cpu_ns) if cpu_ns as f64 > room_ns => Err(format!(
            "`report`: expected at most {room_ns:.0} ns of CPU time in {} ns on {cpus} CPUs, found {cpu_ns} ns",
            report.wall_ns
        )),
        _ => Ok(()),
    }
}

/// CPU time may be counted in steps of the kernel's clock.
const CLOCK_STEP_NS: f64 = 20e6;

fn named(name: &str, hash: &str, what: &str) -> Result<(), String> {
    if name == hash {
        Ok(())
    } else {
        Err(format!(
            "`{what}`: expected {hash:.12}…, the hash of its `identity`, found {name:.12}…"
        ))
    }
}

fn check_quality(quality: &Quality, k: u64) -> Result<(), String> {
    let slots = quality.k.saturating_mul(quality.scored_queries);
    let mean = quality.hits as f64 / slots as f64;
    if quality.k == k && quality.hits <= slots && quality.recall_mean == mean {
        Ok(())
    } else {
        Err(format!(
            "`quality`: expected recall_mean of {} hits over {} queries of k = {k}, {mean}, found {}",
            quality.hits, quality.scored_queries, quality.recall_mean
        ))
    }
}

fn check_other_metrics(other: &OtherMetrics) -> Result<(), String> {
    let queries = other.scored_queries;
    let share = |hits: u64, columns: u64| hits as f64 / columns.saturating_mul(queries) as f64;
    let k_recalls = other.k_recall_at_n.iter();
    let one_recalls = other.one_recall_at_r.iter();
    let shares = k_recalls
        .map(|found| ("k_recall_at_n", found.recall, share(found.id_hits, found.k)))
        .chain(one_recalls.map(|found| {
            let expected = share(found.queries_found, 1);
            ("one_recall_at_r", found.recall, expected)
        }));
    let mrr = mean_reciprocal(&other.nearest_at_rank, queries);
    for (name, found, expected) in shares.chain([("mrr", other.mrr, mrr)]) {
        if found != expected {
            return Err(format!(
                "`other_metrics`: expected {name} of its counts over {queries} queries, {expected}, \
                 found {found}"
            ));
        }
    }
    Ok(())
}

fn check_speed(speed: &Speed) -> Result<(), String> {
    let mut qps = speed.qps.clone();
    qps.sort_by(f64::total_cmp);
    let (Some(&lowest), Some(&highest)) = (qps.first(), qps.last()) else {
        return Err("`speed`: expected the rate of each repetition, found none".to_owned());
    };
    let within = (lowest..=highest).contains(&speed.qps_median);
    if (speed.qps_min, speed.qps_max) == (lowest, highest) && within {
        Ok(())
    } else {
        Err(format!(
            "`speed`: expected qps from {lowest} to {highest}, as its repetitions are, found {} from \
             {} to {}",
            speed.qps_median, speed.qps_min, speed.qps_max
        ))
    }
}
