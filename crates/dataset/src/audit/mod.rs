//! Audits: what must be so for numbers measured on a dataset to mean what they seem to.
//!
//! Each rule has a file and a name of its own ([`Rule`]) and is judged over opened maps: nothing here
//! knows of terminals or networks. A verdict comes with its evidence. Rules and bounds are those of
//! work on ground truth of others: exact duplicates by hash and comparison, near ones by D_1, truth
//! against recomputed distances and a certificate per query, the bound of a sample by Clopper and
//! Pearson or, where it found nothing, by the hypergeometric distribution of the finite query set.

mod agreement;
mod beside;
mod convention;
mod corpus_matches;
mod duplicates_in_base;
mod duplicates_in_queries;
mod element_range;
mod finding;
mod finite;
mod metric_matches;
mod near_duplicates;
mod norms;
mod probe;
mod queries_held_out;
mod query_distribution;
mod rule;
mod sameness;
mod scan;
mod shape;
mod shipped_distances;
mod subject;
mod ties;
mod truth_exact;
mod truth_ids;
mod truth_order;
mod words;
mod zero_vectors;

use crate::content::NotFinite;
use crate::dataset::cache;
use crate::opening::Opening;
use crate::truth::{Claimed, Distances, claimed_truth};
use crate::{Dataset, DatasetError, Entry, OpenOptions};
use annbench_core::{Metric, Vectors};
pub use finding::{Finding, Verdict};
use metric_matches::Fits;
use probe::Probe;
pub use rule::Rule;
use scan::scan;
use serde::{Deserialize, Serialize};
use subject::{Claim, Scans, Subject};

const TOO_LARGE: &str = "the base is too large for a quick look: audit the dataset";

/// Rules about distances, all of which have to be defined.
const OF_DISTANCES: [Rule; 8] = [
    Rule::NearDuplicates,
    Rule::TruthOrder,
    Rule::ShippedDistances,
    Rule::MetricMatches,
    Rule::CorpusMatches,
    Rule::TruthExact,
    Rule::Ties,
    Rule::QueryDistribution,
];

const UNDEFINED: &str = "distances to rows that are not finite are not defined";

/// Components that are multiplied for the queries of a full audit: a minute or two of work.
const FULL_COMPONENTS: u64 = 2_000_000_000_000;

/// Of a quick one: some seconds, and no more than this many queries.
const QUICK_COMPONENTS: u64 = 32 * 200_000_000;
const QUICK_QUERIES: usize = 32;

/// Bytes of vectors that a quick audit reads.
const QUICK_BYTES: usize = 4 << 30;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditDepth {
    /// Every rule; of the queries all, or where that would take long, as many as take a minute or two.
    Full,
    /// Every rule, with the certificate of so many queries.
    Queries(usize),
    /// What costs seconds, for a dataset that is about to be used.
    Quick,
}

/// Verdicts on a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Catalogue name.
    pub dataset: String,
    /// Metric of the entry.
    pub metric: Metric,
    /// Of the base.
    pub base_fingerprint: String,
    /// Of the queries.
    pub queries_fingerprint: String,
    /// One for each rule that was judged, in the order of [`Rule::ALL`].
    pub findings: Vec<Finding>,
}

impl Audit {
    /// Violated rules.
    pub fn violated(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_violated())
    }

    /// The verdict on `rule`, if it was judged.
    pub fn finding(&self, rule: Rule) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.rule == rule)
    }
}

