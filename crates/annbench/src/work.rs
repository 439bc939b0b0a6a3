//! What a command line asks for, planned per dataset with identities.

use crate::args::Selection;
use crate::campaign::Loaded;
use crate::{explain, interrupt};
use annbench_config::{DatasetShape, Duplicates, check_filter, plan};
use annbench_core::wire::Verdict;
use annbench_core::{ElementType, Metric};
use annbench_results::{AdapterInfo, Machine};
use annbench_runner::{
    FindError, Installed, PlannedJob, PlannedPoint, Subject, SubjectFacts, adapter_folders,
    check_points, executable_name, find_adapter, inspect_adapter,
};
use annbench_yaml::listed;
use anyhow::bail;
use std::collections::{BTreeMap, BTreeSet};

/// An adapter that the campaign uses.
#[derive(Clone, Debug)]
pub struct AdapterInUse {
    /// Its executable.
    pub installed: Installed,
    /// What it says of itself.
    pub info: AdapterInfo,
}

impl AdapterInUse {
    /// Whether the library takes vectors of `element` under `metric` as they are.
    pub fn takes(&self, metric: Metric, element: ElementType) -> bool {
        let supports = &self.info.descriptor.supports;
        supports
            .iter()
            .any(|s| s.metric == metric && s.element == element)
    }
}

/// The adapters that a selection leaves in.
pub struct Adapters {
    /// Those that answered, by name.
    pub found: BTreeMap<String, AdapterInUse>,
    /// Those that are missing or do not answer, and why.
    pub unusable: Vec<(String, anyhow::Error)>,
}

impl Adapters {
    /// Finds and asks every adapter that the selection leaves in.
    ///
    /// # Errors
    /// When the selection leaves none, or the user interrupts.
    pub fn find(loaded: &Loaded, selection: &Selection) -> anyhow::Result<Self> {
        let filter = loaded.filter(selection);
        check_filter(&loaded.campaign, &loaded.sweeps, &filter)?;
        let folders = adapter_folders();
        let named = |list: &[String], name: &str| list.iter().any(|adapter| adapter == name);
        let wanted: BTreeSet<&str> = loaded
            .sweeps
            .iter()
            .map(|sweep| sweep.adapter())
            .filter(|name| filter.adapters.is_empty() || named(&filter.adapters, name))
            .filter(|name| !named(&filter.without_adapters, name))
            .collect();
        if wanted.is_empty() {
            let known: Vec<&str> = loaded.sweeps.iter().map(|s| s.adapter()).collect();
            bail!(
                "no adapter is left: {} has sweeps of {}",
                selection.file.display(),
                known.join(", ")
            );
        }
        let mut adapters = Self {
            found: BTreeMap::new(),
            unusable: Vec::new(),
        };
        for name in wanted {
            let asked = find_adapter(name, &folders)
                .map_err(|error| placed(loaded, name, error))
                .and_then(|installed| {
                    let info = inspect_adapter(&installed, interrupt::flag())?;
                    Ok(AdapterInUse { installed, info })
                });
            match asked {
                Ok(adapter) => {
                    adapters.found.insert(name.to_owned(), adapter);
                }
                Err(error) => adapters.unusable.push((name.to_owned(), error)),
            }
        }
        Ok(adapters)
    }

    /// All of them.
    ///
    /// # Errors
    /// Why each that cannot be used cannot.
    pub fn complete(mut self) -> anyhow::Result<Self> {
        if self.unusable.len() > 1 {
            let reasons: Vec<String> = self
                .unusable
                .iter()
                .map(|(_, why)| format!("\n  {}", explain(why)))
                .collect();
            bail!(
                "{} adapters cannot be used:{}",
                reasons.len(),
                reasons.concat()
            );
        }
        match self.unusable.pop() {
            None => Ok(self),
            Some((_, error)) => Err(error),
        }
    }
}

/// `error` at the line of the sweep that names the adapter, where it is not installed.
fn placed(loaded: &Loaded, name: &str, error: FindError) -> anyhow::Error {
    let sweep = loaded.sweeps.iter().find(|sweep| sweep.adapter() == name);
    match (&error, sweep) {
        (
            FindError::NotInstalled {
                searched,
                installed,
                ..
            },
            Some(sweep),
        ) => sweep
            .adapter_error(format!("adapter `{name}` is not installed"))
            .expected(format!(
                "an executable {} in {searched}",
                executable_name(name)
            ))
            .found(listed(installed.iter().map(String::as_str)))
            .next(error.remedy())
            .into(),
        _ => error.into(),
    }
}

/// The jobs for one dataset.
pub struct Work {
    /// Jobs in order, each with its adapter.
    pub jobs: Vec<(PlannedJob, AdapterInUse)>,
    /// Points that were named twice.
    pub duplicates: Vec<Duplicates>,
    /// Builds and points that are left out because their adapter cannot be used, by adapter.
    pub left_out: BTreeMap<String, (usize, usize)>,
}

