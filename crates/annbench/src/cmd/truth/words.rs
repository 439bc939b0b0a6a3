use crate::args::Form;
use crate::{Answer, json};
use annbench_dataset::{Dataset, Piece, PieceFacts};
use annbench_exact::{Method, Status};
use annbench_report::count;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// What was found, for programs.
#[derive(Serialize)]
pub struct Found {
    #[serde(flatten)]
    facts: PieceFacts,
    /// Whether it is the truth of the dataset: all rows, all queries.
    whole: bool,
    /// Queries by how they were found.
    method: BTreeMap<&'static str, usize>,
    /// Queries by whether their set of k neighbours is the only one.
    status: BTreeMap<&'static str, usize>,
    /// Queries that needed more rows than the first shortlist has.
    beyond_first_shortlist: usize,
    /// Over ids, then distances.
    sha256: String,
    /// Folders in which it is kept.
    kept: Vec<PathBuf>,
    notes: Vec<String>,
    #[serde(skip)]
    certified: bool,
}

impl Found {
    /// Of `piece`, which lies in the folders `kept`.
    pub fn new(dataset: &Dataset, piece: &Piece, kept: Vec<PathBuf>) -> Self {
        let (found, facts) = (piece.found(), piece.facts().clone());
        let proofs = found.proofs();
        let by_method = |method: Method| {
            let queries = proofs.iter().filter(|p| p.method == method).count();
            (queries > 0).then_some((method.name(), queries))
        };
        let by_status = |status: Status| (status.name(), found.count(status));
        Self {
            whole: facts.is_whole(),
            method: Method::ALL.into_iter().filter_map(by_method).collect(),
            status: Status::ALL.into_iter().map(by_status).collect(),
            beyond_first_shortlist: proofs.iter().filter(|p| p.doublings > 0).count(),
            sha256: piece.sha256(),
            certified: piece.is_certified(),
            kept,
            notes: [dataset.notes().to_vec(), dataset.later_notes()].concat(),
            facts,
        }
    }

    /// The answer, which is good when every query is proved.
    pub fn answer(&self, form: Form) -> anyhow::Result<Answer> {
        Ok(Answer {
            good: self.certified,
            text: match form.json {
                true => json::document(self)?,
                false => self.text(),
            },
        })
    }

    /// For people.
    fn text(&self) -> String {
        let facts = &self.facts;
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}: {} nearest of {} rows to each of {} queries, {}",
            facts.dataset,
            facts.k,
            count((facts.end_row - facts.first_row) as u64),
            count(facts.queries as u64),
            facts.metric,
        );
        if !facts.covers_base() {
            let _ = writeln!(
                text,
                "  part only   base rows {} to {} of {}: not the truth of the set until it is joined",
                facts.first_row,
                facts.end_row,
                count(facts.base_rows as u64)
            );
        }
        if facts.queries < facts.all_queries {
            let _ = writeln!(
                text,
                "  sample      {} of {} queries, drawn at random: not the truth of the set",
                count(facts.queries as u64),
                count(facts.all_queries as u64)
            );
        }
        let list = |counts: &BTreeMap<&str, usize>| {
            let words = counts.iter().map(|(name, n)| {
                let name = name.replace('_', " ");
                format!("{} {name}", count(*n as u64))
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let proved = facts.queries - self.status[Status::Uncertified.name()];
        let _ = writeln!(
            text,
            "  proved      {} of {} queries, by {}",
            count(proved as u64),
            count(facts.queries as u64),
            list(&self.method)
        );
        let _ = writeln!(
            text,
            "  sets        {}",
            Status::ALL
                .map(|status| format!(
                    "{} {}",
                    count(self.status[status.name()] as u64),
                    status.name()
                ))
                .join(", ")
        );
        let _ = writeln!(text, "  sha256      {} (ids, then distances)", self.sha256);
        for dir in &self.kept {
            let _ = writeln!(text, "  kept in     {}", dir.display());
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        text
    }
}