/// Opens the vectors of `entry` and judges them and the truth that is shipped with them, which may be
/// anything.
///
/// # Errors
/// Whatever opening vectors refuses but values that are not finite, which a rule counts, and [`DatasetError::Cancelled`].
pub fn audit(
    entry: &Entry,
    depth: AuditDepth,
    options: &OpenOptions<'_>,
) -> Result<Audit, DatasetError> {
    let alone = Entry {
        truth: None,
        ..entry.clone()
    };
    let dataset = Dataset::open_with(&alone, options, NotFinite::Read)?;
    let queries = dataset.queries().vectors().n();
    let claimed = match &entry.truth {
        None => Err(Claim::None("no truth is shipped: it is computed, exactly")),
        Some(_) if !dataset.narrowed().is_empty() => Err(Claim::None(
            "vectors were rounded, so the shipped truth is not theirs",
        )),
        Some(part) => {
            // Files, sizes and checksums as for use.
            let opening = Opening::new(entry, options, NotFinite::Read)?;
            let file = opening.file(&part.file)?;
            match claimed_truth(entry, part, &file, queries) {
                Ok(claimed) => Ok(claimed),
                Err(DatasetError::Contents(why)) => {
                    let why = why.to_string();
                    return judge_all(&dataset, Claim::Unreadable(&why), depth, options);
                }
                Err(other) => return Err(other),
            }
        }
    };
    match &claimed {
        Ok(claimed) => judge_all(&dataset, Claim::Read(claimed), depth, options),
        Err(none) => judge_all(&dataset, *none, depth, options),
    }
}

/// Judges a dataset that is open: its truth has been read, and is in order.
///
/// # Errors
/// [`DatasetError::Exact`] and [`DatasetError::Cancelled`].
pub fn audit_opened(
    dataset: &Dataset,
    depth: AuditDepth,
    options: &OpenOptions<'_>,
) -> Result<Audit, DatasetError> {
    let Some(truth) = dataset.shipped_truth() else {
        let none = Claim::None("no truth is shipped: it is computed, exactly");
        return judge_all(dataset, none, depth, options);
    };
    let claimed = Claimed {
        width: truth.width(),
        rows: truth.queries(),
        whole: truth.queries(),
        ids: truth.ids().iter().map(|&id| i64::from(id)).collect(),
        distances: Distances::NotShipped,
    };
    judge_all(dataset, Claim::Read(&claimed), depth, options)
}

/// Raised when a quick audit would find something else: what an older one has found is not used.
const QUICK_VERSION: u32 = 2;

/// A quick audit of a dataset that is open; remembered under the fingerprints of vectors and truth.
///
/// # Errors
/// As [`audit_opened`].
pub fn quick_audit(dataset: &Dataset, options: &OpenOptions<'_>) -> Result<Audit, DatasetError> {
    let cache = cache(dataset.entry(), "audits");
    let truth = dataset.shipped_truth().map(|truth| truth.fingerprint());
    let what = format!("audit {QUICK_VERSION} {}", truth.unwrap_or("none"));
    let key = dataset.space().key(&what);
    if let Some(known) = cache.read::<Audit>(&cache.path(&key, "json")) {
        return Ok(Audit {
            dataset: dataset.name().to_owned(),
            ..known
        });
    }
    let audit = audit_opened(dataset, AuditDepth::Quick, options)?;
    if let Err(error) = cache.write(&key, &audit) {
        dataset.note(vec![format!("an audit could not be remembered: {error}")]);
    }
    Ok(audit)
}

fn judge_all(
    dataset: &Dataset,
    truth: Claim<'_>,
    depth: AuditDepth,
    options: &OpenOptions<'_>,
) -> Result<Audit, DatasetError> {
    let subject = Subject {
        base: dataset.base().vectors(),
        queries: dataset.queries().vectors(),
        metric: dataset.metric(),
        max_base_norm: dataset.max_base_norm(),
        base_path: dataset.base().path(),
        truth,
        pool: options.pool,
        watch: options.watch,
    };
    let mut findings = match depth {
        AuditDepth::Quick => judge_quickly(&subject)?,
        AuditDepth::Full => judge(&subject, affordable(&subject, FULL_COMPONENTS).max(1))?,
        AuditDepth::Queries(wanted) => judge(&subject, wanted.max(1))?,
    };
    if depth != AuditDepth::Quick {
        findings.extend(beside::beside(dataset)?);
    }
    findings.sort_by_key(|finding| finding.rule);
    Ok(Audit {
        dataset: dataset.name().to_owned(),
        metric: dataset.metric(),
        base_fingerprint: dataset.base_fingerprint().to_owned(),
        queries_fingerprint: dataset.queries_fingerprint().to_owned(),
        findings,
    })
}

