//! A set in another layout: the same vectors and neighbours in other files, with an entry beside
//! them. What was written is read back, by the readers that every set goes through, before it gets
//! its place.

mod error;
mod files;
mod recast;
mod stream;

use crate::catalogue::{Entry, FileFacts, Places, TruthPart, VectorsPart, is_plain_name};
use crate::checksum::sha256_of;
use crate::content::fingerprint_hasher;
use crate::mapped::MappedFile;
use crate::{Dataset, DatasetError, Format, OpenOptions, Truth};
use annbench_core::ElementType;
use annbench_yaml::listed;
pub use error::ExportError;
use files::{Fingerprints, Names, Written};
use recast::Recast;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What is to be written.
#[derive(Clone, Copy, Debug)]
pub struct Export<'e> {
    /// Name of the new entry.
    pub name: &'e str,
    /// Layout of the vectors; neighbours come in the one that goes with it: ivecs with texmex, ibin
    /// with the flat ones, the same with npy and HDF5.
    pub format: Format,
    /// Element type; without one the set's own, or the only one that the layout holds.
    pub element: Option<ElementType>,
    /// A folder that does not exist yet, or is empty.
    pub dir: &'e Path,
}

/// A set that was written.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Its entry, as the YAML file in the folder has it.
    pub entry: Entry,
    /// That YAML file.
    pub entry_path: PathBuf,
    /// Fingerprint of the base.
    pub base_fingerprint: String,
    /// Fingerprint of the queries.
    pub queries_fingerprint: String,
}

/// Writes `dataset`, with `truth` where it is given, in another layout. The folder appears with
/// everything in it, or not at all; meanwhile its files lie in a hidden one beside it, which also
/// takes the copies that reading them back needs.
///
/// # Errors
/// [`ExportError`]; among them the first value that the element type does not have exactly.
pub fn export(
    dataset: &Dataset,
    truth: Option<&Truth>,
    wanted: &Export<'_>,
    options: &OpenOptions<'_>,
) -> Result<Exported, ExportError> {
    let element = element_of(dataset, wanted)?;
    let name = wanted.name;
    if !is_plain_name(name) {
        return Err(ExportError::Name {
            name: name.to_owned(),
        });
    }
    let dir = std::path::absolute(wanted.dir)
        .map_err(|cause| DatasetError::io("resolve", wanted.dir, cause))?;
    refuse_occupied(&dir)?;
    let parent = dir.parent().unwrap_or(Path::new("/"));
    let failed = |cause| DatasetError::io("write", &dir, cause);
    std::fs::create_dir_all(parent).map_err(failed)?;
    // Readable for whoever could read another folder made here.
    let work = tempfile::Builder::new()
        .prefix(".annbench-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(failed)?;
    let names = Names::of(name, wanted.format);
    let parts = [
        ("base", dataset.base().vectors()),
        ("queries", dataset.queries().vectors()),
    ]
    .map(|(role, vectors)| Recast {
        dataset: dataset.name(),
        role,
        vectors,
        element,
    });
    let written = Written {
        dir: work.path(),
        names: &names,
        format: wanted.format,
        metric: dataset.metric(),
    };
    let fingerprints = written.write(&parts, truth, dataset, options.watch)?;
    let mut entry = entry_of(dataset, truth, wanted, element, &names, &fingerprints);
    let hidden = work.path().join(".read-back");
    entry.places = Places {
        root: hidden.clone(),
        extra: None,
        beside: work.path().to_owned(),
        folder: name.to_owned(),
    };
    entry.files = facts_of(work.path(), &entry, options)?;
    read_back(&entry, truth, &fingerprints, &dir, options)?;
    let file = format!("{name}.yaml");
    let yaml = work.path().join(&file);
    std::fs::write(&yaml, entry.to_yaml())
        .and_then(|()| std::fs::File::open(&yaml)?.sync_all())
        .map_err(|cause| DatasetError::io("write", &yaml, cause))?;
    match std::fs::remove_dir_all(&hidden) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            return Err(DatasetError::io("remove", &hidden, cause).into());
        }
        _ => {}
    }
    // An empty folder is replaced; one that has been filled in the meantime is not.
    std::fs::rename(work.path(), &dir).map_err(failed)?;
    // It is no longer there to be removed.
    let _ = work.keep();
    std::fs::File::open(parent)
        .and_then(|folder| folder.sync_all())
        .map_err(failed)?;
    entry.places.root = dir.clone();
    entry.places.beside = dir.clone();
    Ok(Exported {
        entry,
        entry_path: dir.join(file),
        base_fingerprint: fingerprints.base,
        queries_fingerprint: fingerprints.queries,
    })
}

/// The element type of the result.
fn element_of(dataset: &Dataset, wanted: &Export<'_>) -> Result<ElementType, ExportError> {
    let own = dataset.element();
    let holds = |element: ElementType| wanted.format.holds(element);
    let is_number = |element| !matches!(element, ElementType::Bits | ElementType::Sets);
    let numbers: Vec<ElementType> = ElementType::ALL
        .into_iter()
        .filter(|&element| holds(element) && is_number(element))
        .collect();
    let element = wanted.element.unwrap_or(match numbers[..] {
        [only] if is_number(own) => only,
        _ => own,
    });
    let becomes = element == own || (is_number(own) && is_number(element));
    if holds(element) && becomes {
        return Ok(element);
    }
    let element = if becomes { element } else { own };
    Err(ExportError::Layout {
        dataset: dataset.name().to_owned(),
        format: wanted.format,
        element,
        fits: layouts_of(element),
    })
}

