use crate::axes::Grid;
use crate::campaign::Campaign;
use crate::plan::{DatasetShape, Job, JobPoint};
use crate::require::Facts;
use crate::selection::{Filter, select};
use crate::settings::Settings;
use crate::sweep::{Group, MAX_POINTS, Sweep, too_many_points};
use annbench_core::Params;
use annbench_yaml::{Diagnostic, ErrorKind};
use std::collections::HashMap;
use std::fmt;

/// What a campaign amounts to for one dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// One per build, in the order in which sweeps, groups and points name it first.
    pub jobs: Vec<Job>,
    /// Points that a later group, or a later entry of `points`, names again: measured once.
    pub duplicates: Vec<Duplicates>,
}

/// Points that were named twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicates {
    /// The adapter.
    pub adapter: String,
    /// The group whose points they are.
    pub kept: String,
    /// The group that names them again; possibly the same one.
    pub repeated: String,
    /// How many there are.
    pub points: usize,
}

impl fmt::Display for Duplicates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of group {}, already in group {}: measured once",
            self.adapter,
            match self.points {
                1 => "1 point".to_owned(),
                n => format!("{n} points"),
            },
            self.repeated,
            self.kept,
        )
    }
}

/// The jobs of `campaign` for one dataset: a pure function, the same for the same texts.
///
/// `sweeps` are the parsed texts of [`Campaign::sweep_files`], in that order. Points that `require`,
/// `skip` or k > n refuse stay in the plan, with the reason.
///
/// # Errors
/// Groups that a sweep does not have, filters that name nothing, more than [`MAX_POINTS`] points.
pub fn plan(
    campaign: &Campaign,
    sweeps: &[Sweep],
    shape: &DatasetShape,
    filter: &Filter,
) -> Result<Plan, Diagnostic> {
    let mut planner = Planner {
        shape,
        settings: campaign.settings(),
        plan: Plan::default(),
        job_index: HashMap::new(),
        point_index: Vec::new(),
        named: 0,
    };
    for (sweep, groups) in select(campaign, sweeps, filter)? {
        for group in groups {
            planner.add_group(sweep, group)?;
        }
    }
    Ok(planner.plan)
}

struct Planner<'a> {
    shape: &'a DatasetShape,
    settings: &'a Settings,
    plan: Plan,
    /// Adapter and build to index in `plan.jobs`.
    job_index: HashMap<(String, String), usize>,
    /// Per job: identity of a point to its index in `points`, and the group that named it.
    point_index: Vec<HashMap<PointKey, (usize, String)>>,
    /// Points so far, duplicates included.
    named: usize,
}

