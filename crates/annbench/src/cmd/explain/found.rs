use crate::known::Known;
use annbench_results::{Record, check_raw, check_record};

/// What is known, and what speaks against it.
pub(super) struct Found<'r> {
    pub(super) known: Known<'r>,
    /// Why the raw files of each search are not those that were measured.
    pub(super) raw: Vec<Option<String>>,
    pub(super) contradictions: Vec<String>,
}

impl<'r> Found<'r> {
    /// Looks at every record and at its raw files.
    pub(super) fn new(known: Known<'r>) -> Self {
        let mut raw: Vec<Option<String>> = Vec::new();
        let mut contradictions = Vec::new();
        for (number, search) in known.searches.iter().enumerate() {
            // A later measurement of the same point has replaced the files of an earlier one.
            let later = &known.searches[number + 1..];
            let replaced = later
                .iter()
                .any(|l| l.point_id == search.point_id && l.measured.is_some());
            raw.push(match replaced {
                true => None,
                false => check_raw(&known.run.dir, search)
                    .err()
                    .map(|e| e.to_string()),
            });
            let record = Record::Search(Box::new((*search).clone()));
            contradictions.extend(check_record(&record).err());
        }
        for build in &known.builds {
            let record = Record::Build(Box::new((*build).clone()));
            contradictions.extend(check_record(&record).err());
        }
        Self {
            known,
            raw,
            contradictions,
        }
    }

    /// Whatever speaks against the records.
    pub(super) fn doubts(&self) -> impl Iterator<Item = &String> {
        self.contradictions.iter().chain(self.raw.iter().flatten())
    }
}
