use crate::cache::Cache;
use crate::catalogue::Entry;
use crate::content::{ContentFacts, NotFinite};
use crate::copy::Effects;
use crate::mapped::{MappedFile, MappedVectors};
use crate::opening::Opening;
use crate::truth::{Space, Truth, check_all, check_sample, shipped_truth};
use crate::widen::widen;
use crate::{DatasetError, Watch};
use annbench_core::{ElementType, Metric, norm};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Neighbours per query that computed truth has at least, where the base has as many.
const COMPUTED_WIDTH: usize = 100;

/// What opening may use and whom it tells.
#[derive(Clone, Copy)]
pub struct OpenOptions<'o> {
    /// Whether a file with another checksum than the catalogue's is taken all the same.
    pub accept_checksum: bool,
    /// Whether numbers that the element type does not have are rounded to the nearest that it has.
    /// Where any are, the vectors are others: shipped truth is not used but computed.
    pub narrow: bool,
    /// Threads for hashing, distances and exact truth.
    pub pool: &'o rayon::ThreadPool,
    /// Hears of progress and may cancel.
    pub watch: Watch<'o>,
}

/// A checksum that did not match and was accepted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedChecksum {
    /// File name as the entry gives it.
    pub file: String,
    /// The entry's key: sha256 or flat_sha256.
    pub key: &'static str,
    /// From the catalogue.
    pub expected: String,
    /// Of the file.
    pub found: String,
}

impl fmt::Display for AcceptedChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            key,
            expected,
            found,
        } = self;
        write!(f, "{file}: expected {key} {expected}, found {found}")
    }
}

/// A checksum that is known but could not be compared, because not all of the file is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncomparedChecksum {
    /// File name as the entry gives it.
    pub file: String,
    /// The entry's key: sha256 or flat_sha256.
    pub key: &'static str,
    /// From the catalogue.
    pub expected: String,
    /// What is there instead of the whole file.
    pub because: String,
}

impl fmt::Display for UncomparedChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            key,
            expected,
            because,
        } = self;
        write!(
            f,
            "{file}: expected {key} {expected}, not compared: {because}"
        )
    }
}

/// Vectors of which values were rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarrowedPart {
    /// `base` or `queries`.
    pub role: &'static str,
    /// File name as the entry gives it.
    pub file: String,
    /// Values that are not those of the file.
    pub values: u64,
}

/// A dataset whose files have been checked and mapped.
#[derive(Debug)]
pub struct Dataset {
    entry: Entry,
    base: MappedVectors,
    queries: MappedVectors,
    base_facts: ContentFacts,
    queries_facts: ContentFacts,
    undefined_queries: Vec<u32>,
    truth: Option<Arc<Truth>>,
    accepted_checksums: Vec<AcceptedChecksum>,
    narrowed: Vec<NarrowedPart>,
    uncompared_checksums: Vec<UncomparedChecksum>,
    notes: Vec<String>,
    later_notes: Mutex<Vec<String>>,
    pub(crate) beside: BTreeMap<String, MappedFile>,
}

impl Dataset {
    /// Finds, checks and maps the files of `entry`.
    ///
    /// Sizes against headers and the entry, checksums, finiteness and truth ids are checked; what
    /// takes long is remembered for files that do not change.
    ///
    /// # Errors
    /// Any [`DatasetError`] but those about k.
    pub fn open(entry: &Entry, options: &OpenOptions<'_>) -> Result<Dataset, DatasetError> {
        Self::open_with(entry, options, NotFinite::Refused)
    }

