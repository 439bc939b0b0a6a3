//! Whether every stratum reaches the recall at which costs are told, in a line.

use crate::chosen::chosen;
use crate::facts::{FactLine, line};
use crate::figures::recall;
use crate::overlay::Source;
use crate::summary::COST_TARGET;
use annbench_results::StrataQuality;

/// The outcome over all strata of each library's point, with the recall of its hard third. Nothing where
/// no point was scored by strata.
pub(crate) fn every_stratum(source: &Source<'_, '_>) -> Option<FactLine> {
    let chosen = chosen(source);
    let outcomes: Vec<String> = chosen
        .iter()
        .filter_map(|(library, (_, strata))| Some(format!("{library} {}", outcome(strata)?)))
        .collect();
    let text = format!(
        "{} · by the bounds of every stratum, see `explain POINT`",
        outcomes.join(", ")
    );
    (!outcomes.is_empty()).then(|| line("strata ≥ 0.95", text))
}

fn outcome(strata: &StrataQuality) -> Option<String> {
    let bar = strata.bars.iter().find(|bar| bar.recall == COST_TARGET)?;
    let thirds = strata.difficulty.as_ref().ok().map(|d| &d.thirds);
    let hard = thirds.and_then(|thirds| thirds.last()?.recall);
    Some(match hard {
        Some(hard) => format!("{} (hard third {})", bar.outcome.word(), recall(hard)),
        None => bar.outcome.word().to_owned(),
    })
}
