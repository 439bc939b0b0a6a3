use super::lines::Lines;
use annbench_results::RunRecord;

/// One call of `run`.
pub(super) fn write_invocation(lines: &mut Lines, run: &RunRecord) {
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
    for accepted in &run.accepted_violations {
        lines.add("VIOLATED", accepted);
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