    /// As [`Dataset::open`]; with [`NotFinite::Read`] it is for looking at alone, for no distance to some rows
    /// need be defined.
    pub(crate) fn open_with(
        entry: &Entry,
        options: &OpenOptions<'_>,
        not_finite: NotFinite,
    ) -> Result<Dataset, DatasetError> {
        let mut opening = Opening::new(entry, options, not_finite)?;
        let (base, base_facts) = opening.vectors(&entry.base, "base")?;
        let (queries, queries_facts) = opening.vectors(&entry.queries, "queries")?;
        let undefined_queries = match zero(entry.metric) {
            Some(_) if queries_facts.zero_rows > 0 => zero_rows(&queries),
            _ => Vec::new(),
        };
        if let Some(zero) = zero(entry.metric) {
            if undefined_queries.len() == entry.queries.n() {
                let file = opening.file(&entry.queries.file)?;
                return Err(all_undefined(file.path(), undefined_queries.len(), zero));
            }
            if !undefined_queries.is_empty() {
                opening.notes.push(format!(
                    "queries that are {zero}: {} of {}; they are left out of recall",
                    undefined_queries.len(),
                    entry.queries.n()
                ));
            }
            if base_facts.zero_rows > 0 {
                opening.notes.push(format!(
                    "base rows that are {zero}: {} of {}; they are at distance 1 from everything",
                    base_facts.zero_rows,
                    entry.n()
                ));
            }
        }
        let mut dataset = Dataset {
            entry: entry.clone(),
            base,
            queries,
            base_facts,
            queries_facts,
            undefined_queries,
            truth: None,
            accepted_checksums: Vec::new(),
            narrowed: opening.narrowed.clone(),
            uncompared_checksums: Vec::new(),
            notes: Vec::new(),
            later_notes: Mutex::default(),
            beside: opening.beside.clone(),
        };
        if let Some(part) = &entry.truth
            && dataset.narrowed.is_empty()
        {
            let file = opening.file(&part.file)?;
            let space = dataset.space();
            let mut truth = shipped_truth(entry, part, &file, &space, options.pool)?;
            match dataset.kept_truth(truth.width(), options)? {
                Some(proved) => check_all(&mut truth, &space, &proved),
                None => check_sample(
                    &mut truth,
                    &space,
                    &cache(entry, "truth"),
                    options.pool,
                    options.watch,
                    dataset.base.path(),
                    &mut opening.notes,
                )?,
            }
            dataset.truth = Some(Arc::new(truth));
        }
        if entry.truth.is_some() && !dataset.narrowed.is_empty() {
            opening.notes.push(
                "vectors were rounded, so the shipped truth is not theirs: exact truth is computed"
                    .to_owned(),
            );
        }
        dataset.accepted_checksums = opening.accepted;
        dataset.uncompared_checksums = opening.uncompared;
        dataset.notes = opening.notes;
        Ok(dataset)
    }

    /// The catalogue entry.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Catalogue name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Metric.
    pub fn metric(&self) -> Metric {
        self.entry.metric
    }

    /// Element type.
    pub fn element(&self) -> ElementType {
        self.entry.element
    }

    /// Components per vector.
    pub fn dim(&self) -> usize {
        self.entry.dim
    }

    /// The base, `[n, dim]`.
    pub fn base(&self) -> &MappedVectors {
        &self.base
    }

    /// The queries, `[queries, dim]`.
    pub fn queries(&self) -> &MappedVectors {
        &self.queries
    }

    /// BLAKE3 of the base's element type, shape and rows: the same in every layout.
    pub fn base_fingerprint(&self) -> &str {
        &self.base_facts.fingerprint
    }

    /// BLAKE3 of the queries' element type, shape and rows.
    pub fn queries_fingerprint(&self) -> &str {
        &self.queries_facts.fingerprint
    }

    /// max |x| over the base.
    pub fn max_base_norm(&self) -> f64 {
        self.base_facts.max_norm
    }

    /// Queries without a nearest neighbour: zero vectors under cosine, empty sets under jaccard.
    pub fn undefined_queries(&self) -> &[u32] {
        &self.undefined_queries
    }

    /// Shipped truth, if there is any and it is that of these vectors.
    pub fn shipped_truth(&self) -> Option<&Arc<Truth>> {
        self.truth.as_ref()
    }

    /// Checksums that did not match and were accepted.
    pub fn accepted_checksums(&self) -> &[AcceptedChecksum] {
        &self.accepted_checksums
    }

    /// Vectors of which values were rounded, if any were.
    pub fn narrowed(&self) -> &[NarrowedPart] {
        &self.narrowed
    }

    /// Checksums that are known and could not be compared.
    pub fn uncompared_checksums(&self) -> &[UncomparedChecksum] {
        &self.uncompared_checksums
    }

