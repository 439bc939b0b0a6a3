use super::narrow::{Narrow, narrowed};
use crate::args::AuditQuantiserArgs;
use crate::cmd::datasets::one_of;
use annbench_core::{ElementType, Metric, Rows, Vectors};
use annbench_dataset::{Dataset, Entry, Format, MappedVectors, OpenOptions, VectorsPart};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// What a compressed base decodes to.
pub(super) enum Compressed {
    /// From a file.
    File {
        /// What was named.
        name: String,
        /// Opened as the base of a set of its own.
        decoded: Box<Dataset>,
    },
    /// The base itself in a smaller type, widened again.
    Narrowed {
        /// The type.
        narrow: Narrow,
        /// Its values `[n, dim]`.
        decoded: Vec<f32>,
        /// Components.
        dim: usize,
    },
}

impl Compressed {
    /// Opens the file that was named, or compresses the base as was asked.
    ///
    /// # Errors
    /// A file that is not the decoded base.
    pub(super) fn of(
        dataset: &Dataset,
        args: &AuditQuantiserArgs,
        options: &OpenOptions<'_>,
    ) -> anyhow::Result<Self> {
        match (&args.reconstructed, args.narrow_to) {
            (Some(file), None) => Self::read(dataset.entry(), file, args, options),
            (None, Some(narrow)) => {
                let widened = dataset.widened(ElementType::F32, options)?;
                let base = match &widened {
                    Some((base, _)) => base.vectors(),
                    None => dataset.base().vectors(),
                };
                let Vectors::F32(rows) = base else {
                    bail!(
                        "a base of {} does not widen to f32; name its decoded vectors with --reconstructed",
                        base.element()
                    );
                };
                Ok(Self::Narrowed {
                    narrow,
                    decoded: narrowed(narrow, rows.data())?,
                    dim: rows.dim(),
                })
            }
            _ => bail!("name the decoded vectors with --reconstructed FILE, or a type with --as"),
        }
    }

    fn read(
        entry: &Entry,
        file: &Path,
        args: &AuditQuantiserArgs,
        options: &OpenOptions<'_>,
    ) -> anyhow::Result<Self> {
        let name = file.display().to_string();
        let format = match args.format {
            Some(format) => format,
            None => format_of(file).with_context(|| {
                format!("{name}: its name does not tell the layout; say it with --format")
            })?,
        };
        if matches!(format, Format::Hdf5 | Format::Parquet) && args.table.is_none() {
            bail!(
                "{name}: a file of {format} holds several tables; name the one that is meant with --table"
            );
        }
        // f32 is what quantisers decode to, and what float64 or other values must fit.
        let element = args.element.unwrap_or_else(|| fixed(format));
        if element != ElementType::F32 && element != entry.element {
            bail!(
                "{name}: expected vectors of f32 or of the set's own {}, found {element}; decode to one of these",
                entry.element
            );
        }
        let path = std::path::absolute(file).with_context(|| format!("resolving {name}"))?;
        let part = VectorsPart {
            file: path.display().to_string(),
            shards: Vec::new(),
            format,
            hdf5_dataset: args.table.clone(),
            ids: None,
            rows: entry.n(),
            take_first: None,
        };
        let decoded = Dataset::open(&alone(entry, part, element), options)
            .with_context(|| format!("{name}, the decoded base of {} rows", entry.n()))?;
        Ok(Self::File {
            name,
            decoded: Box::new(decoded),
        })
    }

    /// The decoded vectors.
    ///
    /// # Errors
    /// None, for they have the length of the rows that they were made of.
    pub(super) fn vectors(&self) -> anyhow::Result<Vectors<'_>> {
        match self {
            Self::File { decoded, .. } => Ok(decoded.base().vectors()),
            Self::Narrowed { decoded, dim, .. } => {
                let rows = Rows::new(decoded, *dim);
                Ok(Vectors::F32(
                    rows.context("decoded vectors of a part of a row")?,
                ))
            }
        }
    }

    /// Where they come from.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::File { name, decoded } => {
                let part = &decoded.entry().base;
                format!("{name} ({}, {})", part.format, decoded.element())
            }
            Self::Narrowed { narrow, .. } => narrow.in_words().to_owned(),
        }
    }

    /// Of those from a file.
    pub(super) fn fingerprint(&self) -> Option<&str> {
        match self {
            Self::File { decoded, .. } => Some(decoded.base_fingerprint()),
            Self::Narrowed { .. } => None,
        }
    }
}

/// The queries of `dataset`, widened to `element`; the base is not copied for it.
///
/// # Errors
/// Whatever is wrong with their file.
pub(super) fn widened_queries(
    dataset: &Dataset,
    element: ElementType,
    options: &OpenOptions<'_>,
) -> anyhow::Result<MappedVectors> {
    let entry = dataset.entry();
    let queries = Dataset::open(
        &Entry {
            files: entry.files.clone(),
            ..alone(entry, entry.queries.clone(), entry.element)
        },
        options,
    )?;
    match queries.widened(element, options)? {
        Some((_, queries)) => Ok(queries),
        None => bail!(
            "queries of {} do not widen to {element}; decode to the set's own element type",
            entry.element
        ),
    }
}

/// A set that has `part` for its base, and its first row for a query.
fn alone(entry: &Entry, part: VectorsPart, element: ElementType) -> Entry {
    Entry {
        // The distances of the audit are its own: this set is only read.
        metric: Metric::L2,
        element,
        queries: part.clone(),
        base: part,
        truth: None,
        qrels: None,
        range_truth: None,
        metadata: None,
        files: BTreeMap::new(),
        archive: None,
        ..entry.clone()
    }
}

/// A layout of vectors, by its name.
///
/// # Errors
/// The names that there are.
pub fn parse_format(text: &str) -> Result<Format, String> {
    let vectors = Format::ALL
        .into_iter()
        .filter(|format| format.holds_vectors());
    one_of(vectors, Format::name, text)
}

/// The layout that a file's name tells.
fn format_of(file: &Path) -> Option<Format> {
    let extension = file.extension()?.to_str()?;
    let name = match extension {
        "h5" => "hdf5",
        other => other,
    };
    let mut layouts = Format::ALL.into_iter().filter(|f| f.holds_vectors());
    layouts.find(|format| format.name() == name)
}

/// The element type that a layout has, f32 where it may have several.
fn fixed(format: Format) -> ElementType {
    match format {
        Format::Bvecs | Format::U8bin => ElementType::U8,
        Format::I8bin => ElementType::I8,
        Format::F16bin => ElementType::F16,
        _ => ElementType::F32,
    }
}
