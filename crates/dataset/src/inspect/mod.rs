//! The entry of a user's own files, from what is in them.
//!
//! Layouts, shapes and types are read off the files; base, queries and neighbours are told apart by
//! shape and content; neighbours tell the metric under which they are in order. Names decide nothing
//! but what nothing inside a file can tell: whether bytes are signed. What stays open is asked for.

mod error;
mod found;
mod metric;
mod roles;

use crate::catalogue::{
    Catalogue, Entry, FileFacts, PLAIN_NAME, Places, TruthPart, VectorsPart, is_plain_name,
};
use crate::checksum::sha256_of;
use crate::value::{Narrowed, ValueType};
use crate::{DatasetError, Format, OpenOptions};
use annbench_core::{ElementType, Metric};
pub use error::AddError;
use found::{Found, Reading, is_suffix, tables_in_all};
use metric::{Question, Told};
use roles::{Roles, Said};
use std::collections::{BTreeMap, btree_map};
use std::io;
use std::path::{Path, PathBuf};

/// A user's files, and what the user says of them.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Name of the entry; without one, that of the only file, or of the folder of the first.
    pub name: Option<String>,
    /// Metric; without one, the only one under which the neighbours are in order.
    pub metric: Option<Metric>,
    /// Element type; without one, that of the values.
    pub element: Option<ElementType>,
    /// Components per vector: of packed bits and of sets, which do not tell.
    pub dim: Option<usize>,
    /// The base: a file, a dataset in one, or `FILE:DATASET`.
    pub base: Option<String>,
    /// The queries, likewise.
    pub queries: Option<String>,
    /// The neighbours, likewise.
    pub truth: Option<String>,
    /// Leave neighbours out.
    pub without_truth: bool,
    /// What the set is.
    pub description: Option<String>,
    /// Who made it.
    pub source: Option<String>,
    /// Its terms.
    pub licence: Option<String>,
}

/// An entry that was written.
#[derive(Clone, Debug)]
pub struct Added {
    /// The entry.
    pub entry: Entry,
    /// Its file.
    pub path: PathBuf,
    /// What was inferred, and from what.
    pub inferred: Vec<String>,
}

