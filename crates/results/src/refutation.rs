//! Whether a truth still stands after everything that was scored against it.

use crate::{Record, TruthInfo, TruthOrigin};
use std::collections::BTreeMap;
use std::fmt;

/// Answers that were nearer than a truth's k-th neighbour, by truth fingerprint.
///
/// One such answer refutes the truth for every record that used it, earlier ones too. Gather from
/// all records at hand before any is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refutations {
    answers: BTreeMap<String, u64>,
}

/// A truth's standing, for every record, table and plot that used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruthStatus {
    /// Where it came from.
    pub origin: TruthOrigin,
    /// Answers nearer than its k-th neighbour; above zero it is refuted.
    pub nearer_answers: u64,
}

impl Refutations {
    /// Adds up `beats_truth` of every scored repetition in `records`.
    pub fn gather<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut answers = BTreeMap::new();
        for record in records {
            let Record::Search(search) = record else {
                continue;
            };
            let Some(truth) = &search.truth else { continue };
            let qualities = search.quality.iter().chain(search.other_quality.values());
            let nearer: u64 = qualities.map(|q| q.beats_truth).sum();
            if nearer > 0 {
                *answers.entry(truth.fingerprint.clone()).or_default() += nearer;
            }
        }
        Self { answers }
    }

    /// How `truth` stands.
    pub fn status(&self, truth: &TruthInfo) -> TruthStatus {
        TruthStatus {
            origin: truth.origin,
            nearer_answers: self.answers.get(&truth.fingerprint).copied().unwrap_or(0),
        }
    }
}

impl TruthStatus {
    /// Whether an answer was nearer than the truth's k-th neighbour.
    pub fn is_refuted(&self) -> bool {
        self.nearer_answers > 0
    }
}

impl fmt::Display for TruthStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            TruthOrigin::Shipped => "shipped",
            TruthOrigin::Computed => "computed",
        };
        match self.nearer_answers {
            0 => write!(f, "{origin}, not refuted"),
            n => write!(
                f,
                "{origin}, refuted ({n} {} nearer than its k-th neighbour)",
                if n == 1 { "answer" } else { "answers" }
            ),
        }
    }
}
