use crate::figures::count;
use annbench_results::Outcome;
use std::collections::BTreeMap;

/// How the points of a series ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Measured, scored and shown.
    pub ok: u64,
    /// Attempted without success, by cause.
    pub failed: BTreeMap<&'static str, u64>,
    /// Refused before anything was attempted.
    pub rejected: u64,
    /// Not attempted because of something else.
    pub skipped: u64,
    /// Recorded as ok with figures that cannot be shown.
    pub unusable: u64,
}

impl Counts {
    /// Counts one point that is not shown.
    pub(crate) fn add_unplaced(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Ok => self.unusable += 1,
            Outcome::Rejected { .. } => self.rejected += 1,
            Outcome::Skipped { .. } => self.skipped += 1,
            Outcome::Failed(failure) => *self.failed.entry(failure.cause.word()).or_default() += 1,
        }
    }

    /// Adds those of another series.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.ok += other.ok;
        self.rejected += other.rejected;
        self.skipped += other.skipped;
        self.unusable += other.unusable;
        for (cause, n) in &other.failed {
            *self.failed.entry(cause).or_default() += n;
        }
    }

    /// Failed points of every cause.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    /// `2 failed (signal 1, timeout 1), 3 rejected`; `None` when every point is shown.
    pub fn missing(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.failed.is_empty() {
            let causes: Vec<String> = self
                .failed
                .iter()
                .map(|(cause, n)| format!("{cause} {}", count(*n)))
                .collect();
            parts.push(format!(
                "{} failed ({})",
                count(self.failed_total()),
                causes.join(", ")
            ));
        }
        for (n, word) in [
            (self.rejected, "rejected"),
            (self.skipped, "skipped"),
            (self.unusable, "unusable"),
        ] {
            if n > 0 {
                parts.push(format!("{} {word}", count(n)));
            }
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
