//! What a dataset has beside vectors and neighbours, as the rows of that dataset.

use crate::companion::refused;
use crate::mapped::MappedFile;
use crate::opening::missing;
use crate::{
    Dataset, DatasetError, IdList, Judged, MetadataPart, Qrels, QrelsPart, RangeTruth,
    RangeTruthPart, SparseRows,
};

/// Sparse rows that are known of base rows and queries, such as tags.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// A row for each of the file of the base, `[rows, columns]`; where the set takes the first of them,
    /// the first of these belong to it.
    pub base: SparseRows,
    /// A row for each of the file of the queries, `[rows, columns]`.
    pub queries: SparseRows,
}

impl Dataset {
    /// How relevant which base rows are to which queries, by query and row; `None` where the entry has no
    /// `qrels`. A query may have none. They are judgements, not neighbours.
    ///
    /// Size and checksum of the files were compared when the dataset was opened; they are read anew
    /// every time.
    ///
    /// # Errors
    /// [`DatasetError::Missing`] where one of the files is not there; [`DatasetError::Contents`] where
    /// one of them is not what it should be, names more or fewer rows than the set has, or judges a row
    /// that it has not.
    pub fn judgements(&self) -> Result<Option<Vec<Judged>>, DatasetError> {
        let entry = self.entry();
        let Some(QrelsPart {
            file,
            query_ids,
            base_ids,
        }) = &entry.qrels
        else {
            return Ok(None);
        };
        let [qrels, query_ids, base_ids] = self.files_beside([file, query_ids, base_ids])?;
        let queries = IdList::parse(query_ids, entry.queries.n())?;
        let base = IdList::parse(base_ids, entry.n())?;
        Qrels::parse(qrels)?.resolve(&queries, &base).map(Some)
    }

    /// All base rows within a radius of each query; `None` where the entry has no `range_truth`.
    ///
    /// # Errors
    /// [`DatasetError::Missing`]; [`DatasetError::Contents`] where the file is not what it should be, or
    /// is about other queries or rows.
    pub fn range_truth(&self) -> Result<Option<RangeTruth>, DatasetError> {
        let entry = self.entry();
        let Some(RangeTruthPart { file }) = &entry.range_truth else {
            return Ok(None);
        };
        let [file] = self.files_beside([file])?;
        let truth = RangeTruth::parse(file, entry.n())?;
        if truth.queries() != entry.queries.n() {
            return Err(refused(
                file.path(),
                "queries",
                format!("{}, those of the set", entry.queries.n()),
                truth.queries().to_string(),
            ));
        }
        Ok(Some(truth))
    }

    /// What is known of base rows and queries beside their vectors; `None` where the entry has no
    /// `metadata`.
    ///
    /// # Errors
    /// [`DatasetError::Missing`]; [`DatasetError::Contents`] where a file is not what it should be, or
    /// has other rows or columns than the entry says.
    pub fn metadata(&self) -> Result<Option<Metadata>, DatasetError> {
        let entry = self.entry();
        let Some(MetadataPart {
            base,
            queries,
            columns,
        }) = &entry.metadata
        else {
            return Ok(None);
        };
        let read = |file: &MappedFile, rows: usize| {
            let read = SparseRows::parse(file)?;
            if (read.n(), read.dim()) != (rows, *columns) {
                return Err(refused(
                    file.path(),
                    "header",
                    format!("{rows} rows of {columns}, as the dataset entry says"),
                    format!("{} of {}", read.n(), read.dim()),
                ));
            }
            Ok(read)
        };
        let [base, queries] = self.files_beside([base, queries])?;
        Ok(Some(Metadata {
            base: read(base, entry.base.rows)?,
            queries: read(queries, entry.queries.rows)?,
        }))
    }

    /// The files of those names, or which of them are not there.
    fn files_beside<const N: usize>(
        &self,
        names: [&String; N],
    ) -> Result<[&MappedFile; N], DatasetError> {
        let absent: Vec<&str> = names
            .into_iter()
            .map(String::as_str)
            .filter(|name| !self.beside.contains_key(*name))
            .collect();
        if absent.is_empty() {
            return Ok(names.map(|name| &self.beside[name]));
        }
        Err(missing(self.entry(), &absent))
    }
}
