use super::lines::Lines;
use crate::progress::outcome_text;
use annbench_results::Outcome;

/// How it ended, and what the worker had said last where it failed.
pub(super) fn write_outcome(lines: &mut Lines, outcome: &Outcome) {
    lines.add("outcome", outcome_text(outcome));
    if let Outcome::Failed(failure) = outcome {
        for line in failure.stderr_tail.lines() {
            lines.add("standard error", line);
        }
    }
}
