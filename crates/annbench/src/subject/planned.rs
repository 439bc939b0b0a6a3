use super::catalogue;
use super::findings::{notes, warnings};
use super::watched;
use crate::args::Permits;
use crate::places::Places;
use annbench_core::ElementType;
use annbench_core::wire::MapSpec;
use annbench_dataset::{Dataset, DatasetError, Entry};
use annbench_results::{DatasetInfo, TruthInfo, TruthOrigin};
use annbench_runner::{GivenVectors, SubjectFacts};
use std::path::PathBuf;

/// What planning needs of a dataset, with nothing made for it: no exact truth is computed, no copy
/// widened. Where files are missing, what its entry alone tells.
pub enum Planned {
    /// Its files were checked; with what was found, a line each.
    Opened(SubjectFacts, Vec<String>),
    /// Its files are not all here, as the error says.
    EntryOnly(SubjectFacts, anyhow::Error),
}

impl Planned {
    /// What the entry alone tells; its files are not looked for.
    ///
    /// # Errors
    /// An entry that is not there or cannot be read.
    pub fn from_entry(places: &Places, name: &str, k: usize) -> anyhow::Result<SubjectFacts> {
        Ok(entry_facts(&catalogue(places).entry(name)?, k))
    }

    /// Opens what is there.
    ///
    /// # Errors
    /// Whatever is wrong with its entry or files, other than that they are missing.
    pub fn new(
        places: &Places,
        name: &str,
        permits: Permits,
        k: usize,
        pool: &rayon::ThreadPool,
    ) -> anyhow::Result<Self> {
        let entry = catalogue(places).entry(name)?;
        let mut facts = entry_facts(&entry, k);
        let opened = watched(name, permits, pool, |options| {
            Dataset::open(&entry, options)
        });
        match opened {
            Ok(dataset) => {
                dataset
                    .base_fingerprint()
                    .clone_into(&mut facts.info.base_fingerprint);
                let queries = &mut facts.info.queries_fingerprint;
                dataset.queries_fingerprint().clone_into(queries);
                if let Some(truth) = dataset.shipped_truth() {
                    facts.truth.width = truth.width() as u64;
                }
                let truth = dataset.shipped_truth();
                let mut found = notes(&dataset, truth.map(|truth| &**truth));
                found.extend(warnings(&dataset).map(|warning| format!("WARNING: {warning}")));
                Ok(Self::Opened(facts, found))
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
            proved_queries: None,
            refuted_by: None,
        },
        accepted_checksums: Vec::new(),
        narrowed: Vec::new(),
        accepted_violations: Vec::new(),
        files: Vec::new(),
    }
}
