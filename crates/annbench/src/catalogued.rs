//! Dataset entries as programs read them.

use annbench_core::{ElementType, Metric};
use annbench_dataset::{Entry, FileState, FileStatus};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An entry, and which of its files are here.
#[derive(Debug, Serialize)]
pub struct Catalogued<'e> {
    name: &'e str,
    description: &'e str,
    metric: Metric,
    element: ElementType,
    n: usize,
    queries: usize,
    dim: usize,
    /// Columns of shipped truth; absent where truth is computed.
    truth_width: Option<usize>,
    source: &'e str,
    licence: &'e str,
    /// Whether every file is here.
    here: bool,
    archive: Option<Download<'e>>,
    files: Vec<CataloguedFile>,
    notes: &'e [String],
}

#[derive(Debug, Serialize)]
struct Download<'e> {
    url: &'e str,
    mirrors: &'e [String],
    bytes: Option<u64>,
    sha256: Option<&'e str>,
    md5: Option<&'e str>,
}

#[derive(Debug, Serialize)]
struct CataloguedFile {
    file: String,
    roles: Vec<&'static str>,
    url: Option<String>,
    mirrors: Vec<String>,
    bytes: Option<u64>,
    sha256: Option<String>,
    /// Of what is at the URL, packed or not.
    md5: Option<String>,
    flat_sha256: Option<String>,
    belongs: PathBuf,
    /// missing, present or other_size.
    state: &'static str,
    path: Option<PathBuf>,
    bytes_found: Option<u64>,
}

impl<'e> Catalogued<'e> {
    /// What `entry` says, and what of it is on this machine.
    pub fn new(entry: &'e Entry) -> Self {
        let statuses = entry.file_statuses();
        Self {
            name: &entry.name,
            description: &entry.description,
            metric: entry.metric,
            element: entry.element,
            n: entry.n(),
            queries: entry.queries.n(),
            dim: entry.dim,
            truth_width: entry.truth.as_ref().map(|truth| truth.width),
            source: &entry.source,
            licence: &entry.licence,
            here: statuses
                .iter()
                .all(|status| status.state != FileState::Missing),
            archive: entry.archive.as_ref().map(|archive| Download {
                url: &archive.url,
                mirrors: &archive.mirrors,
                bytes: archive.bytes,
                sha256: archive.sha256.as_deref(),
                md5: archive.md5.as_deref(),
            }),
            files: statuses.into_iter().map(CataloguedFile::new).collect(),
            notes: &entry.notes,
        }
    }
}

impl CataloguedFile {
    fn new(status: FileStatus) -> Self {
        let own = |path: &Path| Some(path.to_owned());
        let (state, path, bytes_found) = match &status.state {
            FileState::Missing => ("missing", None, None),
            FileState::Present { path, bytes } => ("present", own(path), Some(*bytes)),
            FileState::OtherSize { path, bytes } => ("other_size", own(path), Some(*bytes)),
        };
        Self {
            file: status.file,
            roles: status.roles,
            url: status.facts.url,
            mirrors: status.facts.mirrors,
            md5: status.facts.md5,
            bytes: status.facts.bytes,
            sha256: status.facts.sha256,
            flat_sha256: status.facts.flat_sha256,
            belongs: status.belongs,
            state,
            path,
            bytes_found,
        }
    }
}
