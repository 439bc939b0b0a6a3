use super::document::{Document, Fields};
use super::{EntryError, Places};
use crate::Format;
use annbench_core::{ElementType, Metric};
use saphyr::MarkedYaml;
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
    /// What is known of the files, by file name.
    pub files: BTreeMap<String, FileFacts>,
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
    /// File name, or a path.
    pub file: String,
    /// Layout.
    pub format: Format,
    /// The dataset inside an HDF5 file.
    pub hdf5_dataset: Option<String>,
    /// Rows of the whole file.
    pub rows: usize,
    /// Only the first rows belong to the set; the file may be cut after them.
    pub take_first: Option<usize>,
}

impl VectorsPart {
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
    /// The dataset inside an HDF5 file.
    pub hdf5_dataset: Option<String>,
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
    /// Where it can be downloaded.
    pub url: Option<String>,
}

/// A packed download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Where it can be downloaded.
    pub url: String,
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

    /// What is known of `file`.
    pub fn facts(&self, file: &str) -> FileFacts {
        self.files.get(file).cloned().unwrap_or_default()
    }

    /// Reads an entry from the text of `path`.
    pub(super) fn parse(path: &Path, text: &str, places: Places) -> Result<Entry, EntryError> {
        let document = Document::new(path, text);
        let root = document.load()?;
        let mut fields = document.fields(&root, "dataset entry")?;
        let mut entry = Entry {
            name: fields.text("name")?,
            description: fields.text("description")?,
            metric: fields.metric("metric")?,
            element: fields.element("element")?,
            dim: size(&mut fields, "dim")?,
            base: vectors_part(&document, fields.required("base")?, "base")?,
            queries: vectors_part(&document, fields.required("queries")?, "queries")?,
            truth: fields
                .optional("truth")
                .map(|node| truth_part(&document, node))
                .transpose()?,
            files: BTreeMap::new(),
            archive: fields
                .optional("archive")
                .map(|node| archive(&document, node))
                .transpose()?,
            source: fields.text("source")?,
            licence: fields.text("licence")?,
            notes: fields.texts("notes")?,
            places,
        };
        if let Some(folder) = fields.optional_text("folder")? {
            if !is_plain_name(&folder) {
                return Err(fields.error(
                    "folder",
                    format!("`folder`: expected a plain name, found `{folder}`"),
                ));
            }
            entry.places.folder = folder;
        } else {
            entry.places.folder.clone_from(&entry.name);
        }
        if let Some(node) = fields.optional("files") {
            entry.files = files(&document, node, &entry)?;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        if stem != Some(entry.name.as_str()) || !is_plain_name(&entry.name) {
            return Err(fields.error(
                "name",
                format!(
                    "`name`: expected the file's own name, `{}`, found `{}`",
                    stem.unwrap_or("?"),
                    entry.name
                ),
            ));
        }
        entry.check_elements(&fields)?;
        fields.finish()?;
        Ok(entry)
    }

    fn check_elements(&self, fields: &Fields<'_, '_>) -> Result<(), EntryError> {
        for (key, part) in [("base", &self.base), ("queries", &self.queries)] {
            if let Some(element) = part.format.element()
                && element != self.element
            {
                return Err(fields.error(
                    key,
                    format!(
                        "`{key}`: a file of format {} holds {element}, but `element` is {}",
                        part.format, self.element
                    ),
                ));
            }
        }
        if let Some(truth) = &self.truth
            && truth.width > self.n()
        {
            return Err(fields.error(
                "truth",
                format!(
                    "`truth`: width {} is more than the {} base rows",
                    truth.width,
                    self.n()
                ),
            ));
        }
        Ok(())
    }
}

/// Whether `name` can stand for one folder or file and nothing else.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// Rows, components and widths fit 32 bits in every layout there is.
fn size(fields: &mut Fields<'_, '_>, name: &'static str) -> Result<usize, EntryError> {
    let value = fields.count(name)?;
    fits(fields, name, value)
}

fn fits(fields: &Fields<'_, '_>, name: &'static str, value: u64) -> Result<usize, EntryError> {
    u32::try_from(value).map(|v| v as usize).map_err(|_| {
        fields.error(
            name,
            format!("`{name}`: expected at most {}, found {value}", u32::MAX),
        )
    })
}

