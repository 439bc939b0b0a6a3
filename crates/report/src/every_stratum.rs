//! Whether every stratum reaches the recall at which costs are told, in a line.

use crate::chosen::{chosen, libraries_without};
use crate::facts::{FactLine, line};
use crate::figures::recall;
use crate::overlay::Source;
use crate::summary::COST_TARGET;
use annbench_results::{SearchRecord, StrataQuality, Stratum, StratumOutcome};

/// The outcome over all strata of each library's point, with the recall of its hard third and what keeps it
/// from passing. Nothing where no point was scored by strata.
pub(crate) fn every_stratum(source: &Source<'_, '_>) -> Option<FactLine> {
    let chosen = chosen(source);
    let outcomes: Vec<String> = chosen
        .iter()
        .filter_map(|(library, (row, strata))| {
            Some(format!("{library} {}", outcome(row.record, strata)?))
        })
        .collect();
    if outcomes.is_empty() {
        return None;
    }
    let without = libraries_without(source, &chosen);
    let not_told = without.iter().map(|library| format!("{library} not told"));
    let told: Vec<String> = outcomes.into_iter().chain(not_told).collect();
    let text = format!(
        "{} · by the bounds of every stratum, see `explain POINT`",
        told.join(", ")
    );
    Some(line("strata ≥ 0.95", text))
}

fn outcome(record: &SearchRecord, strata: &StrataQuality) -> Option<String> {
    let bar = strata.bars.iter().find(|bar| bar.recall == COST_TARGET)?;
    let mut more = Vec::new();
    let mean = record.quality.as_ref().map(|quality| quality.recall_mean);
    if let Some(mean) = mean.filter(|&mean| mean < COST_TARGET) {
        more.push(format!("at its best, recall {}", recall(mean)));
    }
    let thirds = strata.difficulty.as_ref().ok().map(|d| &d.thirds);
    if let Some(hard) = thirds.and_then(|thirds| thirds.last()?.recall) {
        more.push(format!("hard third {}", recall(hard)));
    }
    match &bar.strata {
        None => more.push("by an earlier rule: rescore".to_owned()),
        Some(strata) if bar.outcome == StratumOutcome::Inconclusive => {
            more.extend(in_words(&strata.abstained));
        }
        Some(_) => {}
    }
    Some(match more.as_slice() {
        [] => bar.outcome.word().to_owned(),
        more => format!("{} ({})", bar.outcome.word(), more.join("; ")),
    })
}

/// Nothing where none abstains.
fn in_words(abstained: &[Stratum]) -> Option<String> {
    let thirds = Stratum::THIRDS;
    let all_thirds = thirds.iter().all(|third| abstained.contains(third));
    let mut words: Vec<&str> = Vec::new();
    if all_thirds {
        words.push("all thirds");
    }
    let others = abstained
        .iter()
        .filter(|stratum| !(all_thirds && thirds.contains(stratum)));
    words.extend(others.map(|stratum| stratum.words()));
    (!words.is_empty()).then(|| format!("without bounds: {}", words.join(", ")))
}
