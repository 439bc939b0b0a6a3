use super::subject::Subject;
use super::words::percent;
use super::{Finding, Rule};

/// That ids of the truth name rows, none twice for a query.
pub(super) fn truth_ids(subject: &Subject<'_>) -> Finding {
    let rule = Rule::TruthIds;
    let claimed = match subject.claimed() {
        Ok(claimed) => claimed,
        Err(why) => return Finding::cannot_tell(rule, why),
    };
    let (n, m) = (subject.base.n(), claimed.queries());
    let (mut outside, mut repeated) = (0u64, 0u64);
    let (mut first_outside, mut first_repeated) = (None, None);
    let mut sorted = Vec::new();
    for q in 0..m {
        let row = claimed.row(q);
        let strange = row.iter().position(|&id| subject.row_of(id).is_none());
        if let Some(position) = strange {
            outside += 1;
            first_outside.get_or_insert((q, position, row[position]));
        }
        sorted.clear();
        sorted.extend_from_slice(row);
        sorted.sort_unstable();
        if let Some([id, _]) = sorted.array_windows().find(|[a, b]| a == b) {
            repeated += 1;
            first_repeated.get_or_insert((q, *id));
        }
    }
    let mut faults = Vec::new();
    if let Some((q, position, id)) = first_outside {
        faults.push(format!(
            "{outside} of {m} queries ({}) have neighbours that are none of {n} base rows, the first: \
             query {q}, position {position}, id {id}",
            percent(outside as f64, m as f64)
        ));
    }
    if let Some((q, id)) = first_repeated {
        faults.push(format!(
            "{repeated} of {m} queries ({}) have a neighbour twice, the first: query {q}, id {id}",
            percent(repeated as f64, m as f64)
        ));
    }
    let finding = if faults.is_empty() {
        let evidence = format!(
            "all {} ids name rows, none twice for a query",
            claimed.ids.len()
        );
        Finding::holds(rule, evidence)
    } else {
        Finding::violated(
            rule,
            faults.join("; "),
            "use the truth of this very base, move it away and download it again, or leave `truth` out of the entry: \
             it is then computed",
        )
    };
    finding
        .with("queries_with_strange_ids", outside)
        .with("queries_with_repeated_ids", repeated)
}