/// Queries whose search of the whole base reads so many components.
fn affordable(subject: &Subject<'_>, components: u64) -> usize {
    let base = match subject.base {
        Vectors::Sets(sets) => sets.ids().len() as u64,
        Vectors::Bits(rows) => rows.bytes().data().len() as u64,
        base => base.n() as u64 * base.dim() as u64,
    };
    usize::try_from(components / base.max(1)).unwrap_or(usize::MAX)
}

fn scans(subject: &Subject<'_>) -> Result<Scans, DatasetError> {
    let n = subject.base.n() as u64;
    let meter = subject.meter(n + subject.queries.n() as u64);
    Ok(Scans {
        base: scan(subject.base, subject.pool, &meter, 0)?,
        queries: scan(subject.queries, subject.pool, &meter, n)?,
    })
}

fn judge(subject: &Subject<'_>, queries: usize) -> Result<Vec<Finding>, DatasetError> {
    let scans = scans(subject)?;
    let finite = finite::finite(&scans);
    let unreadable = finite.is_violated();
    let mut findings = vec![
        shape::shape(subject),
        finite,
        element_range::element_range(&scans),
        norms::norms(subject, &scans),
        zero_vectors::zero_vectors(subject, &scans),
        duplicates_in_base::duplicates_in_base(subject)?,
        duplicates_in_queries::duplicates_in_queries(subject)?,
        queries_held_out::queries_held_out(subject)?,
        truth_ids::truth_ids(subject),
    ];
    if unreadable {
        findings.extend(OF_DISTANCES.map(|rule| Finding::cannot_tell(rule, UNDEFINED)));
        return Ok(findings);
    }
    let probe = Probe::new(subject, queries)?;
    let fits = Fits::new(subject, &probe, true)?;
    let nothing = Fits::none(subject.metric);
    findings.extend([
        near_duplicates::near_duplicates(subject, &probe),
        truth_order::truth_order(subject),
        shipped_distances::shipped_distances(subject, &probe, fits.as_ref().unwrap_or(&nothing)),
        metric_matches::metric_matches(subject, fits.as_ref()),
        corpus_matches::corpus_matches(subject, Some(&probe), fits.as_ref())?,
        truth_exact::truth_exact(subject, &probe),
        ties::ties(subject, &probe),
        query_distribution::query_distribution(subject, &probe)?,
    ]);
    Ok(findings)
}

/// What costs seconds. What is not looked at is left out, but for the rules that are enforced.
fn judge_quickly(subject: &Subject<'_>) -> Result<Vec<Finding>, DatasetError> {
    let mut findings = vec![shape::shape(subject), truth_ids::truth_ids(subject)];
    let bytes = subject.base.component_bytes().len() + subject.queries.component_bytes().len();
    if bytes <= QUICK_BYTES {
        let scans = scans(subject)?;
        findings.extend([
            finite::finite(&scans),
            element_range::element_range(&scans),
            norms::norms(subject, &scans),
            zero_vectors::zero_vectors(subject, &scans),
            queries_held_out::queries_held_out(subject)?,
        ]);
    } else {
        findings.push(Finding::cannot_tell(Rule::QueriesHeldOut, TOO_LARGE));
    }
    if findings
        .iter()
        .any(|f| f.rule == Rule::Finite && f.is_violated())
    {
        let enforced = [Rule::MetricMatches, Rule::CorpusMatches];
        findings.extend(enforced.map(|rule| Finding::cannot_tell(rule, UNDEFINED)));
        return Ok(findings);
    }
    let queries = affordable(subject, QUICK_COMPONENTS).min(QUICK_QUERIES);
    if queries == 0 || subject.claimed().is_err() {
        findings.extend([
            metric_matches::metric_matches(subject, None),
            corpus_matches::corpus_matches(subject, None, None)?,
        ]);
        return Ok(findings);
    }
    let probe = Probe::new(subject, queries)?;
    let fits = Fits::new(subject, &probe, false)?;
    findings.extend([
        metric_matches::metric_matches(subject, fits.as_ref()),
        corpus_matches::corpus_matches(subject, Some(&probe), fits.as_ref())?,
        truth_exact::truth_exact(subject, &probe),
    ]);
    Ok(findings)
}
