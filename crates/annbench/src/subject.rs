//! From a catalogue name to what running and scoring need.

use crate::args::Selection;
use crate::interrupt;
use crate::places::Places;
use crate::terminal::say;
use crate::work::AdapterInUse;
use annbench_core::wire::MapSpec;
use annbench_core::{ElementType, Metric};
use annbench_dataset::{
    Activity, Catalogue, Dataset, DatasetError, Entry, OpenOptions, Progress, Truth,
};
use annbench_results::{DatasetInfo, ScoringSet, TruthInfo, TruthOrigin};
use annbench_runner::{FileState, GivenVectors, Subject, SubjectFacts};
use anyhow::Context;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    /// Whether a file with another checksum than the recorded one is taken.
    pub accept_checksum: bool,
    /// Neighbours per query that computed truth must have, unless there are fewer rows.
    pub k: usize,
    /// For the set's metric and element type, which others its vectors are to be given in.
    pub elements: &'w dyn Fn(Metric, ElementType) -> Vec<ElementType>,
}

impl Asked<'_> {
    /// Nothing will be built.
    pub fn for_scoring(accept_checksum: bool, k: usize) -> Self {
        Self {
            accept_checksum,
            k,
            elements: &|_, _| Vec::new(),
        }
    }
}

/// A dataset whose files are checked and mapped, with its truth.
pub struct Opened {
    dataset: Dataset,
    truth: Arc<Truth>,
    given: Vec<GivenVectors>,
    files: Vec<FileState>,
}

impl Opened {
    /// Opens one dataset and its truth; where none is shipped, it is computed and kept.
    ///
    /// # Errors
    /// Whatever is wrong with its entry or files.
    pub fn new(
        places: &Places,
        name: &str,
        asked: &Asked<'_>,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<Self> {
        let entry = catalogue(places).entry(name)?;
        let watcher = Watcher::new(name);
        let watch = |progress: Progress<'_>| watcher.watch(progress);
        let options = OpenOptions {
            accept_checksum: asked.accept_checksum,
            narrow: false,
            pool,
            watch: &watch,
        };
        let dataset = Dataset::open(&entry, &options)?;
        // Shipped truth may be narrower than k: the points that need more are refused one by one.
        let k = match dataset.shipped_truth() {
            Some(_) => 1,
            None => asked.k.min(dataset.base().vectors().n()),
        };
        let truth = dataset.truth(k, &options)?;
        let mut given = Vec::new();
        // The set's own element type first: it is preferred where the library takes it.
        let own = dataset.element();
        for element in std::iter::once(own).chain((asked.elements)(dataset.metric(), own)) {
            if let Some((base, queries)) = dataset.widened(element, &options)? {
                given.push(GivenVectors {
                    element,
                    base: base.map_spec(),
                    queries: queries.map_spec(),
                });
            }
        }
        let mut files = Vec::new();
        for given in &given {
            for map in [&given.base, &given.queries] {
                let state = FileState::of(&map.path);
                files.push(state.with_context(|| format!("{}", map.path.display()))?);
            }
        }
        let opened = Self {
            dataset,
            truth,
            given,
            files,
        };
        for note in opened.dataset.later_notes() {
            say(&format!("{name}: {note}"));
        }
        for accepted in opened.dataset.accepted_checksums() {
            say(&format!(
                "WARNING: {name}: the checksum of {} is not the recorded one and was accepted; \
                 every result says so",
                accepted.file
            ));
        }
        if opened.is_refuted() {
            say(&format!(
                "WARNING: {name}: truth {}",
                opened.truth_verdict()
            ));
        }
        Ok(opened)
    }

    /// Opens every dataset of a selection before anything is measured.
    ///
    /// # Errors
    /// The first that cannot be opened.
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
                    accept_checksum: selection.accept_checksum.contains(name),
                    k,
                    elements: &elements,
                };
                Self::new(places, name, &asked, pool)
            })
            .collect()
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
                refuted_by: self.refutation(),
            },
            accepted_checksums: dataset
                .accepted_checksums()
                .iter()
                .map(|accepted| {
                    format!(
                        "{}: expected sha256 {}, found {}",
                        accepted.file, accepted.expected, accepted.found
                    )
                })
                .collect(),
            files: self.files.clone(),
        };
        Subject {
            facts,
            scoring: ScoringSet {
                metric: dataset.metric(),
                base: dataset.base().vectors(),
                queries: dataset.queries().vectors(),
                truth_ids: self.truth.ids(),
                truth_distances: self.truth.distances(),
                truth_width: self.truth.width(),
                max_base_norm: dataset.max_base_norm(),
            },
        }
    }

    /// Whether an exact search has found a nearer row than the truth.
    pub fn is_refuted(&self) -> bool {
        self.truth.refuted().is_some()
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
            None if self.truth.sampled_queries() > 0 => format!(
                "{origin}; ids checked, distances recomputed; an exact search for {} sampled queries \
                 agrees",
                self.truth.sampled_queries()
            ),
            None => format!("{origin}; ids checked, distances recomputed"),
        }
    }

    /// What a user should know.
    pub fn notes(&self) -> &[String] {
        self.dataset.notes()
    }
}

