use super::{Named, with_vectors};
use crate::places::Places;
use crate::{Answer, json};
use annbench_dataset::TruthAudit;
use annbench_report::count;
use anyhow::bail;
use std::fmt::Write;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "All queries are searched exactly, once: what was found is kept, and shipped neighbours are compared \
                  with it whenever the set is opened. For a sample of a set that is too large, see datasets audit \
                  --queries. Exit code: 0 when every neighbour is right, 1 when one is not, 2 when this cannot be told."
)]
pub struct AuditArgs {
    #[command(flatten)]
    pub named: Named,
}

/// `annbench truth audit NAME`
pub fn audit(places: &Places, args: &AuditArgs) -> anyhow::Result<Answer> {
    with_vectors(places, &args.named, |dataset, entry, options| {
        if !dataset.narrowed().is_empty() {
            bail!(
                "dataset {}: values were rounded, so the shipped neighbours are those of other vectors; audit it \
                 without --narrow",
                dataset.name()
            );
        }
        let Some(audit) = dataset.audit_truth(entry, options)? else {
            bail!(
                "dataset {0}: its entry has no `truth`, so that there is none to audit: exact neighbours are computed \
                 where they are needed, or by annbench truth compute {0}",
                dataset.name()
            );
        };
        Ok(Answer {
            good: audit.is_right(),
            text: match args.named.form.json {
                true => json::document(&audit)?,
                false => in_words(dataset.name(), &audit),
            },
        })
    })
}

fn in_words(name: &str, audit: &TruthAudit) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{name}: shipped neighbours against proved ones, {} of each of {} queries",
        audit.width,
        count(audit.queries as u64)
    );
    let heads = [
        "k",
        "same ids",
        "other ties",
        "wrong",
        "unique",
        "tied",
        "resolved",
    ];
    let mut rows = vec![heads.map(str::to_owned)];
    rows.extend(audit.at.iter().map(|at| {
        [
            at.k as u64,
            at.same,
            at.other_ties,
            at.wrong,
            at.unique,
            at.tied,
            at.resolved,
        ]
        .map(count)
    }));
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text.push_str(
        "  (wrong: a nearer row is missed. tied: the next row is exactly as far as the k-th, so that other ids are as \
         right)\n",
    );
    if audit.unusable_ids > 0 {
        let _ = writeln!(
            text,
            "  {} ids name no row of the base, or one a second time",
            count(audit.unusable_ids)
        );
    }
    let uncertified: u64 = audit.at.iter().map(|at| at.uncertified).max().unwrap_or(0);
    if uncertified > 0 {
        let _ = writeln!(text, "  {} queries are not proved", count(uncertified));
    }
    let _ = match audit.first_wrong {
        None if audit.is_right() => writeln!(text, "every shipped neighbour is right"),
        None => writeln!(text, "the neighbours cannot be used"),
        Some(wrong) => {
            let said = wrong
                .claimed_distance
                .map_or("missing".to_owned(), |d| format!("at {d}"));
            writeln!(
                text,
                "the first: query {}, neighbour {} is {said}, but row {} is at {} -> leave `truth` out of the entry: \
                 exact neighbours are then computed",
                wrong.query, wrong.rank, wrong.id, wrong.distance
            )
        }
    };
    text
}