type PointKey = (String, usize, &'static str, usize);

impl Planner<'_> {
    fn add_group(&mut self, sweep: &Sweep, group: &Group) -> Result<(), Diagnostic> {
        let mut grids: Vec<Grid> = group.grids.to_vec();
        let mut skip = None;
        for change in &sweep.overrides {
            if change.applies(group, self.shape)
                && let Some(reason) = change.apply(&mut grids)
            {
                skip = skip.or(Some(reason));
            }
        }
        self.count(sweep, group, &grids)?;
        for grid in &grids {
            for build in grid.build.points() {
                let job = self.job(sweep.adapter(), group, &build);
                self.add_points(job, group, grid, &build, skip);
            }
        }
        Ok(())
    }

    /// Counts before anything is expanded, so that a product too large costs nothing.
    fn count(&mut self, sweep: &Sweep, group: &Group, grids: &[Grid]) -> Result<(), Diagnostic> {
        let measure = &self.settings.measure;
        let points = grids
            .iter()
            .fold(0usize, |sum, grid| sum.saturating_add(grid.count()));
        if points > MAX_POINTS {
            return Err(too_many_points(&sweep.source, group, grids, points));
        }
        let ways = self
            .settings
            .k
            .len()
            .saturating_mul(measure.modes.len())
            .saturating_mul(measure.threads.len());
        self.named = self.named.saturating_add(points.saturating_mul(ways));
        if self.named > MAX_POINTS {
            return Err(sweep
                .source
                .error(
                    ErrorKind::TooLarge,
                    group.span,
                    format!(
                        "with group `{}` the plan for {} becomes too large",
                        group.name, self.shape.name
                    ),
                )
                .expected(format!("at most {MAX_POINTS} points"))
                .found(format!(
                    "{} points so far; this group has {points}, each measured in {ways} ways ({} k × {} modes × {} threads)",
                    self.named,
                    self.settings.k.len(),
                    measure.modes.len(),
                    measure.threads.len()
                ))
                .next("select fewer groups, or shorten lists"));
        }
        Ok(())
    }

    fn job(&mut self, adapter: &str, group: &Group, build: &Params) -> usize {
        let jobs = &mut self.plan.jobs;
        *self
            .job_index
            .entry((adapter.to_owned(), identity(build)))
            .or_insert_with(|| {
                jobs.push(Job {
                    dataset: self.shape.name.clone(),
                    adapter: adapter.to_owned(),
                    group: group.name.to_string(),
                    build: build.clone(),
                    points: Vec::new(),
                });
                self.point_index.push(HashMap::new());
                jobs.len() - 1
            })
    }

    fn add_points(
        &mut self,
        job: usize,
        group: &Group,
        grid: &Grid,
        build: &Params,
        skip: Option<&str>,
    ) {
        let measure = &self.settings.measure;
        let Plan { jobs, duplicates } = &mut self.plan;
        let Job {
            adapter, points, ..
        } = &mut jobs[job];
        let index = &mut self.point_index[job];
        // The search varies fastest: a curve is complete before the next one begins.
        for &k in &self.settings.k {
            for &mode in &measure.modes {
                for &threads in &measure.threads {
                    let facts = Facts {
                        k,
                        dim: self.shape.dim,
                        n: self.shape.n,
                        threads,
                    };
                    for search in grid.search.points() {
                        let refused = refusal(group, build, &search, facts, skip);
                        let key = (identity(&search), k, mode.name(), threads);
                        match index.get(&key) {
                            Some((at, kept)) => {
                                note(duplicates, adapter, kept, &group.name);
                                // One group refuses it, another wants it: it is wanted.
                                let point = &mut points[*at];
                                if refused.is_none() && point.refused.is_some() {
                                    point.refused = None;
                                    point.group = group.name.to_string();
                                }
                            }
                            None => {
                                index.insert(key, (points.len(), group.name.to_string()));
                                points.push(JobPoint {
                                    group: group.name.to_string(),
                                    search,
                                    k,
                                    mode,
                                    threads,
                                    refused,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
}

fn refusal(
    group: &Group,
    build: &Params,
    search: &Params,
    facts: Facts,
    skip: Option<&str>,
) -> Option<String> {
    let mut reasons: Vec<String> = skip.map(str::to_owned).into_iter().collect();
    if facts.k > facts.n {
        reasons.push(format!(
            "k = {} is larger than the base, n = {}",
            facts.k, facts.n
        ));
    }
    reasons.extend(
        group
            .require
            .iter()
            .filter_map(|requirement| requirement.refusal(build, search, facts)),
    );
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn note(duplicates: &mut Vec<Duplicates>, adapter: &str, kept: &str, repeated: &str) {
    let known = duplicates
        .iter_mut()
        .find(|known| known.adapter == adapter && known.kept == kept && known.repeated == repeated);
    match known {
        Some(known) => known.points += 1,
        None => duplicates.push(Duplicates {
            adapter: adapter.to_owned(),
            kept: kept.to_owned(),
            repeated: repeated.to_owned(),
            points: 1,
        }),
    }
}

/// Equal for equal parameters only: unlike what is displayed, it tells the text 1 from the number.
fn identity(params: &Params) -> String {
    format!("{:?}", params.0)
}
