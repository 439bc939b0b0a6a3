use super::{MetadataPart, Places, QrelsPart, RangeTruthPart};
use crate::Format;
use annbench_core::{ElementType, Metric};
use std::collections::BTreeMap;
use std::path::Path;

/// A dataset as its YAML file describes it. Nothing here was read from the dataset's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Catalogue name, the same as the YAML file's.
    pub name: String,
    /// What it is, in a line or two.
    pub description: String,
    /// Metric.
    pub metric: Metric,
    /// Element type of the base and the queries.
    pub element: ElementType,
    /// Components per vector.
    pub dim: usize,
    /// Where the base comes from.
    pub base: VectorsPart,
    /// Where the queries come from.
    pub queries: VectorsPart,
    /// Where shipped truth comes from, if there is any.
    pub truth: Option<TruthPart>,
    /// Judgements of relevance, if there are any.
    pub qrels: Option<QrelsPart>,
    /// All base rows within a radius of each query, if they are shipped.
    pub range_truth: Option<RangeTruthPart>,
    /// What is known of rows beside their vectors, if anything is.
    pub metadata: Option<MetadataPart>,
    /// What is known of the files, by file name.
    pub files: BTreeMap<String, FileFacts>,
    /// Folders of servers that have, by their names, the files of which no URL is known, in the order in
    /// which they are tried.
    pub from: Vec<String>,
    /// What the publisher packs the files into, if that is what one downloads.
    pub archive: Option<Archive>,
    /// Who published it, and where its facts come from.
    pub source: String,
    /// Under which terms.
    pub licence: String,
    /// What a user should know.
    pub notes: Vec<String>,
    /// Where its files may lie.
    pub places: Places,
}

/// Vectors in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorsPart {
    /// File name, or a path; of several files the first.
    pub file: String,
    /// All files, where the rows are split into several; empty where one file has them all.
    pub shards: Vec<Shard>,
    /// Layout.
    pub format: Format,
    /// The dataset inside an HDF5 file, or the column of a parquet file.
    pub hdf5_dataset: Option<String>,
    /// The column of a parquet file that says which row of the set each row is, from 0 on.
    pub ids: Option<String>,
    /// Rows of the whole file, or of all files.
    pub rows: usize,
    /// Only the first rows belong to the set; the file may be cut after them.
    pub take_first: Option<usize>,
}

/// One of the files that the rows of a part are split into, in the order of the rows unless a column
/// numbers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// File name, or a path.
    pub file: String,
    /// Its rows, where they are known.
    pub rows: Option<usize>,
}

impl VectorsPart {
    /// The names of all its files.
    pub fn files(&self) -> Vec<&str> {
        match &self.shards[..] {
            [] => vec![&self.file],
            shards => shards.iter().map(|shard| &*shard.file).collect(),
        }
    }

    /// Whether `file` is one of its files.
    pub fn is_in(&self, file: &str) -> bool {
        self.files().contains(&file)
    }

    /// Rows that belong to the set.
    pub fn n(&self) -> usize {
        self.take_first.unwrap_or(self.rows)
    }
}

/// Shipped neighbours in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthPart {
    /// File name, or a path.
    pub file: String,
    /// Layout.
    pub format: Format,
    /// The dataset inside an HDF5 file, or the column of a parquet file.
    pub hdf5_dataset: Option<String>,
    /// The column of a parquet file that says which query each row is of, from 0 on.
    pub ids: Option<String>,
    /// Neighbours per query.
    pub width: usize,
}

/// What the catalogue knows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Size.
    pub bytes: Option<u64>,
    /// SHA-256 of the file.
    pub sha256: Option<String>,
    /// SHA-256 of the same vectors in the fbin or u8bin layout, where only that is known.
    pub flat_sha256: Option<String>,
    /// MD5 of what is at `url`, which may be packed, where the publisher gives nothing better.
    pub md5: Option<String>,
    /// Where it can be downloaded.
    pub url: Option<String>,
    /// Where else, in the order in which they are tried.
    pub mirrors: Vec<String>,
}

/// A packed download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Where it can be downloaded.
    pub url: String,
    /// Where else, in the order in which they are tried.
    pub mirrors: Vec<String>,
    /// Size.
    pub bytes: Option<u64>,
    /// SHA-256.
    pub sha256: Option<String>,
    /// MD5, where the publisher gives nothing better.
    pub md5: Option<String>,
}

impl Entry {
    /// Base rows.
    pub fn n(&self) -> usize {
        self.base.n()
    }

    /// The files that its vectors and neighbours are in, each with its role, in the order base, queries,
    /// truth; a file may have several.
    pub(crate) fn opened_files(&self) -> Vec<(&'static str, &str)> {
        let mut files: Vec<(&'static str, &str)> = Vec::new();
        files.extend(self.base.files().into_iter().map(|file| ("base", file)));
        files.extend(
            self.queries
                .files()
                .into_iter()
                .map(|file| ("queries", file)),
        );
        files.extend(self.truth.iter().map(|truth| ("truth", &*truth.file)));
        files
    }

    /// The files beside them, without which it can be searched all the same.
    pub(crate) fn files_beside(&self) -> Vec<(&'static str, &str)> {
        let mut files: Vec<(&'static str, &str)> = Vec::new();
        if let Some(part) = &self.qrels {
            files.extend([
                ("qrels", &*part.file),
                ("names of queries", &*part.query_ids),
                ("names of base rows", &*part.base_ids),
            ]);
        }
        if let Some(part) = &self.range_truth {
            files.push(("range truth", &part.file));
        }
        if let Some(part) = &self.metadata {
            files.extend([
                ("metadata of the base", &*part.base),
                ("metadata of the queries", &*part.queries),
            ]);
        }
        files
    }

    /// What is known of `file`.
    pub fn facts(&self, file: &str) -> FileFacts {
        let mut facts = self.files.get(file).cloned().unwrap_or_default();
        // An absolute path is no name that a server has.
        if facts.url.is_none() && !Path::new(file).is_absolute() {
            let folders = self.from.iter();
            let mut urls = folders.map(|from| format!("{}/{file}", from.trim_end_matches('/')));
            facts.url = urls.next();
            facts.mirrors.extend(urls);
        }
        facts
    }
}

/// Whether `name` can stand for one folder or file and nothing else.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
