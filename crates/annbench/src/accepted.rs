//! Rules that a user overrides by name.

use annbench_dataset::Rule;
use annbench_yaml::nearest;
use std::fmt;
use std::str::FromStr;

/// A rule that may be violated on one dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedViolation {
    /// As the campaign or the command line names it.
    pub dataset: String,
    /// One that is enforced.
    pub rule: Rule,
}

impl fmt::Display for AcceptedViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.dataset, self.rule)
    }
}

impl FromStr for AcceptedViolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let enforced = Rule::ALL.into_iter().filter(|rule| rule.is_enforced());
        let names: Vec<&str> = enforced.map(Rule::name).collect();
        let known = format!("the rules that stop a run are {}", names.join(", "));
        let Some((dataset, name)) = text.rsplit_once(':') else {
            return Err(format!("expected DATASET:RULE; {known}"));
        };
        match Rule::named(name) {
            _ if dataset.is_empty() => Err(format!("expected DATASET:RULE; {known}")),
            Some(rule) if rule.is_enforced() => Ok(Self {
                dataset: dataset.to_owned(),
                rule,
            }),
            Some(rule) => Err(format!(
                "{rule} stops no run and needs no acceptance; {known}"
            )),
            None => Err(match nearest(name, names.iter().copied()) {
                Some(near) => format!("there is no rule `{name}`; did you mean `{near}`?"),
                None => format!("there is no rule `{name}`; {known}"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_a_dataset_is_read_and_shown() {
        for text in ["sift:metric_matches", "a/b:c.yaml:queries_held_out"] {
            let read: AcceptedViolation = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for (text, word) in [
            ("sift", "DATASET:RULE"),
            (":metric_matches", "DATASET:RULE"),
            ("sift:metric_match", "did you mean `metric_matches`"),
            ("sift:ties", "stops no run"),
            ("sift:x", "queries_held_out, metric_matches, corpus_matches"),
        ] {
            let error = text.parse::<AcceptedViolation>().unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
