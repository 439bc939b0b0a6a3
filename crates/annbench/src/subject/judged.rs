use super::{Opened, watched};
use crate::accepted::AcceptedViolation;
use crate::args::Permits;
use crate::terminal::say;
use annbench_dataset::{Finding, quick_audit};

impl Opened {
    /// Judges the dataset `name` by what takes seconds, once for the same vectors and truth, and says
    /// what it violates.
    ///
    /// # Errors
    /// When an enforced rule is violated that is not among those `accepted`.
    pub(super) fn judge(
        &mut self,
        name: &str,
        accepted: &[AcceptedViolation],
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<()> {
        let audit = watched(name, Permits::default(), pool, |options| {
            quick_audit(&self.dataset, options)
        })?;
        let (mut refused, mut overridden) = (Vec::new(), Vec::new());
        for finding in audit.violated() {
            let rule = finding.rule;
            let is_accepted = |one: &AcceptedViolation| one.dataset == name && one.rule == rule;
            if !rule.is_enforced() {
                say(&format!("{name}: {}", in_words(finding)));
            } else if accepted.iter().any(is_accepted) {
                let said = format!("{name}: {}, and accepted by name", in_words(finding));
                say(&format!("WARNING: {said}; every result says so"));
                overridden.push(said);
            } else {
                let next = finding.next.as_deref().unwrap_or_default();
                refused.push(format!(
                    "{}; {next}; or accept it by name with --accept-violation {name}:{rule}, which is \
                     printed on every result",
                    in_words(finding)
                ));
            }
        }
        self.accepted_violations = overridden;
        if refused.is_empty() {
            return Ok(());
        }
        anyhow::bail!("{name}: {}", refused.join("\n  "))
    }
}

fn in_words(finding: &Finding) -> String {
    format!("{} is violated: {}", finding.rule, finding.verdict.says())
}