/// The layouts that hold vectors of `element`, in words.
fn layouts_of(element: ElementType) -> String {
    let formats = Format::ALL.into_iter();
    listed(
        formats
            .filter(|format| format.is_written() && format.holds(element))
            .map(Format::name),
    )
}

fn refuse_occupied(dir: &Path) -> Result<(), ExportError> {
    let found = match std::fs::read_dir(dir) {
        Ok(mut items) => match items.next() {
            None => return Ok(()),
            Some(_) => "one with something in it".to_owned(),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => format!("what cannot be listed ({error})"),
    };
    Err(ExportError::Occupied {
        dir: dir.to_owned(),
        found,
    })
}

fn entry_of(
    dataset: &Dataset,
    truth: Option<&Truth>,
    wanted: &Export<'_>,
    element: ElementType,
    names: &Names,
    fingerprints: &Fingerprints,
) -> Entry {
    let own = dataset.entry();
    let hdf5 = |name: &str| (wanted.format == Format::Hdf5).then(|| name.to_owned());
    let part = |file: &str, name: &str, rows: usize| VectorsPart {
        file: file.to_owned(),
        shards: Vec::new(),
        format: wanted.format,
        hdf5_dataset: hdf5(name),
        ids: None,
        rows,
        take_first: None,
    };
    let mut notes = own.notes.clone();
    notes.push(format!(
        "Converted by annbench {} from `{}`: base fingerprint {}, queries fingerprint {} there; {} and {} here.",
        env!("CARGO_PKG_VERSION"),
        own.name,
        dataset.base_fingerprint(),
        dataset.queries_fingerprint(),
        fingerprints.base,
        fingerprints.queries,
    ));
    if !own.files_beside().is_empty() {
        notes.push(format!(
            "What `{}` has beside vectors and neighbours (qrels, range truth, metadata) was not converted.",
            own.name
        ));
    }
    for accepted in dataset.accepted_checksums() {
        notes.push(format!(
            "The checksum of a file that it was converted from was accepted: {accepted}."
        ));
    }
    for narrowed in dataset.narrowed() {
        notes.push(format!(
            "{} values of {} ({}) were rounded before the conversion.",
            narrowed.values, narrowed.role, narrowed.file
        ));
    }
    Entry {
        name: wanted.name.to_owned(),
        description: own.description.clone(),
        metric: own.metric,
        element,
        dim: own.dim,
        base: part(&names.base, "train", dataset.base().vectors().n()),
        queries: part(&names.queries, "test", dataset.queries().vectors().n()),
        truth: truth.map(|truth| TruthPart {
            file: names.truth.clone(),
            format: names.truth_format,
            hdf5_dataset: hdf5("neighbors"),
            ids: None,
            width: truth.width(),
        }),
        qrels: None,
        range_truth: None,
        metadata: None,
        files: BTreeMap::new(),
        from: Vec::new(),
        archive: None,
        source: own.source.clone(),
        licence: own.licence.clone(),
        notes,
        places: own.places.clone(),
    }
}

/// Sizes and checksums of the files in `dir`.
fn facts_of(
    dir: &Path,
    entry: &Entry,
    options: &OpenOptions<'_>,
) -> Result<BTreeMap<String, FileFacts>, DatasetError> {
    let mut facts = BTreeMap::new();
    for status in entry.file_statuses() {
        let file = MappedFile::open(&dir.join(&status.file))?;
        let known = FileFacts {
            bytes: Some(file.bytes().len() as u64),
            sha256: Some(sha256_of(&file, options.watch)?),
            ..FileFacts::default()
        };
        facts.insert(status.file, known);
    }
    Ok(facts)
}

/// Opens what was written as every set is opened, and compares it with what was to be written.
fn read_back(
    entry: &Entry,
    truth: Option<&Truth>,
    fingerprints: &Fingerprints,
    dir: &Path,
    options: &OpenOptions<'_>,
) -> Result<(), ExportError> {
    let read = Dataset::open(
        entry,
        &OpenOptions {
            accept_checksum: false,
            narrow: false,
            ..*options
        },
    )?;
    let unfaithful = |what, expected: &str, found: &str| ExportError::Unfaithful {
        dir: dir.to_owned(),
        what,
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    for (what, expected, found) in [
        ("base", &fingerprints.base, read.base_fingerprint()),
        ("queries", &fingerprints.queries, read.queries_fingerprint()),
    ] {
        if expected != found {
            return Err(unfaithful(what, expected, found));
        }
    }
    // Distances between vectors of another element type may round otherwise, and ties fall
    // otherwise: the neighbours are the same.
    let neighbors = |truth: &Truth| {
        let mut ids = truth.ids().to_vec();
        ids.chunks_mut(truth.width())
            .for_each(<[u32]>::sort_unstable);
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytemuck::cast_slice(&ids));
        hasher.finalize().to_hex().to_string()
    };
    let expected = truth.map(neighbors);
    let found = read.shipped_truth().map(|truth| neighbors(truth));
    if expected != found {
        let none = "none".to_owned();
        return Err(unfaithful(
            "neighbours",
            expected.as_ref().unwrap_or(&none),
            found.as_ref().unwrap_or(&none),
        ));
    }
    Ok(())
}

/// The hasher of what `part` is written as.
fn hasher_of(part: &Recast<'_>) -> blake3::Hasher {
    fingerprint_hasher(part.element, part.n(), part.dim())
}