fn vectors_part(
    document: &Document<'_>,
    node: &MarkedYaml<'_>,
    what: &'static str,
) -> Result<VectorsPart, EntryError> {
    let mut fields = document.fields(node, what)?;
    let file = fields.text("file")?;
    let format = fields.format("format")?;
    if !format.holds_vectors() {
        return Err(fields.error(
            "format",
            format!("`format`: {format} holds neighbours, not vectors"),
        ));
    }
    let hdf5_dataset = hdf5_dataset(&mut fields, format)?;
    let rows = size(&mut fields, "rows")?;
    let take_first = fields.optional_count("take_first")?;
    let take_first = match take_first {
        Some(first) if first > rows as u64 => {
            return Err(fields.error(
                "take_first",
                format!(
                    "`take_first`: expected at most the {rows} rows of the file, found {first}"
                ),
            ));
        }
        Some(first) => Some(fits(&fields, "take_first", first)?),
        None => None,
    };
    fields.finish()?;
    Ok(VectorsPart {
        file,
        format,
        hdf5_dataset,
        rows,
        take_first,
    })
}

fn truth_part(document: &Document<'_>, node: &MarkedYaml<'_>) -> Result<TruthPart, EntryError> {
    let mut fields = document.fields(node, "truth")?;
    let file = fields.text("file")?;
    let format = fields.format("format")?;
    if !format.holds_truth() {
        return Err(fields.error(
            "format",
            format!("`format`: {format} holds vectors, not neighbours"),
        ));
    }
    let part = TruthPart {
        file,
        format,
        hdf5_dataset: hdf5_dataset(&mut fields, format)?,
        width: size(&mut fields, "width")?,
    };
    fields.finish()?;
    Ok(part)
}

fn hdf5_dataset(fields: &mut Fields<'_, '_>, format: Format) -> Result<Option<String>, EntryError> {
    match (fields.optional_text("dataset")?, format) {
        (Some(name), Format::Hdf5) => Ok(Some(name)),
        (None, Format::Hdf5) => Err(fields.error(
            "format",
            "`dataset` is missing: an HDF5 file holds several, such as train, test, neighbors"
                .to_owned(),
        )),
        (Some(_), _) => Err(fields.error(
            "dataset",
            format!("`dataset`: only HDF5 files have datasets inside, this one is {format}"),
        )),
        (None, _) => Ok(None),
    }
}

fn files(
    document: &Document<'_>,
    node: &MarkedYaml<'_>,
    entry: &Entry,
) -> Result<BTreeMap<String, FileFacts>, EntryError> {
    let used: Vec<&str> = [&entry.base.file, &entry.queries.file]
        .into_iter()
        .chain(entry.truth.as_ref().map(|truth| &truth.file))
        .map(String::as_str)
        .collect();
    let mut facts = BTreeMap::new();
    for (name, node) in document.fields(node, "files")?.free() {
        let mut fields = document.fields(node, "file facts")?;
        if !used.contains(&name) {
            return Err(document.error(
                fields.start(),
                format!(
                    "files: nothing uses `{name}`; base, queries and truth use {}",
                    used.join(", ")
                ),
            ));
        }
        let known = FileFacts {
            bytes: fields.optional_count("bytes")?,
            sha256: fields.optional_hash("sha256", 64)?,
            flat_sha256: fields.optional_hash("flat_sha256", 64)?,
            url: fields.optional_text("url")?,
        };
        fields.finish()?;
        facts.insert(name.to_owned(), known);
    }
    Ok(facts)
}

fn archive(document: &Document<'_>, node: &MarkedYaml<'_>) -> Result<Archive, EntryError> {
    let mut fields = document.fields(node, "archive")?;
    let archive = Archive {
        url: fields.text("url")?,
        bytes: fields.optional_count("bytes")?,
        sha256: fields.optional_hash("sha256", 64)?,
        md5: fields.optional_hash("md5", 32)?,
    };
    fields.finish()?;
    Ok(archive)
}