/// What planning needs of a dataset, with nothing made for it: no exact truth is computed, no copy
/// widened. Where files are missing, what its entry alone tells.
pub enum Planned {
    /// Its files were checked.
    Opened(SubjectFacts),
    /// Its files are not all here, as the error says.
    EntryOnly(SubjectFacts, anyhow::Error),
}

impl Planned {
    /// Opens what is there.
    ///
    /// # Errors
    /// Whatever is wrong with its entry or files, other than that they are missing.
    pub fn new(
        places: &Places,
        name: &str,
        accept_checksum: bool,
        k: usize,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<Self> {
        let entry = catalogue(places).entry(name)?;
        let watcher = Watcher::new(name);
        let watch = |progress: Progress<'_>| watcher.watch(progress);
        let options = OpenOptions {
            accept_checksum,
            narrow: false,
            pool,
            watch: &watch,
        };
        let mut facts = entry_facts(&entry, k);
        match Dataset::open(&entry, &options) {
            Ok(dataset) => {
                dataset
                    .base_fingerprint()
                    .clone_into(&mut facts.info.base_fingerprint);
                let queries = &mut facts.info.queries_fingerprint;
                dataset.queries_fingerprint().clone_into(queries);
                if let Some(truth) = dataset.shipped_truth() {
                    facts.truth.width = truth.width() as u64;
                }
                Ok(Self::Opened(facts))
            }
            Err(error @ DatasetError::Missing { .. }) => Ok(Self::EntryOnly(facts, error.into())),
            Err(error) => Err(error.into()),
        }
    }
}

fn entry_facts(entry: &Entry, k: usize) -> SubjectFacts {
    let unknown = || "not here".to_owned();
    let map = |n: usize, element| MapSpec {
        path: PathBuf::new(),
        offset_bytes: 0,
        len_bytes: 0,
        n,
        dim: entry.dim,
        element,
    };
    // Computed truth is as wide as the campaign asks for, unless there are fewer rows.
    let width = entry
        .truth
        .as_ref()
        .map_or(k.min(entry.n()), |truth| truth.width);
    SubjectFacts {
        info: DatasetInfo {
            name: entry.name.clone(),
            base_fingerprint: unknown(),
            queries_fingerprint: unknown(),
            metric: entry.metric,
            element: entry.element,
            n: entry.n() as u64,
            queries: entry.queries.n() as u64,
            dim: entry.dim as u64,
        },
        given: std::iter::once(entry.element)
            .chain(
                ElementType::ALL.into_iter().filter(|&element| {
                    element != entry.element && entry.element.widens_to(element)
                }),
            )
            .map(|element| GivenVectors {
                element,
                base: map(entry.n(), element),
                queries: map(entry.queries.n(), element),
            })
            .collect(),
        truth: TruthInfo {
            fingerprint: unknown(),
            origin: match entry.truth {
                Some(_) => TruthOrigin::Shipped,
                None => TruthOrigin::Computed,
            },
            width: width as u64,
            refuted_by: None,
        },
        accepted_checksums: Vec::new(),
        files: Vec::new(),
    }
}

/// Says what takes long: a line when a step has gone on for a while, then every few seconds.
struct Watcher {
    name: String,
    last: Mutex<Instant>,
}

/// Steps shorter than this are not worth a line.
const PATIENCE: Duration = Duration::from_secs(2);

impl Watcher {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            last: Mutex::new(Instant::now()),
        }
    }

    fn watch(&self, progress: Progress<'_>) -> ControlFlow<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= PATIENCE {
            *last = Instant::now();
            let doing = match progress.activity {
                Activity::Checksum => "checking the checksum of",
                Activity::Convert => "converting",
                Activity::Fingerprint => "fingerprinting",
                Activity::Truth => "computing exact neighbours over",
            };
            let file = progress.path.file_name().unwrap_or_default();
            say(&format!(
                "{}: {doing} {}: {} %",
                self.name,
                file.display(),
                progress.done * 100 / progress.total.max(1)
            ));
        }
        if interrupt::flag().load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
