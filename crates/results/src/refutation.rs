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
    evidence: BTreeMap<String, String>,
}

/// A truth's standing, for every record, table and plot that used it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthStatus {
    /// Where it came from.
    pub origin: TruthOrigin,
    /// Answers nearer than its k-th neighbour; above zero it is refuted.
    pub nearer_answers: u64,
    /// What an exact search found against it when the dataset was opened.
    pub refuted_by: Option<String>,
}

impl Refutations {
    /// Adds up `beats_truth` of every scored repetition in `records`.
    pub fn gather<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut answers = BTreeMap::new();
        let mut evidence = BTreeMap::new();
        for record in records {
            let Record::Search(search) = record else {
                continue;
            };
            let Some(truth) = &search.truth else { continue };
            if let Some(found) = &truth.refuted_by {
                evidence.insert(truth.fingerprint.clone(), found.clone());
            }
            let qualities = search.quality.iter().chain(search.other_quality.values());
            let nearer: u64 = qualities.map(|q| q.beats_truth).sum();
            if nearer > 0 {
                *answers.entry(truth.fingerprint.clone()).or_default() += nearer;
            }
        }
        Self { answers, evidence }
    }

    /// How `truth` stands.
    pub fn status(&self, truth: &TruthInfo) -> TruthStatus {
        TruthStatus {
            origin: truth.origin,
            nearer_answers: self.answers.get(&truth.fingerprint).copied().unwrap_or(0),
            refuted_by: truth
                .refuted_by
                .clone()
                .or_else(|| self.evidence.get(&truth.fingerprint).cloned()),
        }
    }
}

impl TruthStatus {
    /// Whether an answer was nearer than the truth's k-th neighbour, or an exact search found one.
    pub fn is_refuted(&self) -> bool {
        self.nearer_answers > 0 || self.refuted_by.is_some()
    }
}

impl fmt::Display for TruthStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            TruthOrigin::Shipped => "shipped",
            TruthOrigin::Computed => "computed",
        };
        let answers = match self.nearer_answers {
            0 => None,
            1 => Some("1 answer nearer than its k-th neighbour".to_owned()),
            n => Some(format!("{n} answers nearer than its k-th neighbour")),
        };
        let reasons: Vec<&str> = answers
            .as_deref()
            .into_iter()
            .chain(self.refuted_by.as_deref())
            .collect();
        match reasons.as_slice() {
            [] => write!(f, "{origin}, not refuted"),
            reasons => write!(f, "{origin}, refuted ({})", reasons.join("; ")),
        }
    }
}
