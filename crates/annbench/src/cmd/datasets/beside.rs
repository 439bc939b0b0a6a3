//! What a set has beside vectors and neighbours, in lines of `show` and `check`.

use annbench_dataset::{Dataset, DatasetError, Entry};
use annbench_report::count;
use std::fmt::Write;

/// What the entry names.
pub fn declared(entry: &Entry) -> String {
    let mut text = String::new();
    if entry.qrels.is_some() {
        text.push_str("  qrels     judgements of relevance, which are no neighbours\n");
    }
    if entry.range_truth.is_some() {
        text.push_str("  range     all rows within a radius of each query; no search uses them\n");
    }
    if let Some(part) = &entry.metadata {
        let columns = count(part.columns as u64);
        let _ = writeln!(
            text,
            "  metadata  {columns} columns of base and queries; no search uses them"
        );
    }
    text
}

/// What the files hold: they are read as a whole.
///
/// # Errors
/// Where one of them is missing, or not what the entry says.
pub fn checked(dataset: &Dataset) -> Result<String, DatasetError> {
    let mut text = String::new();
    if let Some(judged) = dataset.judgements()? {
        let queries = judged.chunk_by(|a, b| a.query == b.query).count();
        let _ = writeln!(
            text,
            "  qrels                {} judgements of {} queries",
            count(judged.len() as u64),
            count(queries as u64)
        );
    }
    if let Some(truth) = dataset.range_truth()? {
        let results = (0..truth.queries()).map(|q| truth.row(q).0.len());
        let _ = writeln!(
            text,
            "  range truth          {} rows, {} at most for a query; no search uses them",
            count(results.clone().sum::<usize>() as u64),
            count(results.max().unwrap_or(0) as u64)
        );
    }
    if let Some(metadata) = dataset.metadata()? {
        let _ = writeln!(
            text,
            "  metadata             {} columns; no search uses them",
            count(metadata.base.dim() as u64)
        );
    }
    Ok(text)
}
