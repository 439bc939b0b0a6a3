//! From a catalogue name to what running and scoring need.
//!
//! In this order, so that what is measured, scored and watched are the same bytes:
//!
//! 1. [`Dataset::open`] opens and maps each file once. What the system says of the open file is taken
//!    before anything of it is read; checksums, fingerprints and truth are those of the map.
//! 2. Truth is read or computed from these maps.
//! 3. Copies that libraries need are made from these maps, mapped in their turn, and read back.
//! 4. Workers are given the paths of the maps, and the runner watches these paths for the files that
//!    are mapped ([`FileState::opened`]): one that was replaced in the meantime ends the run before it
//!    measures anything.
//!
//! What was found on the way is said once, when it is done; doubts about files stand on every result.

mod findings;
mod hardness;
mod judged;
mod planned;
mod relevance;
mod strata;
mod watcher;

use crate::args::{Permits, Selection};
use crate::places::Places;
use crate::terminal::say;
use crate::work::AdapterInUse;
use annbench_core::{ElementType, Metric};
use annbench_dataset::{Catalogue, Dataset, Entry, MappedVectors, OpenOptions, Truth};
use annbench_results::{DatasetInfo, Relevance, ScoringSet, Strata, TruthInfo, TruthOrigin};
use annbench_runner::{FileState, GivenVectors, Subject, SubjectFacts};
pub use hardness::{Hardness, Spread};
pub use planned::Planned;
use std::collections::BTreeMap;
use std::sync::Arc;
pub use watcher::watched;

/// The entries in the datasets folder.
pub fn catalogue(places: &Places) -> Catalogue {
    let catalogue = Catalogue::new(&places.datasets);
    match &places.data {
        Some(data) => catalogue.with_extra(data),
        None => catalogue,
    }
}

/// What a dataset is opened for.
pub struct Asked<'w> {
    /// What was permitted by name.
    pub permits: Permits,
    /// Neighbours per query that computed truth must have, unless there are fewer rows.
    pub k: usize,
    /// For the set's metric and element type, which others its vectors are to be given in.
    pub elements: &'w dyn Fn(Metric, ElementType) -> Vec<ElementType>,
}

impl Asked<'_> {
    /// Nothing will be built.
    pub fn for_scoring(permits: Permits, k: usize) -> Self {
        Self {
            permits,
            k,
            elements: &|_, _| Vec::new(),
        }
    }
}

/// A dataset whose files are checked and mapped, with its truth.
pub struct Opened {
    dataset: Dataset,
    truth: Arc<Truth>,
    strata: Vec<Strata>,
    relevance: Option<Relevance>,
    /// Why there are no judgements of relevance, where the entry names some.
    unjudged: Option<String>,
    given: Vec<GivenVectors>,
    files: Vec<FileState>,
    accepted_violations: Vec<String>,
}

impl Opened {
    /// Opens one dataset and its truth, and says what was found.
    ///
    /// # Errors
    /// Whatever is wrong with its entry or files.
    pub fn new(
        places: &Places,
        name: &str,
        asked: &Asked<'_>,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<Self> {
        let opened = Self::quietly(places, name, asked, pool)?;
        for note in opened.notes() {
            say(&format!("{name}: {note}"));
        }
        for warning in opened.warnings() {
            say(&format!("WARNING: {name}: {warning}"));
        }
        Ok(opened)
    }

    /// Opens one dataset and its truth; where none is shipped, it is computed and kept. The caller
    /// tells what was found.
    ///
    /// # Errors
    /// Whatever is wrong with its entry or files.
    pub fn quietly(
        places: &Places,
        name: &str,
        asked: &Asked<'_>,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<Self> {
        let entry = catalogue(places).entry(name)?;
        watched(name, asked.permits, pool, |options| {
            Self::open(&entry, asked, options)
        })
    }

    fn open(entry: &Entry, asked: &Asked<'_>, options: &OpenOptions<'_>) -> anyhow::Result<Self> {
        let dataset = Dataset::open(entry, options)?;
        // Shipped truth may be narrower than k: the points that need more are refused one by one.
        let k = match dataset.shipped_truth() {
            Some(_) => 1,
            None => asked.k.min(dataset.base().vectors().n()),
        };
        let truth = dataset.truth(k, options)?;
        let (relevance, unjudged) = relevance::relevance(&dataset)?;
        let (mut given, mut files) = (Vec::new(), Vec::new());
        // The set's own element type first: it is preferred where the library takes it.
        let own = dataset.element();
        for element in std::iter::once(own).chain((asked.elements)(dataset.metric(), own)) {
            if let Some((base, queries)) = dataset.widened(element, options)? {
                files.extend([&base, &queries].map(file_state));
                given.push(GivenVectors {
                    element,
                    base: base.map_spec(),
                    queries: queries.map_spec(),
                });
            }
        }
        Ok(Self {
            dataset,
            truth,
            strata: Vec::new(),
            relevance,
            unjudged,
            given,
            files,
            accepted_violations: Vec::new(),
        })
    }

