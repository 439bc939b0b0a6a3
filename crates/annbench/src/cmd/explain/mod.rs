//! Everything that is known about one point or one build.

mod affinity;
mod build;
mod document;
mod found;
mod invocation;
mod lines;
mod other_metrics;
mod outcome;
mod point;
mod repetitions;
mod strata;
mod text;
mod units;

use crate::args::ExplainArgs;
use crate::known::{Asked, Known};
use crate::places::Places;
use crate::{Answer, json};
use annbench_results::RunRecords;
use document::Document;
use found::Found;

/// `annbench explain POINT [DIR...]`
pub fn explain(args: &ExplainArgs) -> anyhow::Result<Answer> {
    let dirs = match args.runs.is_empty() {
        true => Places::runs()?,
        false => args.runs.clone(),
    };
    let runs = dirs
        .iter()
        .map(|dir| RunRecords::open(dir))
        .collect::<Result<Vec<_>, _>>()?;
    let asked = Asked::find(&runs, &args.point)?;
    let known = runs.iter().filter_map(|run| Known::gather(run, &asked));
    let found: Vec<Found<'_>> = known.map(Found::new).collect();
    let good = found.iter().all(|found| found.doubts().next().is_none());
    let text = if args.form.json {
        json::document(&Document::of(&found))?
    } else {
        text::text(&asked, &found)
    };
    Ok(Answer { text, good })
}
