use super::affinity::write_affinity;
use super::lines::Lines;
use super::outcome::write_outcome;
use super::units::{mebibytes, or_none};
use annbench_results::{BaseResidence, BuildIdentity, BuildRecord, SaveOutcome};

/// Everything that defines a build.
pub(super) fn write_identity(lines: &mut Lines, identity: &BuildIdentity) {
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
        BaseResidence::Copied => "copied into memory",
        BaseResidence::Mapped => "mapped from its file",
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

/// How one attempt at it went.
pub(super) fn write_attempt(lines: &mut Lines, build: &BuildRecord) {
    write_outcome(lines, &build.outcome);
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
        write_affinity(lines, &report.affinity);
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
