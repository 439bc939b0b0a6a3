use super::convention::Convention;
use super::metric_matches::Fits;
use super::probe::Probe;
use super::subject::{Claim, Subject};
use super::words::{number, percent};
use super::{Finding, Rule};
use crate::truth::Distances;

/// The share of distances that must be those of a convention: others may have been damaged.
const FOLLOWED: f64 = 0.99;

/// That distances in the truth's file are those of the metric, whichever convention they follow.
pub(super) fn shipped_distances(subject: &Subject<'_>, probe: &Probe, fits: &Fits) -> Finding {
    let rule = Rule::ShippedDistances;
    let claimed = match subject.truth {
        Claim::Read(claimed) => claimed,
        Claim::None(why) | Claim::Unreadable(why) => return Finding::cannot_tell(rule, why),
    };
    let shipped = match &claimed.distances {
        Distances::NotShipped => {
            return Finding::cannot_tell(rule, "the truth is ids alone, without distances");
        }
        Distances::Unreadable(why) => return Finding::cannot_tell(rule, why.as_str()),
        Distances::Shipped(shipped) => shipped,
    };
    let metrics: Vec<_> = subject.metrics().collect();
    let mut tallies: Vec<(Convention, u64)> = Convention::ALL
        .into_iter()
        .filter(|convention| metrics.contains(&convention.metric()))
        .map(|convention| (convention, 0))
        .collect();
    let mut all = 0u64;
    let mut compared = Vec::new();
    for (_, q) in probe.queries().take(64) {
        let row = claimed.row(q).iter().zip(&shipped[q * claimed.width..]);
        for (&id, &said) in row {
            let Some(id) = subject.row_of(id) else {
                continue;
            };
            all += 1;
            let (query, x) = (subject.queries.row(q), subject.base.row(id as usize));
            for (convention, hits) in &mut tallies {
                let (value, tolerance) = convention.value(query, x);
                *hits += u64::from((said - value).abs() <= tolerance);
            }
            compared.push((q, id, said));
        }
    }
    if compared.is_empty() {
        return Finding::cannot_tell(rule, "no id of the truth names a row");
    }
    let follows: Vec<Convention> = tallies
        .iter()
        .filter(|(_, hits)| *hits as f64 >= FOLLOWED * all as f64)
        .map(|&(convention, _)| convention)
        .collect();
    let names = follows.iter().map(|c| c.name()).collect::<Vec<_>>();
    let own_metric = follows.iter().any(|c| c.metric() == subject.metric);
    let alike = follows.iter().any(|c| fits.is_alike(c.metric()));
    let finding = if own_metric {
        let evidence = format!("{} of {all} distances compared", names.join(" and "));
        Finding::holds(rule, evidence)
    } else if alike {
        let evidence = format!(
            "{} of {all} distances compared, which orders these neighbours as {} does",
            names.join(" and "),
            subject.metric
        );
        Finding::holds(rule, evidence)
    } else if follows.is_empty() {
        let best = tallies.iter().max_by_key(|(_, hits)| *hits);
        let best = best.map_or_else(String::new, |&(convention, hits)| {
            let fits = format!(
                "{} fits best, {hits} of {all} ({})",
                convention.name(),
                percent(hits as f64, all as f64)
            );
            // The first that it does not fit.
            let other = compared.iter().find_map(|&(q, id, said)| {
                let (query, x) = (subject.queries.row(q), subject.base.row(id as usize));
                let (value, tolerance) = convention.value(query, x);
                ((said - value).abs() > tolerance).then_some((q, id, said, value))
            });
            other.map_or(fits.clone(), |(q, id, said, value)| {
                format!(
                    "{fits}; the first that it does not fit: query {q} and row {id} are said to be {} apart, and \
                     are {}",
                    number(said),
                    number(value)
                )
            })
        });
        Finding::violated(
            rule,
            format!("they follow no convention that is known: {best}"),
            "the truth is of other vectors, or its distances are of something else: see \
             corpus_matches and metric_matches; annbench computes its own",
        )
    } else {
        Finding::violated(
            rule,
            format!(
                "they are {}, but the entry says {}",
                names.join(" and "),
                subject.metric
            ),
            "correct `metric` in the entry, or use truth of its metric",
        )
    };
    finding.with("conventions", names).with("compared", all)
}
