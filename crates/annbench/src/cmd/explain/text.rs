//! The answer for people.

use super::build::{write_attempt, write_identity};
use super::found::Found;
use super::invocation::write_invocation;
use super::lines::Lines;
use super::other_metrics::write_other_metrics;
use super::point::write_point;
use super::strata::write_strata;
use crate::known::{Asked, Known};
use crate::progress::outcome_text;
use annbench_results::SearchRecord;
use std::fmt::Write;

/// What is known, run directory by run directory.
pub(super) fn text(asked: &Asked, found: &[Found<'_>]) -> String {
    let mut lines = Lines::default();
    for found in found {
        let Known {
            run,
            searches,
            builds,
            invocations,
        } = &found.known;
        match asked {
            Asked::Point(id) => lines.head(format!("point {id} in {}", run.dir.display())),
            Asked::Build(key) => lines.head(format!("build {key} in {}", run.dir.display())),
        }
        for contradiction in &found.contradictions {
            lines.add("CONTRADICTS ITSELF", contradiction);
        }
        match asked {
            Asked::Point(_) => {
                if let (Some(search), Some(raw)) = (searches.last(), found.raw.last()) {
                    write_point(&mut lines, search, raw.as_deref());
                    for earlier in &searches[..searches.len() - 1] {
                        let earlier =
                            format!("{} in {}", outcome_text(&earlier.outcome), earlier.run_id);
                        lines.add("earlier", earlier);
                    }
                    let k = search.identity.k;
                    if let Some(other) = &search.other_metrics {
                        write_other_metrics(&mut lines, other, k);
                    }
                    if let Some(strata) = &search.strata {
                        write_strata(&mut lines, strata, k, search.dataset.n);
                    }
                }
            }
            Asked::Build(_) => {
                if let Some(build) = builds.last() {
                    write_identity(&mut lines, &build.identity);
                }
                for (search, raw) in searches.iter().zip(&found.raw) {
                    let figures = figures(search);
                    let lost = raw
                        .as_ref()
                        .map_or(String::new(), |why| format!("; raw files: {why}"));
                    lines.add(
                        &search.point_id[..search.point_id.floor_char_boundary(12)],
                        format!(
                            "{} k={}: {figures}{lost}",
                            search.identity.search_params, search.identity.k
                        ),
                    );
                }
            }
        }
        for build in builds {
            let searched = searches
                .last()
                .filter(|_| matches!(asked, Asked::Point(_)))
                .is_some_and(|search| search.build_id.as_ref() == Some(&build.build_id));
            let note = if searched { ", which was searched" } else { "" };
            lines.head(format!("build {}{note}", build.build_id));
            write_attempt(&mut lines, build);
        }
        for run in invocations {
            lines.head(format!("run {}", run.run_id));
            write_invocation(&mut lines, run);
        }
    }
    lines.into_text()
}

/// The point in a few words.
fn figures(search: &SearchRecord) -> String {
    let mut text = outcome_text(&search.outcome);
    if let Some(quality) = &search.quality {
        let _ = write!(text, ", recall {}", quality.recall_mean);
    }
    if let Some(speed) = &search.speed {
        let _ = write!(text, ", {:.1} QPS", speed.qps_median);
    }
    text
}
