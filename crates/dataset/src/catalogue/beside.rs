use super::EntryError;
use super::read::{file, size};
use annbench_yaml::{Node, Source};

const QRELS_KEYS: [&str; 3] = ["file", "query_ids", "base_ids"];
const RANGE_TRUTH_KEYS: [&str; 1] = ["file"];
const METADATA_KEYS: [&str; 3] = ["base", "queries", "columns"];

/// Judgements of relevance in a file of BEIR's, and what it calls queries and base rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrelsPart {
    /// File name, or a path: tab-separated names of query and base row, and a score.
    pub file: String,
    /// File of the names of all queries, one a line.
    pub query_ids: String,
    /// File of the names of all base rows, one a line.
    pub base_ids: String,
}

/// All base rows within a radius of each query, in a `.rangeres` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeTruthPart {
    /// File name, or a path.
    pub file: String,
}

/// What is known of base rows and queries beside their vectors, such as tags: sparse rows in `.spmat`
/// files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataPart {
    /// File of as many rows as the file of the base has.
    pub base: String,
    /// File of as many rows as the file of the queries has.
    pub queries: String,
    /// Columns of both.
    pub columns: usize,
}

/// Reads `qrels`.
pub(super) fn qrels_part(source: &Source, node: &Node) -> Result<QrelsPart, EntryError> {
    let fields = source.fields(node, "`qrels`", &QRELS_KEYS)?;
    let named = |key, example| file(source, fields.required(key, example)?, key);
    Ok(QrelsPart {
        file: named("file", "file: qrels.tsv")?,
        query_ids: named("query_ids", "query_ids: query_ids.txt")?,
        base_ids: named("base_ids", "base_ids: base_ids.txt")?,
    })
}

/// Reads `range_truth`.
pub(super) fn range_truth_part(source: &Source, node: &Node) -> Result<RangeTruthPart, EntryError> {
    let fields = source.fields(node, "`range_truth`", &RANGE_TRUTH_KEYS)?;
    let node = fields.required("file", "file: gt.rangeres")?;
    Ok(RangeTruthPart {
        file: file(source, node, "file")?,
    })
}

/// Reads `metadata`.
pub(super) fn metadata_part(source: &Source, node: &Node) -> Result<MetadataPart, EntryError> {
    let fields = source.fields(node, "`metadata`", &METADATA_KEYS)?;
    let named = |key, example| file(source, fields.required(key, example)?, key);
    let columns = fields.required("columns", "columns: 200386")?;
    Ok(MetadataPart {
        base: named("base", "base: base.spmat")?,
        queries: named("queries", "queries: query.spmat")?,
        columns: size(source, columns, "`columns`")?,
    })
}
