//! Everything that run directories hold about one point or one build.

use annbench_results::{BuildRecord, Record, RunRecord, RunRecords, SearchRecord};
use annbench_yaml::nearest;
use anyhow::bail;
use std::collections::{BTreeMap, BTreeSet};

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
/// Digits of an id that tell it from others, as reports show it.
const SHOWN_DIGITS: usize = 12;

impl Asked {
    /// The one point or build of `runs` whose id begins with `prefix`.
    ///
    /// # Errors
    /// When there is none, or more than one: with candidates.
    pub fn find(runs: &[RunRecords], prefix: &str) -> anyhow::Result<Self> {
        let mut points: BTreeMap<&str, String> = BTreeMap::new();
        let mut builds: BTreeMap<&str, String> = BTreeMap::new();
        for record in runs.iter().flat_map(|run| &run.records) {
            match record {
                Record::Search(search) => {
                    points.insert(&search.point_id, point_line(search));
                }
                Record::Build(build) => {
                    builds.insert(&build.build_key, build_line(build));
                }
                Record::Run(_) => {}
            }
        }
        let found_points = beginning(&points, prefix);
        // Whichever attempt was named, the build has them all.
        let found_builds = beginning(&builds, key_of(prefix));
        match (found_points.as_slice(), found_builds.as_slice()) {
            ([(id, _)], []) => Ok(Self::Point((**id).to_owned())),
            ([], [(key, _)]) => Ok(Self::Build((**key).to_owned())),
            ([], []) => {
                let known: Vec<_> = points.iter().chain(&builds).collect();
                let near = mistyped(&known, key_of(prefix));
                bail!(
                    "no point or build in {} begins with `{prefix}`; {}",
                    folders(runs),
                    match (known.is_empty(), near.is_empty()) {
                        (true, _) => "there is none at all".to_owned(),
                        (false, true) => format!("there are{}", listed(&known)),
                        (false, false) => format!("did you mean{}", listed(&near)),
                    }
                );
            }
            (points, builds) => bail!(
                "`{prefix}` is not one point or build: add digits;{}",
                listed(&[points, builds].concat())
            ),
        }
    }
}

/// An id and what it stands for.
type Candidate<'c> = (&'c &'c str, &'c String);

/// Those whose ids begin with `prefix`, which says nothing when it is empty.
fn beginning<'c>(ids: &'c BTreeMap<&'c str, String>, prefix: &str) -> Vec<Candidate<'c>> {
    ids.iter()
        .filter(|(id, _)| id.starts_with(prefix) && !prefix.is_empty())
        .collect()
}

/// Those whose beginning is `prefix` but for a wrong digit or two. Few digits would fit by chance.
fn mistyped<'c>(known: &[Candidate<'c>], prefix: &str) -> Vec<Candidate<'c>> {
    const FEWEST: usize = 6;
    if prefix.len() < FEWEST {
        return Vec::new();
    }
    let beginning = |id: &'c str| &id[..id.floor_char_boundary(prefix.len())];
    match nearest(prefix, known.iter().map(|(id, _)| beginning(id))) {
        None => Vec::new(),
        Some(near) => {
            let candidates = known.iter().filter(|(id, _)| beginning(id) == near);
            candidates.copied().collect()
        }
    }
}

fn listed(candidates: &[Candidate<'_>]) -> String {
    let mut text = String::new();
    for (id, line) in candidates.iter().take(MOST_LISTED) {
        let digits = &id[..id.floor_char_boundary(SHOWN_DIGITS)];
        text.push_str(&format!("\n  {digits}  {line}"));
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
    words([
        search.library.clone(),
        identity.build.build_params.to_string(),
        identity.search_params.to_string(),
        format!(
            "k={} {} threads={} on {}",
            identity.k, identity.mode, identity.threads, search.dataset.name
        ),
    ])
}

fn build_line(build: &BuildRecord) -> String {
    let identity = &build.identity;
    words([
        format!("build of {} {}", identity.adapter, identity.library_version),
        identity.build_params.to_string(),
        format!("on {}", build.dataset.name),
    ])
}

/// One line of them; a library without parameters leaves no gap.
fn words<const N: usize>(words: [String; N]) -> String {
    let said: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    said.join(" ")
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