/// Looks into the files and writes their entry into the catalogue, never over another.
///
/// # Errors
/// [`AddError`]: what cannot be told, with the flag that tells it.
pub fn add(catalogue: &Catalogue, own: &Own, options: &OpenOptions<'_>) -> Result<Added, AddError> {
    let name = name_of(own)?;
    let path = catalogue.root().join(format!("{name}.yaml"));
    if path.symlink_metadata().is_ok() {
        return Err(AddError::Exists { path });
    }
    let tables = tables_in_all(&own.files)?;
    let said = Said {
        base: own.base.as_deref(),
        queries: own.queries.as_deref(),
        truth: own.truth.as_deref(),
        without_truth: own.without_truth,
    };
    let roles = Roles::of(&tables, said)?;
    let mut inferred = roles.because.clone();
    let (queries, queries_reading) = roles.queries;
    let element = element_of(own, queries, queries_reading)?;
    let dim = dim_of(own, queries, element)?;
    let readings = |reading: Reading| match element {
        // The user knows the sign of bytes that do not tell.
        ElementType::I8 if reading.format == Format::U8bin => Reading {
            format: Format::I8bin,
            value: ValueType::I8,
        },
        _ => reading,
    };
    let places = Places {
        folder: name.clone(),
        ..catalogue.places(&path)
    };
    let told = Question {
        own,
        places: &places,
        element,
        dim,
        bases: roles
            .bases
            .iter()
            .map(|&(found, reading)| (found, readings(reading)))
            .collect(),
        queries: (queries, readings(queries_reading)),
        truth: roles.truth,
        options,
    }
    .answer(&mut inferred)?;
    let Told { base, metric } = told;
    inferred.extend(inexact(base, element)?);
    let file_of = |found: &Found| file_name(&places, found.path());
    let part = |found: &Found, reading: Reading| VectorsPart {
        file: file_of(found),
        ..found.part(reading)
    };
    let truth = roles.truth.map(|(found, reading)| TruthPart {
        file: file_of(found),
        format: reading.format,
        hdf5_dataset: found.dataset.clone(),
        ids: found.numbering.clone(),
        width: found.width,
    });
    let mut files = BTreeMap::new();
    let used = [
        Some(base.0),
        Some(queries),
        roles.truth.map(|(found, _)| found),
    ];
    for found in used.into_iter().flatten() {
        if let Some(column) = &found.numbering {
            let label = found.label();
            inferred.push(format!(
                "order of {label}: by `{column}`, which numbers the rows"
            ));
        }
        // Two parts may lie in one file.
        if let btree_map::Entry::Vacant(new) = files.entry(file_of(found)) {
            new.insert(FileFacts {
                bytes: Some(found.file.bytes().len() as u64),
                sha256: Some(sha256_of(&found.file, options.watch)?),
                ..FileFacts::default()
            });
        }
    }
    let stated = |text: &Option<String>| text.clone().unwrap_or_else(|| "not stated".to_owned());
    let entry = Entry {
        description: own
            .description
            .clone()
            .unwrap_or_else(|| format!("Added with `annbench datasets add {name}`")),
        metric,
        element,
        dim,
        base: part(base.0, base.1),
        queries: part(queries, readings(queries_reading)),
        truth,
        qrels: None,
        range_truth: None,
        metadata: None,
        files,
        from: Vec::new(),
        archive: None,
        source: stated(&own.source),
        licence: stated(&own.licence),
        notes: Vec::new(),
        places,
        name,
    };
    let (entry, path) = catalogue.write_new(&entry).map_err(|error| match error {
        // Someone else has written it in the meantime.
        DatasetError::Io { path, cause, .. } if cause.kind() == io::ErrorKind::AlreadyExists => {
            AddError::Exists { path }
        }
        error => error.into(),
    })?;
    Ok(Added {
        entry,
        path,
        inferred,
    })
}

/// What the user says, the name of the only file, or that of the folder.
fn name_of(own: &Own) -> Result<String, AddError> {
    let from_files = || {
        let first = own.files.first()?;
        let first = std::path::absolute(first).ok()?;
        let named = match own.files.len() {
            1 => first.file_stem(),
            _ => first.parent()?.file_name(),
        };
        Some(named?.to_string_lossy().into_owned())
    };
    let name = own.name.clone().or_else(from_files).unwrap_or_default();
    if is_plain_name(&name) {
        return Ok(name);
    }
    Err(match own.name {
        Some(_) => AddError::Flag {
            flag: "--name".to_owned(),
            expected: PLAIN_NAME.to_owned(),
            found: format!("`{name}`"),
            next: "choose such a name: files and folders are named after it".to_owned(),
        },
        None => AddError::Undecided {
            problem: "the set needs a name".to_owned(),
            expected: PLAIN_NAME.to_owned(),
            found: format!("`{name}`, after the files"),
            flag: "--name NAME".to_owned(),
        },
    })
}

