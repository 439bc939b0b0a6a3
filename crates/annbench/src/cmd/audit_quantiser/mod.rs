//! `annbench audit-quantiser NAME`

mod compressed;
mod narrow;
mod text;

use crate::args::AuditQuantiserArgs;
use crate::places::Places;
use crate::subject::{catalogue, watched};
use crate::terminal::say;
use crate::{Answer, interrupt, json};
use annbench_core::Metric;
use annbench_dataset::{Activity, Dataset, Entry, OpenOptions, Progress};
use annbench_results::{CompressedSet, QuantiserAudit, QuantiserError, audit_quantiser as audit};
pub use compressed::parse_format;
use compressed::{Compressed, widened_queries};
pub use narrow::Narrow;
use serde::Serialize;

/// What was audited and what was shown.
#[derive(Serialize)]
struct Audited<'a> {
    dataset: &'a str,
    metric: Metric,
    base_fingerprint: &'a str,
    queries_fingerprint: &'a str,
    n: u64,
    /// Queries of the set; the first so many were audited.
    queries_of_set: u64,
    compressed: String,
    /// Of the decoded vectors, where they come from a file.
    compressed_fingerprint: Option<&'a str>,
    #[serde(flatten)]
    audit: QuantiserAudit,
}

/// Proves, query by query, that a compressed base keeps the nearest neighbours, beside what an exhaustive
/// search of it in fact finds.
pub fn audit_quantiser(places: &Places, args: &AuditQuantiserArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let entry = catalogue(places).entry(&args.name)?;
    refuse(&entry, args.k)?;
    watched(&args.name, args.permits, &pool, |options| {
        audit_opened(&entry, args, options)
    })
}

fn audit_opened(
    entry: &Entry,
    args: &AuditQuantiserArgs,
    options: &OpenOptions<'_>,
) -> anyhow::Result<Answer> {
    let dataset = Dataset::open(entry, options)?;
    for note in dataset.notes() {
        say(&format!("{}: {note}", args.name));
    }
    let compressed = Compressed::of(&dataset, args, options)?;
    let (base, queries) = (dataset.base().vectors(), dataset.queries().vectors());
    let all = queries.n();
    let asked = args.queries.unwrap_or(all).min(all);
    let reconstructed = compressed.vectors()?;
    let widened;
    let queries_given = match reconstructed.element() == queries.element() {
        true => queries,
        false => {
            widened = widened_queries(&dataset, reconstructed.element(), options)?;
            widened.vectors()
        }
    };
    let set = CompressedSet {
        metric: dataset.metric(),
        base,
        queries: queries.slice(0..asked),
        reconstructed,
        queries_given: queries_given.slice(0..asked),
    };
    let path = dataset.base().path();
    let tell = |done: u64, total: u64| {
        (options.watch)(Progress {
            activity: Activity::Audit,
            path,
            done,
            total,
        })
    };
    let found = match audit(options.pool, &set, args.k, &tell) {
        Err(QuantiserError::Cancelled) => {
            anyhow::bail!("interrupted; nothing of the audit is kept")
        }
        found => found?,
    };
    let audited = Audited {
        dataset: dataset.name(),
        metric: dataset.metric(),
        base_fingerprint: dataset.base_fingerprint(),
        queries_fingerprint: dataset.queries_fingerprint(),
        n: base.n() as u64,
        queries_of_set: all as u64,
        compressed: compressed.in_words(),
        compressed_fingerprint: compressed.fingerprint(),
        audit: found,
    };
    Ok(Answer::good(match args.form.json {
        true => json::document(&audited)?,
        false => text::text(&audited),
    }))
}

/// Refuses what the audit refuses, before anything is read.
fn refuse(entry: &Entry, k: usize) -> Result<(), QuantiserError> {
    let n = entry.n();
    match entry.metric {
        Metric::L2 | Metric::Cosine if (1..n).contains(&k) => Ok(()),
        Metric::L2 | Metric::Cosine => Err(QuantiserError::K {
            k,
            most: n.saturating_sub(1),
            n,
        }),
        metric => Err(QuantiserError::Metric { metric }),
    }
}
