use super::agreement::{SAME, agreement};
use super::metric_matches::Fits;
use super::probe::Probe;
use super::subject::Subject;
use super::words::percent;
use super::{Finding, Rule};
use crate::DatasetError;
use crate::truth::Claimed;
use std::collections::HashSet;

/// From this share on nothing has to be explained.
const CLEAN: f64 = 0.9999;

/// Queries whose truth may have a strange id before the base is in doubt and not the file.
const FEW: f64 = 0.01;

/// That the truth is that of this base and of these queries.
pub(super) fn corpus_matches(
    subject: &Subject<'_>,
    probe: Option<&Probe>,
    fits: Option<&Fits>,
) -> Result<Finding, DatasetError> {
    let rule = Rule::CorpusMatches;
    let claimed = match subject.claimed() {
        Ok(claimed) => claimed,
        Err(why) => return Ok(Finding::cannot_tell(rule, why)),
    };
    let n = subject.base.n();
    let range = Range::of(subject, claimed);
    let strange = range.strange_queries as f64 > FEW * claimed.queries() as f64;
    let (Some(probe), Some(fits)) = (probe, fits) else {
        return Ok(match strange {
            true => larger_base(subject, claimed, &range),
            false => Finding::cannot_tell(rule, super::TOO_LARGE),
        });
    };
    let (best, share) = fits.best();
    let said = format!(
        "{} of the neighbours of {} queries are true ones by {best}",
        percent(share, 1.0),
        fits.asked.len()
    );
    if share >= CLEAN && !strange {
        let evidence = format!(
            "{said}; ids from {} to {} of {n} rows",
            range.least, range.most
        );
        return Ok(Finding::holds(rule, evidence).with("share", share));
    }
    let claims = |q: usize| claimed.row(q).to_vec();
    let asked = &fits.asked;
    // Of a truth that fits no metric, the one that fits best may be any.
    let metrics = || fits.shares.iter().map(|&(metric, _)| metric);
    for (shift, high) in [(-1, "one too high: they count from 1"), (1, "one too low")] {
        // Only where the shifted ids name rows.
        let is_inside = range.least + shift >= 0 && range.most + shift < n as i64;
        if !is_inside || share >= SAME {
            continue;
        }
        for metric in metrics() {
            let other = agreement(subject, &claims, asked, subject.base, metric, shift)?;
            if other >= SAME {
                return Ok(violated(
                    "ids_shifted_by_one",
                    format!(
                        "ids are {high}; {said}, {} by {metric} when {shift} is added to each",
                        percent(other, 1.0)
                    ),
                    "ids count rows from 0: add the shift and write the truth again",
                    share,
                ));
            }
        }
    }
    if strange {
        return Ok(larger_base(subject, claimed, &range).with("share", share));
    }
    let first = usize::try_from(range.most + 1).unwrap_or(n);
    if first < n - n / 1000 && first >= claimed.width {
        let base = subject.base.slice(0..first);
        for metric in metrics() {
            let other = agreement(subject, &claims, asked, base, metric, 0)?;
            if other >= CLEAN || (share < SAME && other >= SAME) {
                return Ok(violated(
                    "truth_of_the_first_rows",
                    format!(
                        "no id is above {}, and {} are true ones by {metric} of the first {first} \
                         rows alone (or of a few more); of all {n}, {said}",
                        range.most,
                        percent(other, 1.0)
                    ),
                    "the truth belongs to a slice of this base: take the first rows with \
                     `take_first`, or use truth of the whole",
                    share,
                ));
            }
        }
    }
    if share >= SAME {
        let evidence = format!("{said}; what the others are is for truth_exact to say");
        return Ok(Finding::holds(rule, evidence).with("share", share));
    }
    if let Some((query, row, overlap)) = other_queries(claimed, probe) {
        return Ok(violated(
            "truth_of_other_queries",
            format!(
                "{said}; but row {row} of the truth holds {} of the neighbours of query {query}",
                percent(overlap, 1.0)
            ),
            "queries and truth are in another order, or of other parts: use those that belong together",
            share,
        ));
    }
    Ok(violated(
        "truth_of_another_base",
        format!(
            "{said}, though every id names a row (from {} to {} of {n}); no shift and no slice \
             explains it",
            range.least, range.most
        ),
        "the truth belongs to another base, and equal counts are no identity: use its own, or leave \
         `truth` out of the entry: it is then computed",
        share,
    ))
}

fn violated(cause: &str, evidence: String, next: &str, share: f64) -> Finding {
    Finding::violated(Rule::CorpusMatches, evidence, next)
        .with("cause", cause)
        .with("share", share)
}

/// Where the ids of the truth lie.
struct Range {
    least: i64,
    most: i64,
    strange_queries: usize,
}

impl Range {
    fn of(subject: &Subject<'_>, claimed: &Claimed) -> Self {
        let strange = |&q: &usize| {
            let mut ids = claimed.row(q).iter();
            ids.any(|&id| subject.row_of(id).is_none())
        };
        Self {
            least: claimed.ids.iter().copied().min().unwrap_or(0),
            most: claimed.ids.iter().copied().max().unwrap_or(0),
            strange_queries: (0..claimed.queries()).filter(strange).count(),
        }
    }
}

fn larger_base(subject: &Subject<'_>, claimed: &Claimed, range: &Range) -> Finding {
    let n = subject.base.n();
    let outside = claimed.ids.iter();
    let outside = outside.filter(|&&id| subject.row_of(id).is_none()).count();
    Finding::violated(
        Rule::CorpusMatches,
        format!(
            "{outside} of {} ids ({}) name no row of {n}, the largest is {}: the truth is that of a \
             base of {} rows or more",
            claimed.ids.len(),
            percent(outside as f64, claimed.ids.len() as f64),
            range.most,
            range.most.saturating_add(1)
        ),
        "every slice of a base needs a truth of its own: use it, or leave `truth` out of the entry: it \
         is then computed",
    )
    .with("cause", "truth_of_a_larger_base")
    .with("largest_id", range.most)
}

/// A query whose neighbours stand in the row of another: query, row, share.
fn other_queries(claimed: &Claimed, probe: &Probe) -> Option<(usize, usize, f64)> {
    for (i, q) in probe.queries().take(4) {
        let (ids, _) = probe.certified.neighbors().row(i);
        let true_ids: HashSet<i64> = ids.iter().map(|&id| i64::from(id)).collect();
        let overlap = |row: usize| {
            let common = claimed.row(row).iter().filter(|id| true_ids.contains(id));
            common.count() as f64 / claimed.width as f64
        };
        let best = (0..claimed.queries())
            .map(|row| (row, overlap(row)))
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        if best.0 != q && best.1 >= SAME {
            return Some((q, best.0, best.1));
        }
    }
    None
}
