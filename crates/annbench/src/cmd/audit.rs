use crate::args::AuditArgs;
use crate::places::Places;
use crate::subject::{catalogue, watched};
use crate::{Answer, interrupt, json};
use annbench_dataset::{Audit, AuditDepth, audit};
use std::fmt::Write;

/// `annbench datasets audit NAME`
pub fn audit_dataset(places: &Places, args: &AuditArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let entry = catalogue(places).entry(&args.name)?;
    let depth = match args.queries {
        _ if args.quick => AuditDepth::Quick,
        Some(queries) => AuditDepth::Queries(queries),
        None => AuditDepth::Full,
    };
    let audit = watched(&args.name, args.permits, &pool, |options| {
        audit(&entry, depth, options)
    })?;
    Ok(Answer {
        good: audit.violated().next().is_none(),
        text: match args.form.json {
            true => json::document(&audit)?,
            false => in_words(&audit),
        },
    })
}

/// A line for every rule, and one for what to do.
fn in_words(audit: &Audit) -> String {
    let mut text = format!("{}: {}\n", audit.dataset, audit.metric);
    let width = audit.findings.iter().map(|f| f.rule.name().len()).max();
    let width = width.unwrap_or(0);
    for finding in &audit.findings {
        let _ = write!(
            text,
            "  {:width$}  {:11}  {}",
            finding.rule,
            finding.verdict.word(),
            finding.verdict.says()
        );
        let _ = match &finding.next {
            Some(next) => writeln!(text, " -> {next}"),
            None => writeln!(text),
        };
    }
    let violated = audit.violated().count();
    let enforced: Vec<&str> = audit
        .violated()
        .map(|finding| finding.rule)
        .filter(|rule| rule.is_enforced())
        .map(|rule| rule.name())
        .collect();
    let _ = writeln!(
        text,
        "{violated} of {} rules violated{}",
        audit.findings.len(),
        match enforced.is_empty() {
            true => String::new(),
            false => format!(
                "; no recall means what it seems to while these are: {}",
                enforced.join(", ")
            ),
        }
    );
    text
}