impl Work {
    /// Expands the campaign for one dataset. What needs an adapter that cannot be used is left out and
    /// counted; where there must be none, see [`Adapters::complete`].
    ///
    /// # Errors
    /// What the configuration does not permit.
    pub fn plan(
        loaded: &Loaded,
        selection: &Selection,
        subject: &SubjectFacts,
        adapters: &Adapters,
        machine: &Machine,
    ) -> anyhow::Result<Self> {
        let info = &subject.info;
        let shape = DatasetShape {
            name: info.name.clone(),
            metric: info.metric,
            element: info.element,
            n: info.n as usize,
            queries: info.queries as usize,
            dim: info.dim as usize,
        };
        let filter = loaded.filter(selection);
        let expanded = plan(&loaded.campaign, &loaded.sweeps, &shape, &filter)?;
        let measure = &loaded.campaign.settings().measure;
        let mut jobs = Vec::with_capacity(expanded.jobs.len());
        let mut left_out: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for job in &expanded.jobs {
            let unusable = |(name, _): &(String, _)| *name == job.adapter;
            if adapters.unusable.iter().any(unusable) {
                let (builds, points) = left_out.entry(job.adapter.clone()).or_default();
                *builds += 1;
                *points += job.points.len();
                continue;
            }
            let Some(adapter) = adapters.found.get(&job.adapter) else {
                bail!(
                    "the plan names adapter `{}`, which was not asked",
                    job.adapter
                );
            };
            let planned = PlannedJob::new(job, measure, subject, &adapter.info, machine)?;
            jobs.push((planned, adapter.clone()));
        }
        Ok(Self {
            jobs,
            duplicates: expanded.duplicates,
            left_out,
        })
    }
}

impl Work {
    /// The ids of all its points.
    pub fn point_ids(&self) -> impl Iterator<Item = &str> {
        let points = self.jobs.iter().flat_map(|(job, _)| &job.points);
        points.map(|point| point.point_id.as_str())
    }
}

/// Why points are refused, by point id.
pub type Refusals = BTreeMap<String, String>;

impl Work {
    /// Why points are refused: by their sweep, by the element type, or by their adapter. Adapters are
    /// asked, once each, about those of the remaining points that are `wanted`.
    ///
    /// # Errors
    /// When an adapter does not answer.
    pub fn judge(&self, wanted: impl Fn(&PlannedPoint) -> bool) -> anyhow::Result<Refusals> {
        let mut refusals = Refusals::new();
        type Asked<'w> = (&'w Installed, Vec<(&'w PlannedJob, &'w PlannedPoint)>);
        let mut asked: BTreeMap<&str, Asked<'_>> = BTreeMap::new();
        for (job, adapter) in &self.jobs {
            for point in &job.points {
                let refused = point.refused.as_ref().or(job.given.as_ref().err());
                match refused {
                    Some(reason) => {
                        refusals.insert(point.point_id.clone(), reason.clone());
                    }
                    None if wanted(point) => asked
                        .entry(&adapter.installed.adapter)
                        .or_insert_with(|| (&adapter.installed, Vec::new()))
                        .1
                        .push((job, point)),
                    None => {}
                }
            }
        }
        for (installed, points) in asked.values() {
            let specs: Vec<_> = points
                .iter()
                .map(|(job, point)| job.point_spec(point))
                .collect();
            let verdicts = check_points(installed, &specs, interrupt::flag())?;
            for ((_, point), verdict) in points.iter().zip(verdicts) {
                if let Verdict::Rejected(reason) = verdict {
                    refusals.insert(point.point_id.clone(), reason);
                }
            }
        }
        Ok(refusals)
    }
}

/// What is left to do on one dataset.
pub struct Workload<'d> {
    /// The dataset.
    pub subject: Subject<'d>,
    /// Jobs with the points that are not finished.
    pub jobs: Vec<(PlannedJob, AdapterInUse, Vec<PlannedPoint>)>,
    /// Points that have a record already.
    pub finished: usize,
}

impl<'d> Workload<'d> {
    /// Leaves out what is finished; see [`is_finished`].
    pub fn new(
        subject: Subject<'d>,
        work: Work,
        finished: &BTreeMap<String, &'static str>,
        refused: &Refusals,
        retry_failed: bool,
    ) -> Self {
        let mut count = 0;
        let jobs = work
            .jobs
            .into_iter()
            .filter_map(|(job, adapter)| {
                let (done, todo): (Vec<_>, Vec<_>) =
                    job.points.iter().cloned().partition(|point| {
                        let outcome = finished.get(&point.point_id).copied();
                        is_finished(outcome, refused.contains_key(&point.point_id), retry_failed)
                    });
                count += done.len();
                (!todo.is_empty()).then_some((job, adapter, todo))
            })
            .collect();
        Self {
            subject,
            jobs,
            finished: count,
        }
    }

    /// Points to go.
    pub fn points(&self) -> usize {
        self.jobs.iter().map(|(_, _, todo)| todo.len()).sum()
    }

    /// Builds to go.
    pub fn builds(&self) -> usize {
        self.jobs
            .iter()
            .filter(|(_, _, todo)| todo.iter().any(|point| point.refused.is_none()))
            .count()
    }
}

/// Whether a point needs no work, given the outcome word of its latest record and whether it is
/// refused now.
///
/// A rejected point is finished only while something still refuses it: what refused it (a condition
/// of the sweep, the width of the truth) is no part of its identity.
pub fn is_finished(outcome: Option<&str>, refused_now: bool, retry_failed: bool) -> bool {
    match outcome {
        None => false,
        Some("failed") => !retry_failed,
        // It was never attempted: what stood in its way may be gone.
        Some("skipped") => false,
        Some("rejected") => refused_now,
        Some(_) => true,
    }
}