    /// Opens and judges every dataset of a selection before anything is measured.
    ///
    /// # Errors
    /// The first that cannot be opened, or that violates an enforced rule which is not accepted.
    pub fn all(
        places: &Places,
        names: &[String],
        selection: &Selection,
        adapters: &BTreeMap<String, AdapterInUse>,
        k: usize,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<Vec<Self>> {
        // Widened only where a library does not take the set as it is.
        let elements = |metric, own: ElementType| {
            ElementType::ALL
                .into_iter()
                .filter(|&element| element != own && own.widens_to(element))
                .filter(|&element| {
                    adapters
                        .values()
                        .any(|a| !a.takes(metric, own) && a.takes(metric, element))
                })
                .collect()
        };
        names
            .iter()
            .map(|name| {
                let asked = Asked {
                    permits: selection.permits(name),
                    k,
                    elements: &elements,
                };
                let mut opened = Self::new(places, name, &asked, pool)?;
                opened.judge(name, &selection.accept_violation, pool)?;
                Ok(opened)
            })
            .collect()
    }

    /// The dataset itself.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The dataset as the runner and the scorer need it.
    pub fn subject(&self) -> Subject<'_> {
        let dataset = &self.dataset;
        let facts = SubjectFacts {
            info: DatasetInfo {
                name: dataset.name().to_owned(),
                base_fingerprint: dataset.base_fingerprint().to_owned(),
                queries_fingerprint: dataset.queries_fingerprint().to_owned(),
                metric: dataset.metric(),
                element: dataset.element(),
                n: dataset.base().vectors().n() as u64,
                queries: dataset.queries().vectors().n() as u64,
                dim: dataset.dim() as u64,
            },
            given: self.given.clone(),
            truth: TruthInfo {
                fingerprint: self.truth.fingerprint().to_owned(),
                origin: match self.truth.origin() {
                    annbench_dataset::TruthOrigin::Shipped => TruthOrigin::Shipped,
                    annbench_dataset::TruthOrigin::Computed => TruthOrigin::Computed,
                },
                width: self.truth.width() as u64,
                proved_queries: self.proved_queries(),
                refuted_by: self.refutation(),
            },
            accepted_checksums: findings::accepted(dataset)
                .chain(findings::uncompared(dataset))
                .collect(),
            narrowed: findings::narrowed(dataset).collect(),
            accepted_violations: self.accepted_violations.clone(),
            files: self.files.clone(),
        };
        Subject {
            facts,
            scoring: self.scoring(&self.strata),
        }
    }

    /// What answers are scored against, by `strata`.
    fn scoring<'o>(&'o self, strata: &'o [Strata]) -> ScoringSet<'o> {
        let dataset = &self.dataset;
        ScoringSet {
            metric: dataset.metric(),
            base: dataset.base().vectors(),
            queries: dataset.queries().vectors(),
            truth_ids: self.truth.ids(),
            truth_distances: self.truth.distances(),
            truth_width: self.truth.width(),
            max_base_norm: dataset.max_base_norm(),
            strata,
            relevance: self.relevance.as_ref(),
        }
    }

    /// Whether an exact search has found a nearer row than the truth.
    pub fn is_refuted(&self) -> bool {
        self.truth.refuted().is_some()
    }

    /// Queries whose neighbours are proved, where none is refuted.
    fn proved_queries(&self) -> Option<u64> {
        let proved = match self.truth.origin() {
            annbench_dataset::TruthOrigin::Shipped => self.truth.sampled_queries(),
            // What an exact search of finite vectors gives.
            annbench_dataset::TruthOrigin::Computed => self.truth.queries(),
        };
        (!self.is_refuted()).then_some(proved as u64)
    }

    fn refutation(&self) -> Option<String> {
        self.truth.refuted().map(|r| {
            format!(
                "row {} at distance {} from query {}, nearer than its neighbour {} at {}",
                r.id, r.distance, r.query, r.k, r.truth_distance
            )
        })
    }

    /// How the truth stands, in words.
    pub fn truth_verdict(&self) -> String {
        let origin = match self.truth.origin() {
            annbench_dataset::TruthOrigin::Shipped => "shipped",
            annbench_dataset::TruthOrigin::Computed => "computed exactly",
        };
        match self.refutation() {
            Some(evidence) => format!("{origin}, REFUTED by {evidence}"),
            None if self.truth.sampled_queries() == self.truth.queries() => {
                format!("{origin}; ids checked, distances recomputed; proved for every query")
            }
            None if self.truth.sampled_queries() > 0 => format!(
                "{origin}; ids checked, distances recomputed; an exact search for {} sampled queries \
                 agrees",
                self.truth.sampled_queries()
            ),
            None => format!("{origin}; ids checked, distances recomputed"),
        }
    }

    /// What the entry itself tells its users.
    pub fn entry_notes(&self) -> &[String] {
        &self.dataset.entry().notes
    }

    /// What opening found and a user should know.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = findings::notes(&self.dataset, Some(&self.truth));
        notes.extend(self.unjudged.clone());
        notes
    }

    /// What stands on every result.
    pub fn warnings(&self) -> Vec<String> {
        let refuted = self.is_refuted().then(|| self.truth_verdict());
        findings::warnings(&self.dataset)
            .chain(refuted.map(|verdict| format!("truth {verdict}")))
            .collect()
    }

    /// Checksums that did not match and were accepted, a sentence each.
    pub fn accepted_checksums(&self) -> Vec<String> {
        findings::accepted(&self.dataset).collect()
    }
}

/// The file that is mapped, for the runner to look at again.
fn file_state(vectors: &MappedVectors) -> FileState {
    FileState::opened(vectors.path(), vectors.metadata())
}

#[cfg(test)]
mod tests;
