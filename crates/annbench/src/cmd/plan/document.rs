//! A plan as programs read it.

use crate::campaign::Loaded;
use crate::judged::{JudgedBuild, Unusable};
use crate::undeclared::UndeclaredParam;
use annbench_config::Duplicates;
use annbench_results::DatasetInfo;
use serde::Serialize;

/// The whole plan.
#[derive(Serialize)]
pub struct Document<'p> {
    pub file: &'p str,
    pub settings: Vec<Setting>,
    pub datasets: Vec<PlannedDataset>,
    pub builds: usize,
    pub searches: usize,
    /// Absent where it is unknown, and where nothing is left to do.
    pub estimated_wall_ns: Option<u64>,
    /// What is known of it, and of the rest what the passes take that are asked for.
    pub least_wall_ns: u64,
    /// The budget, where one is given.
    pub budget_ns: Option<u64>,
    /// Points that are measured before it is spent; absent where the time is unknown.
    pub reached_by_budget: Option<usize>,
    /// Names that no adapter declares; the points with them are most likely among the rejected.
    pub undeclared_parameters: Vec<UndeclaredParam<'p>>,
    pub unusable_adapters: Vec<Unusable<'p>>,
}

/// A setting and what it is set to.
#[derive(Serialize)]
pub struct Setting {
    key: &'static str,
    value: String,
    is_default: bool,
}

/// The work on one dataset.
#[derive(Serialize)]
pub struct PlannedDataset {
    pub dataset: DatasetInfo,
    /// Its files are not all here: fingerprints and identities are unknown.
    pub entry_only: bool,
    pub found: Vec<String>,
    pub builds: Vec<JudgedBuild>,
    pub duplicates: Vec<NamedTwice>,
    pub left_out: Vec<LeftOut>,
}

/// What is not planned, for its adapter cannot be used.
#[derive(Serialize)]
pub struct LeftOut {
    adapter: String,
    builds: usize,
    points: usize,
}

impl LeftOut {
    pub fn new((adapter, &(builds, points)): (&String, &(usize, usize))) -> Self {
        Self {
            adapter: adapter.clone(),
            builds,
            points,
        }
    }
}

/// Points that more than one group names: measured once.
#[derive(Serialize)]
pub struct NamedTwice {
    adapter: String,
    kept: String,
    repeated: String,
    points: usize,
}

impl NamedTwice {
    pub fn new(duplicates: &Duplicates) -> Self {
        Self {
            adapter: duplicates.adapter.clone(),
            kept: duplicates.kept.clone(),
            repeated: duplicates.repeated.clone(),
            points: duplicates.points,
        }
    }
}

/// Every setting of the campaign.
pub fn settings(loaded: &Loaded) -> Vec<Setting> {
    let lines = loaded.campaign.settings().lines().into_iter();
    lines
        .map(|line| Setting {
            key: line.key,
            value: line.value,
            is_default: line.is_default,
        })
        .collect()
}