/// The type of the vectors' components.
fn element_of(own: &Own, found: &Found, reading: Reading) -> Result<ElementType, AddError> {
    let undecided = |problem: String, found: String, flag: &str| AddError::Undecided {
        problem,
        expected: "an element type".to_owned(),
        found,
        flag: flag.to_owned(),
    };
    let native = match reading.value {
        _ if found.sets => ElementType::Sets,
        ValueType::Bool => ElementType::Bits,
        value => value.element().unwrap_or(ElementType::F32),
    };
    if let Some(element) = own.element {
        let narrows = reading.value.element().is_none() && reading.value != ValueType::Bool;
        let fits = element == native
            || (narrows && !matches!(element, ElementType::Bits | ElementType::Sets))
            || (reading.value == ValueType::U8 && element == ElementType::Bits)
            || (reading.format == Format::U8bin && element == ElementType::I8);
        if fits && (!found.sets || element == ElementType::Sets) {
            return Ok(element);
        }
        return Err(AddError::Flag {
            flag: format!("--element {element}"),
            expected: format!("an element type for {}", found.in_words()),
            found: element.to_string(),
            next: format!(
                "leave it out for {native}; `annbench datasets convert` writes a set in another type"
            ),
        });
    }
    let unsigned = reading.format == Format::U8bin && !is_suffix(found.path(), Format::U8bin);
    if unsigned {
        return Err(undecided(
            format!(
                "{}: whether its bytes are signed shows nowhere in them",
                found.label()
            ),
            found.in_words(),
            "--element u8 or --element i8 (or bits, with --dim)",
        ));
    }
    if reading.value == ValueType::U8 && found.content(reading)?.bits {
        return Err(undecided(
            format!(
                "{}: its bytes are all 0 or 1, numbers or bits",
                found.label()
            ),
            found.in_words(),
            "--element u8 or --element bits",
        ));
    }
    Ok(native)
}

/// Components per vector.
fn dim_of(own: &Own, found: &Found, element: ElementType) -> Result<usize, AddError> {
    let expected = match element {
        ElementType::Sets => "one more than the largest number that a set may hold".to_owned(),
        ElementType::Bits => format!("the bits of a row, {} to {}", found.width, found.width * 8),
        _ => format!("{}, as the rows have", found.width),
    };
    let Some(dim) = own.dim else {
        return match element {
            ElementType::Sets => Err(AddError::Undecided {
                problem: "the members of the sets do not tell how large others may be".to_owned(),
                expected,
                found: found.in_words(),
                flag: "--dim N".to_owned(),
            }),
            ElementType::Bits if found.readings.iter().any(|r| r.value == ValueType::U8) => {
                Err(AddError::Undecided {
                    problem: "how many bits there are to a row shows nowhere".to_owned(),
                    expected,
                    found: found.in_words(),
                    flag: "--dim N".to_owned(),
                })
            }
            _ => Ok(found.width),
        };
    };
    let fits = match element {
        ElementType::Sets => dim > 0,
        ElementType::Bits => dim == found.width || dim.div_ceil(8) == found.width,
        _ => dim == found.width,
    };
    if fits {
        return Ok(dim);
    }
    Err(AddError::Flag {
        flag: format!("--dim {dim}"),
        expected,
        found: dim.to_string(),
        next: "correct it, or leave it out".to_owned(),
    })
}

/// Says so when values do not fit the element type, for opening then asks to have them rounded.
fn inexact(
    (found, reading): (&Found, Reading),
    element: ElementType,
) -> Result<Option<String>, DatasetError> {
    if reading.value.element().is_some() || found.sets || reading.value == ValueType::Bool {
        return Ok(None);
    }
    let numbers = found.numbers(reading)?;
    let exact = numbers.iter().all(|&number| is_exact(number, element));
    Ok(Some(match exact {
        true => format!(
            "element: {element}; values of {} are read as such, which those of the first rows are exactly",
            reading.value
        ),
        false => format!(
            "element: {element}; values of {} that are not exactly such are there, so that --narrow is needed to \
             have them rounded, which every result then says",
            reading.value
        ),
    }))
}

fn is_exact(number: crate::value::Number, element: ElementType) -> bool {
    use crate::value::Narrow;
    match element {
        ElementType::F16 => matches!(half::f16::from_number(number), Narrowed::Exact(_)),
        ElementType::I8 => matches!(i8::from_number(number), Narrowed::Exact(_)),
        ElementType::U8 => matches!(u8::from_number(number), Narrowed::Exact(_)),
        _ => matches!(f32::from_number(number), Narrowed::Exact(_)),
    }
}

/// The file's name where the entry's places have it, otherwise its path.
fn file_name(places: &Places, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let same = |found: &Path| found.canonicalize().ok() == path.canonicalize().ok();
    match places.find(&name) {
        Some(found) if same(&found) => name.into_owned(),
        _ => path.display().to_string(),
    }
}
