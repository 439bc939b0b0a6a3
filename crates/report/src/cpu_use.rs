use crate::facts::{FactLine, alarm, line};
use crate::figures::plural;
use crate::overlay::Source;
use annbench_core::Mode;
use std::collections::{BTreeMap, BTreeSet};

/// CPU time above what the stated threads can take, by more than clocks and hand-overs explain.
const SLACK: f64 = 1.05;
/// A searching thread never waits in single mode: with less than this share of a CPU it was held up by
/// others, and its figures are too low.
const STARVED: f64 = 0.9;

/// Builds shorter than this are not judged by their CPU time.
const SHORT_BUILD_NS: u64 = 1_000_000_000;

/// Whether the measured points really used the threads that they are shown under: CPU time of the
/// whole process against wall time, and whether threads could be bound to CPUs.
pub(crate) fn cpu_use(source: &Source<'_, '_>) -> Vec<FactLine> {
    let (mut most, mut beyond, mut untold) = (0.0f64, 0u64, 0u64);
    let (mut least, mut starved, mut singles) = (f64::INFINITY, 0u64, 0u64);
    let (mut crowded, mut crowd) = (0u64, 0u64);
    let mut unbound = BTreeSet::new();
    for row in &source.rows {
        let Some(measured) = &row.record.measured else {
            continue;
        };
        if let Err(reason) = &measured.report.affinity {
            unbound.insert(reason.as_str());
        }
        let cpus = row.record.identity.build.machine.cpus;
        if row.record.identity.threads > cpus {
            crowded += 1;
            crowd = crowd.max(row.record.identity.threads);
        }
        let threads = row.record.identity.threads.max(1) as f64;
        let shares: Option<Vec<f64>> = measured
            .report
            .repetitions
            .iter()
            .map(|r| Some(r.cpu_ns? as f64 / (r.wall_ns.max(1) as f64 * threads)))
            .collect();
        match shares {
            None => untold += 1,
            Some(mut shares) => {
                let share = shares.iter().copied().fold(0.0, f64::max);
                most = most.max(share);
                beyond += u64::from(share > SLACK);
                shares.sort_by(f64::total_cmp);
                // The figures are medians over repetitions, and so is what they are judged by.
                if let Some(&median) = shares.get((shares.len().max(1) - 1) / 2)
                    && row.record.identity.mode == Mode::Single
                {
                    singles += 1;
                    least = least.min(median);
                    starved += u64::from(median < STARVED);
                }
            }
        }
    }
    let mut lines = Vec::new();
    if beyond > 0 {
        lines.push(alarm(
            "CPU time",
            format!(
                "{} used more than the stated threads can, up to {most:.2} times as much",
                plural(beyond, "point")
            ),
        ));
    } else if most > 0.0 {
        lines.push(line(
            "CPU time",
            match starved {
                0 => format!(
                    "at most {most:.2} of what the stated threads can use: no hidden threads"
                ),
                _ => format!("at most {most:.2} of what the stated threads can use"),
            },
        ));
    }
    if crowded > 0 {
        lines.push(alarm(
            "CPU time",
            format!(
                "{} searched with more threads than there are CPUs, up to {crowd}: their threads \
                 waited for one another, and their latencies are no service latencies",
                plural(crowded, "point")
            ),
        ));
    }
    if starved > 0 {
        lines.push(alarm(
            "CPU time",
            format!(
                "{starved} of {singles} points had less than {STARVED} of a CPU per thread (lowest \
                 {least:.2}): the machine was busy, and their QPS and latencies are worse than on an idle one"
            ),
        ));
    }
    let builds: BTreeMap<&str, f64> = source
        .rows
        .iter()
        .filter_map(|row| {
            let build = row.build?;
            let report = build.report.as_ref()?;
            let share = report.cpu_ns? as f64 / report.wall_ns.max(1) as f64;
            // Below this the share is the clock's.
            (report.wall_ns >= SHORT_BUILD_NS).then_some((build.build_id.as_str(), share))
        })
        .collect();
    let starved_builds = builds.values().filter(|&&share| share < STARVED).count();
    if starved_builds > 0 {
        let least = builds.values().copied().fold(f64::INFINITY, f64::min);
        lines.push(alarm(
            "CPU time",
            format!(
                "{starved_builds} of {} had less than {STARVED} of one CPU (lowest {least:.2}): their build \
                 times are worse than on an idle machine",
                plural(builds.len() as u64, "build")
            ),
        ));
    }
    if untold > 0 {
        lines.push(line(
            "CPU time",
            format!("not told by the machine for {}", plural(untold, "point")),
        ));
    }
    for reason in unbound {
        lines.push(alarm("CPUs", format!("threads were not bound: {reason}")));
    }
    lines
}