    /// What opening found and a user should know. What the entry itself says is in its own notes.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What [`Dataset::truth`] and [`Dataset::widened`] have found since and a user should know.
    pub fn later_notes(&self) -> Vec<String> {
        self.later_notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Truth of at least `k` neighbours: the shipped one, or where none is shipped an exact one,
    /// which is computed once and kept.
    ///
    /// # Errors
    /// [`DatasetError::TooManyNeighbors`], [`DatasetError::NarrowTruth`], [`DatasetError::Exact`],
    /// [`DatasetError::Cancelled`].
    pub fn truth(&self, k: usize, options: &OpenOptions<'_>) -> Result<Arc<Truth>, DatasetError> {
        let n = self.entry.n();
        if k > n {
            return Err(DatasetError::TooManyNeighbors {
                dataset: self.entry.name.clone(),
                k,
                n,
            });
        }
        match &self.truth {
            Some(truth) if k <= truth.width() => Ok(Arc::clone(truth)),
            Some(truth) => Err(DatasetError::NarrowTruth {
                dataset: self.entry.name.clone(),
                k,
                width: truth.width(),
            }),
            None => {
                let width = k.max(COMPUTED_WIDTH).min(n);
                Ok(Arc::new(self.computed_truth(width, options)?))
            }
        }
    }

    /// Base and queries as `element`, to which every value must widen without loss; made once and
    /// kept.
    ///
    /// Returns `None` when values of the set do not widen to `element`.
    ///
    /// # Errors
    /// [`DatasetError::Io`], [`DatasetError::Cancelled`], and [`DatasetError::Contents`] when what was
    /// written does not read back.
    pub fn widened(
        &self,
        element: ElementType,
        options: &OpenOptions<'_>,
    ) -> Result<Option<(MappedVectors, MappedVectors)>, DatasetError> {
        if element == self.entry.element {
            return Ok(Some((self.base.clone(), self.queries.clone())));
        }
        if !self.entry.element.widens_to(element) {
            return Ok(None);
        }
        let cache = cache(&self.entry, "flat");
        let mut notes = Vec::new();
        let mut effects = Effects {
            not_finite: NotFinite::Refused,
            facts: &self::cache(&self.entry, "facts"),
            pool: options.pool,
            watch: options.watch,
            notes: &mut notes,
        };
        let widened = widen(
            &self.base,
            element,
            self.base_fingerprint(),
            &cache,
            &mut effects,
        )
        .and_then(|base| {
            let fingerprint = self.queries_fingerprint();
            let queries = widen(&self.queries, element, fingerprint, &cache, &mut effects)?;
            Ok(Some((base, queries)))
        });
        self.note(notes);
        widened
    }

    pub(crate) fn note(&self, notes: Vec<String>) {
        self.later_notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(notes);
    }

    pub(crate) fn space(&self) -> Space<'_> {
        Space {
            base: self.base.vectors(),
            queries: self.queries.vectors(),
            metric: self.entry.metric,
            base_fingerprint: &self.base_facts.fingerprint,
            queries_fingerprint: &self.queries_facts.fingerprint,
            max_base_norm: self.base_facts.max_norm,
        }
    }
}

pub(crate) fn cache(entry: &Entry, kind: &str) -> Cache {
    Cache::new(entry.places.cache(kind))
}

/// What the metric is not defined at, in words.
fn zero(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::Cosine => Some("zero and have no direction under cosine"),
        Metric::Jaccard => Some("empty and share nothing under jaccard"),
        _ => None,
    }
}

fn all_undefined(path: &Path, queries: usize, zero: &str) -> DatasetError {
    DatasetError::contents(
        path,
        "queries",
        "one at least that has a nearest neighbour",
        format!("{queries}, all of them {zero}"),
        "nothing could be scored: provide other queries, or correct `metric` in the dataset entry",
    )
}

fn zero_rows(vectors: &MappedVectors) -> Vec<u32> {
    let vectors = vectors.vectors();
    (0..vectors.n() as u32)
        .filter(|&i| norm(vectors.row(i as usize)) == 0.0)
        .collect()
}
