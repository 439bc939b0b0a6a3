//! The answer for programs.

use super::found::Found;
use annbench_results::{BuildRecord, RunRecord, SearchRecord};
use serde::Serialize;
use std::path::Path;

/// What is known, run directory by run directory.
#[derive(Serialize)]
pub(super) struct Document<'r> {
    runs: Vec<FoundDocument<'r>>,
}

#[derive(Serialize)]
struct FoundDocument<'r> {
    dir: &'r Path,
    searches: Vec<Search<'r>>,
    builds: &'r [&'r BuildRecord],
    runs: &'r [&'r RunRecord],
    contradictions: &'r [String],
}

#[derive(Serialize)]
struct Search<'r> {
    #[serde(flatten)]
    record: &'r SearchRecord,
    /// Absent where the raw files are those that were measured, or nothing was.
    raw_files_lost: Option<&'r str>,
}

impl<'r> Document<'r> {
    pub(super) fn of(found: &'r [Found<'_>]) -> Self {
        Self {
            runs: found.iter().map(FoundDocument::of).collect(),
        }
    }
}

impl<'r> FoundDocument<'r> {
    fn of(found: &'r Found<'_>) -> Self {
        let searches = found.known.searches.iter().zip(&found.raw);
        Self {
            dir: &found.known.run.dir,
            searches: searches
                .map(|(record, raw)| Search {
                    record,
                    raw_files_lost: raw.as_deref(),
                })
                .collect(),
            builds: &found.known.builds,
            runs: &found.known.invocations,
            contradictions: &found.contradictions,
        }
    }
}
