use super::probe::Probe;
use super::subject::Subject;
use super::words::percent;
use super::{Finding, Rule};
use annbench_exact::{Candidate, Status, status};

/// Ranks at which recall is told.
const RANKS: [usize; 3] = [1, 10, 100];

/// The largest share of queries with a tie at which a recall of ids can be published.
const FEW: f64 = 0.01;

/// That few queries have a k-th neighbour with which the next ties.
pub(super) fn ties(subject: &Subject<'_>, probe: &Probe) -> Finding {
    let rule = Rule::Ties;
    let neighbors = probe.certified.neighbors();
    let (mut told, mut worst) = (Vec::new(), 0.0f64);
    let mut finding = Finding::cannot_tell(rule, "");
    let all = probe.defined(subject).count();
    for k in RANKS.into_iter().filter(|&k| k <= probe.k) {
        // As the audit of truth has it: the same distance, not merely within what rounding may hide.
        let tied = probe.defined(subject).filter(|&(i, q)| {
            let (ids, distances) = neighbors.row(i);
            let at = |rank: usize| Candidate {
                distance: distances[rank],
                id: ids[rank],
            };
            let next = match k < ids.len() {
                true => Some(at(k)),
                false => probe.certified.next(i),
            };
            let (metric, base, queries) = (subject.metric, subject.base, subject.queries);
            status(metric, base, queries, q, at(k - 1), next) == Status::Tied
        });
        let tied = tied.count();
        worst = worst.max(tied as f64 / all.max(1) as f64);
        told.push(format!(
            "{tied} at k = {k} ({})",
            percent(tied as f64, all as f64)
        ));
        finding = finding.with(&format!("tied_at_{k}"), tied);
    }
    let evidence = format!("of {all} queries tie: {}", told.join(", "));
    let measured = finding.with("queries", all).measured;
    let verdict = if all == 0 {
        Finding::cannot_tell(rule, "no query has a nearest row")
    } else if worst > FEW {
        Finding::violated(
            rule,
            evidence,
            "a recall of ids alone is not publishable here: quote the tie-aware one, which is \
             annbench's recall",
        )
    } else {
        Finding::holds(rule, evidence)
    };
    Finding {
        measured,
        ..verdict
    }
}
