//! Everything that run directories hold about one point or one build.

use annbench_results::{BuildRecord, Record, RunRecord, RunRecords, SearchRecord};
use anyhow::bail;
use std::collections::BTreeSet;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A point, by its id.
    Point(String),
    /// All attempts at a build, by its key.
    Build(String),
}

/// Candidates that an error lists at most.
const MOST_LISTED: usize = 10;

impl Asked {
    /// The one point or build of `runs` whose id begins with `prefix`.
    ///
    /// # Errors
    /// When there is none, or more than one: with candidates.
    pub fn find(runs: &[RunRecords], prefix: &str) -> anyhow::Result<Self> {
        let mut points: BTreeSet<(&str, String)> = BTreeSet::new();
        let mut builds: BTreeSet<(&str, String)> = BTreeSet::new();
        for record in runs.iter().flat_map(|run| &run.records) {
            match record {
                Record::Search(search) => {
                    points.insert((&search.point_id, point_line(search)));
                }
                Record::Build(build) => {
                    builds.insert((&build.build_id, build_line(build)));
                }
                Record::Run(_) => {}
            }
        }
        let begins = |(id, _): &&(&str, String)| id.starts_with(prefix) && !prefix.is_empty();
        let found_points: Vec<_> = points.iter().filter(begins).collect();
        let found_builds: Vec<_> = builds.iter().filter(begins).collect();
        let ids: BTreeSet<&str> = found_points.iter().map(|(id, _)| *id).collect();
        let keys: BTreeSet<&str> = found_builds.iter().map(|(id, _)| key_of(id)).collect();
        match (ids.first(), keys.first()) {
            (Some(id), None) if ids.len() == 1 => Ok(Self::Point((*id).to_owned())),
            (None, Some(key)) if keys.len() == 1 => Ok(Self::Build((*key).to_owned())),
            (None, None) => {
                let known: Vec<_> = points.iter().chain(&builds).collect();
                bail!(
                    "no point or build in {} begins with `{prefix}`; {}",
                    folders(runs),
                    match known.is_empty() {
                        true => "there is none at all".to_owned(),
                        false => format!("there are{}", listed(&known)),
                    }
                );
            }
            _ => {
                let found: Vec<_> = found_points.into_iter().chain(found_builds).collect();
                bail!(
                    "`{prefix}` is not one point or build: add digits;{}",
                    listed(&found)
                );
            }
        }
    }
}

fn listed(candidates: &[&(&str, String)]) -> String {
    let mut text = String::new();
    for (id, line) in candidates.iter().take(MOST_LISTED) {
        let digits = id.char_indices().nth(12).map_or(id.len(), |(end, _)| end);
        // Attempts at one build differ in their ends only.
        let attempt = &id[key_of(id).len()..];
        text.push_str(&format!("\n  {}{attempt}  {line}", &id[..digits]));
    }
    match candidates.len().saturating_sub(MOST_LISTED) {
        0 => {}
        more => text.push_str(&format!(
            "\n  and {more} more; `annbench report DIR --points` has them"
        )),
    }
    text
}

fn folders(runs: &[RunRecords]) -> String {
    let names: Vec<String> = runs
        .iter()
        .map(|run| run.dir.display().to_string())
        .collect();
    names.join(", ")
}

/// A build's id without the number of the attempt.
fn key_of(build_id: &str) -> &str {
    build_id.split_once('.').map_or(build_id, |(key, _)| key)
}

fn point_line(search: &SearchRecord) -> String {
    let identity = &search.identity;
    format!(
        "{} {} {} k={} {} threads={} on {}",
        search.library,
        identity.build.build_params,
        identity.search_params,
        identity.k,
        identity.mode,
        identity.threads,
        search.dataset.name
    )
}

fn build_line(build: &BuildRecord) -> String {
    let identity = &build.identity;
    format!(
        "build of {} {} {} on {}",
        identity.adapter, identity.library_version, identity.build_params, build.dataset.name
    )
}

/// What one run directory holds about it.
pub struct Known<'r> {
    /// The directory and all its records.
    pub run: &'r RunRecords,
    /// Records of the point, the latest last; of every point of the build.
    pub searches: Vec<&'r SearchRecord>,
    /// Attempts at the build, in order.
    pub builds: Vec<&'r BuildRecord>,
    /// The invocations that made any of these, in order.
    pub invocations: Vec<&'r RunRecord>,
}

impl<'r> Known<'r> {
    /// What `run` holds about `asked`; `None` when that is nothing.
    pub fn gather(run: &'r RunRecords, asked: &Asked) -> Option<Self> {
        let searches: Vec<&SearchRecord> = match asked {
            Asked::Point(id) => {
                let all = run.records.iter().filter_map(|record| match record {
                    Record::Search(search) => Some(&**search),
                    _ => None,
                });
                all.filter(|search| search.point_id == *id).collect()
            }
            Asked::Build(key) => {
                let mut searches = run.latest_searches();
                searches.retain(|s| s.build_id.as_deref().is_some_and(|id| key_of(id) == key));
                searches
            }
        };
        let key = match asked {
            Asked::Build(key) => Some(key.clone()),
            Asked::Point(_) => searches
                .last()
                .and_then(|search| annbench_results::build_key(&search.identity.build).ok()),
        };
        let builds: Vec<&BuildRecord> = run
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Build(build) if Some(&build.build_key) == key.as_ref() => Some(&**build),
                _ => None,
            })
            .collect();
        if searches.is_empty() && builds.is_empty() {
            return None;
        }
        let makers: BTreeSet<&str> = searches
            .iter()
            .map(|search| search.run_id.as_str())
            .chain(builds.iter().map(|build| build.run_id.as_str()))
            .collect();
        let invocations = run.records.iter().filter_map(|record| match record {
            Record::Run(run) if makers.contains(run.run_id.as_str()) => Some(&**run),
            _ => None,
        });
        Some(Self {
            run,
            searches,
            builds,
            invocations: invocations.collect(),
        })
    }
}
