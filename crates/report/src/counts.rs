use crate::figures::count;
use annbench_results::{Outcome, SkipCause};
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
    /// Not attempted because of something else, by cause.
    pub skipped: BTreeMap<SkipCause, u64>,
    /// Recorded as ok with figures that cannot be shown.
    pub unusable: u64,
}

impl Counts {
    /// Counts one point that is not shown.
    pub(crate) fn add_unplaced(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Ok => self.unusable += 1,
            Outcome::Rejected { .. } => self.rejected += 1,
            Outcome::Skipped { cause, .. } => *self.skipped.entry(*cause).or_default() += 1,
            Outcome::Failed(failure) => *self.failed.entry(failure.cause.word()).or_default() += 1,
        }
    }

    /// Adds those of another series.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.ok += other.ok;
        self.rejected += other.rejected;
        self.unusable += other.unusable;
        for (cause, n) in &other.failed {
            *self.failed.entry(cause).or_default() += n;
        }
        for (cause, n) in &other.skipped {
            *self.skipped.entry(*cause).or_default() += n;
        }
    }

    /// Failed points of every cause.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Skipped points of every cause.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// `2 failed (signal 1, timeout 1), 3 rejected`; `None` when every point is shown.
    pub fn missing(&self) -> Option<String> {
        let mut parts = Vec::new();
        let mut add = |n: u64, word: &str, causes: Vec<String>| {
            let causes = match causes.is_empty() {
                true => String::new(),
                false => format!(" ({})", causes.join(", ")),
            };
            if n > 0 {
                parts.push(format!("{} {word}{causes}", count(n)));
            }
        };
        let failed = self.failed.iter();
        let failed = failed.map(|(cause, n)| format!("{cause} {}", count(*n)));
        add(self.failed_total(), "failed", failed.collect());
        add(self.rejected, "rejected", Vec::new());
        let skipped = self.skipped.iter();
        let skipped = skipped.map(|(cause, n)| format!("{} {}", cause.words(), count(*n)));
        add(self.skipped_total(), "skipped", skipped.collect());
        add(self.unusable, "unusable", Vec::new());
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
