use super::probe::Probe;
use super::subject::Subject;
use super::words::{number, percent};
use super::{Finding, Rule};
use annbench_core::norm;
use annbench_stats::{clopper_pearson_upper, most_wrong};

/// Of what is said of queries that were not looked at.
const CONFIDENCE: f64 = 0.95;

/// A query with a row that is nearer than its truth says.
struct Wrong {
    query: usize,
    rank: usize,
    said: f64,
    found: f64,
    row: u32,
}

/// That no row is nearer than the truth says, beyond rounding of f64.
pub(super) fn truth_exact(subject: &Subject<'_>, probe: &Probe) -> Finding {
    let rule = Rule::TruthExact;
    let claimed = match subject.claimed() {
        Ok(claimed) => claimed,
        Err(why) => return Finding::cannot_tell(rule, why),
    };
    let tolerance = subject.tolerance(subject.metric);
    let (mut wrong, mut first, mut worst) = (0u64, None::<Wrong>, 0.0f64);
    for (i, q) in probe.queries() {
        let mut ids: Vec<u32> = claimed
            .row(q)
            .iter()
            .filter_map(|&id| subject.row_of(id))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let distances = ids
            .iter()
            .map(|&id| subject.distance(subject.metric, q, id));
        let mut distances: Vec<f64> = distances.collect();
        distances.sort_unstable_by(f64::total_cmp);
        let (true_ids, true_distances) = probe.certified.neighbors().row(i);
        let norm = norm(subject.queries.row(q));
        let beaten = (0..probe.k).find_map(|rank| {
            let d = true_distances[rank];
            // A missing neighbour is as far as can be.
            let said = distances.get(rank).copied().unwrap_or(f64::INFINITY);
            (said > d + tolerance.at(d, norm)).then_some((rank, said, d))
        });
        let Some((rank, said, found)) = beaten else {
            continue;
        };
        wrong += 1;
        worst = worst.max((said - found) / found.abs().max(f64::MIN_POSITIVE));
        let missed = true_ids.iter().find(|id| ids.binary_search(id).is_err());
        first.get_or_insert(Wrong {
            query: q,
            rank,
            said,
            found,
            row: missed.copied().unwrap_or(true_ids[rank]),
        });
    }
    let (audited, all) = (probe.asked.len() as u64, subject.queries.n() as u64);
    let bound = bound(wrong, audited, all);
    let finding = match first {
        None => Finding::holds(rule, bound.clone()),
        Some(first) => {
            let rank = first.rank + 1;
            let said = match first.said.is_finite() {
                true => format!(
                    "its neighbour {rank} is at {}, not at {}",
                    number(first.found),
                    number(first.said)
                ),
                false => format!("it has no neighbour {rank} at all"),
            };
            let excess = match worst.is_finite() {
                true => format!("; the largest excess is {} of the distance", number(worst)),
                false => String::new(),
            };
            Finding::violated(
                rule,
                format!(
                    "{bound}; the first: query {} misses row {}; {said}{excess}",
                    first.query, first.row
                ),
                "leave `truth` out of the entry: annbench computes it exactly; a small excess means \
                 that the truth was computed in f32",
            )
        }
    };
    finding
        .with("wrong", wrong)
        .with("audited", audited)
        .with("queries", all)
        .with("bound", bound)
}

/// What the audited queries say of all, in words.
fn bound(wrong: u64, audited: u64, all: u64) -> String {
    if audited == all {
        return match wrong {
            0 => format!("all {all} queries: every neighbour is proved"),
            _ => format!(
                "{wrong} of all {all} queries ({}) have a wrong neighbour",
                percent(wrong as f64, all as f64)
            ),
        };
    }
    let drawn = format!("{wrong} of {audited} queries drawn from {all} have a wrong neighbour");
    let at_most = match wrong {
        0 => most_wrong(all, audited, CONFIDENCE)
            .map(|most| format!("at most {most} of all {all} have (hypergeometric)")),
        _ => clopper_pearson_upper(wrong, audited, CONFIDENCE).map(|most| {
            format!(
                "at most {:.3} % of all have (Clopper and Pearson)",
                100.0 * most
            )
        }),
    };
    match at_most {
        Some(at_most) => format!("{drawn}: with 95 % confidence {at_most}"),
        None => drawn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_worked_examples() {
        for (wrong, audited, words) in [
            (0, 500, "at most 58 of all 10000 have (hypergeometric)"),
            (0, 1_000, "at most 28 of"),
            (0, 2_000, "at most 13 of"),
            (
                2,
                1_000,
                "at most 0.628 % of all have (Clopper and Pearson)",
            ),
        ] {
            let said = bound(wrong, audited, 10_000);
            assert!(said.contains(words), "{said}");
        }
        assert!(bound(0, 9, 9).starts_with("all 9 queries"));
    }
}
