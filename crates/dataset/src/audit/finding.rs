use super::Rule;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// How a rule stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It holds, as far as the evidence goes.
    Holds {
        /// What was looked at, and how much of it.
        evidence: String,
    },
    /// It does not.
    Violated {
        /// How many, which first.
        evidence: String,
    },
    /// It cannot be told.
    CannotTell {
        /// Why.
        why: String,
    },
}

impl Verdict {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds { .. } => "holds",
            Verdict::Violated { .. } => "VIOLATED",
            Verdict::CannotTell { .. } => "cannot tell",
        }
    }

    /// The evidence, or why there is none.
    pub fn says(&self) -> &str {
        match self {
            Verdict::Holds { evidence } | Verdict::Violated { evidence } => evidence,
            Verdict::CannotTell { why } => why,
        }
    }
}

/// The verdict on a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How it stands.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What to do about it, where there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The numbers and names in the evidence, for programs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, Value>,
}

impl Finding {
    fn new(rule: Rule, verdict: Verdict) -> Self {
        Self {
            rule,
            verdict,
            next: None,
            measured: BTreeMap::new(),
        }
    }

    pub(super) fn holds(rule: Rule, evidence: impl Into<String>) -> Self {
        let evidence = evidence.into();
        Self::new(rule, Verdict::Holds { evidence })
    }

    pub(super) fn violated(
        rule: Rule,
        evidence: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        let evidence = evidence.into();
        Self::new(rule, Verdict::Violated { evidence }).next(next)
    }

    pub(super) fn cannot_tell(rule: Rule, why: impl Into<String>) -> Self {
        Self::new(rule, Verdict::CannotTell { why: why.into() })
    }

    pub(super) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.measured.insert(key.to_owned(), value.into());
        self
    }

    /// Whether the rule is violated.
    pub fn is_violated(&self) -> bool {
        matches!(self.verdict, Verdict::Violated { .. })
    }
}
