use crate::DatasetError;
use crate::catalogue::{Entry, FileFacts, VectorsPart};
use crate::checksum::{file_sha256, flat_sha256};
use crate::content::{ContentFacts, NotFinite, content_facts};
use crate::convert::{Converted, map_vectors};
use crate::copy::Effects;
use crate::dataset::{AcceptedChecksum, NarrowedPart, OpenOptions, UncomparedChecksum, cache};
use crate::error::MissingFile;
use crate::format::Wanted;
use crate::lying::{Lying, lying_at, not_a_file};
use crate::mapped::{MappedFile, MappedVectors};
use std::collections::{BTreeMap, BTreeSet};

/// A dataset on its way to being open.
pub(crate) struct Opening<'o> {
    entry: &'o Entry,
    options: &'o OpenOptions<'o>,
    not_finite: NotFinite,
    files: BTreeMap<String, MappedFile>,
    /// Files beside them that are there.
    pub(crate) beside: BTreeMap<String, MappedFile>,
    /// Files that end after the rows that are taken.
    cut: BTreeSet<String>,
    pub(crate) uncompared: Vec<UncomparedChecksum>,
    pub(crate) accepted: Vec<AcceptedChecksum>,
    pub(crate) narrowed: Vec<NarrowedPart>,
    pub(crate) notes: Vec<String>,
}

impl<'o> Opening<'o> {
    /// Maps all files and compares their sizes and checksums with the entry.
    pub(crate) fn new(
        entry: &'o Entry,
        options: &'o OpenOptions<'o>,
        not_finite: NotFinite,
    ) -> Result<Self, DatasetError> {
        let mut opening = Self {
            entry,
            options,
            not_finite,
            files: find_files(entry)?,
            beside: find_files_beside(entry)?,
            cut: BTreeSet::new(),
            uncompared: Vec::new(),
            accepted: Vec::new(),
            narrowed: Vec::new(),
            notes: Vec::new(),
        };
        opening.check_files()?;
        Ok(opening)
    }

    /// All files of `part`.
    fn files_of(&self, part: &VectorsPart) -> Result<Vec<MappedFile>, DatasetError> {
        part.files()
            .into_iter()
            .map(|file| self.file(file))
            .collect()
    }

    pub(crate) fn file(&self, name: &str) -> Result<MappedFile, DatasetError> {
        self.files
            .get(name)
            .cloned()
            .ok_or_else(|| missing(self.entry, &[name]))
    }

    /// Sizes first, because they cost nothing and say more.
    fn check_files(&mut self) -> Result<(), DatasetError> {
        for (name, file) in self.files.clone().into_iter().chain(self.beside.clone()) {
            let facts = self.entry.facts(&name);
            let bytes = file.bytes().len() as u64;
            let other_size = facts.bytes.filter(|&known| known != bytes);
            if let Some(known) = other_size {
                if bytes < known && self.may_be_cut(&name) {
                    self.note_cut(&name, facts, format!("cut to {bytes} of its {known} bytes"));
                    continue;
                }
                // Its header tells more than its size where it can be read.
                self.explain_size(&name)?;
                let cause = if bytes < known {
                    "truncated"
                } else {
                    "over-long"
                };
                return Err(DatasetError::contents(
                    file.path(),
                    "size",
                    format!("{known} bytes, as the dataset entry says"),
                    format!("{bytes}"),
                    format!(
                        "the file is {cause} or another one: move it away and download it again"
                    ),
                ));
            }
            if let Some(expected) = facts.sha256 {
                let cache = cache(self.entry, "checksums");
                let found = file_sha256(&file, &cache, self.options.watch, &mut self.notes)?;
                self.compare(&name, &file, Sum::File, expected, found)?;
            }
        }
        Ok(())
    }

    /// Whether `name` holds only vectors of which the first rows are taken.
    fn may_be_cut(&self, name: &str) -> bool {
        let truth = self.entry.truth.as_ref();
        !self.beside.contains_key(name)
            && truth.is_none_or(|truth| truth.file != name)
            && [&self.entry.base, &self.entry.queries].iter().all(|part| {
                !part.is_in(name) || (part.take_first.is_some() && part.shards.is_empty())
            })
    }

    /// Of a file that is `cut`, no checksum that is known can be compared.
    fn note_cut(&mut self, name: &str, facts: FileFacts, cut: String) {
        self.cut.insert(name.to_owned());
        let known = [(Sum::File, facts.sha256), (Sum::Flat, facts.flat_sha256)];
        for (sum, expected) in known {
            if let Some(expected) = expected {
                self.note_uncompared(name, sum, expected, format!("the file is {cut}"));
            }
        }
        self.notes.push(format!("{name} is {cut}"));
    }

    fn note_uncompared(&mut self, name: &str, sum: Sum, expected: String, because: String) {
        self.uncompared.push(UncomparedChecksum {
            file: name.to_owned(),
            key: sum.key(),
            expected,
            because,
        });
    }

    /// The layout's own complaint about a file of the wrong size.
    fn explain_size(&mut self, name: &str) -> Result<(), DatasetError> {
        for part in [&self.entry.base, &self.entry.queries] {
            if part.is_in(name) {
                self.map(part)?;
            }
        }
        Ok(())
    }

    fn map(&mut self, part: &VectorsPart) -> Result<Converted, DatasetError> {
        map_vectors(
            &self.files_of(part)?,
            part,
            &Wanted::of(self.entry, self.options.narrow),
            &cache(self.entry, "flat"),
            &mut Effects {
                not_finite: self.not_finite,
                facts: &cache(self.entry, "facts"),
                pool: self.options.pool,
                watch: self.options.watch,
                notes: &mut self.notes,
            },
        )
    }

    fn compare(
        &mut self,
        name: &str,
        file: &MappedFile,
        sum: Sum,
        expected: String,
        found: String,
    ) -> Result<(), DatasetError> {
        if expected == found {
            return Ok(());
        }
        if !self.options.accept_checksum {
            return Err(DatasetError::Checksum {
                dataset: self.entry.name.clone(),
                path: file.path().to_owned(),
                what: sum.words(),
                expected,
                found,
            });
        }
        self.accepted.push(AcceptedChecksum {
            file: name.to_owned(),
            key: sum.key(),
            expected,
            found,
        });
        Ok(())
    }

    /// Compares the checksum of all vectors of the file, also where only the first are `taken`.
    fn compare_flat(
        &mut self,
        file: &MappedFile,
        part: &VectorsPart,
        taken: &MappedVectors,
    ) -> Result<(), DatasetError> {
        let facts = self.entry.facts(&part.file);
        let Some(expected) = facts.flat_sha256 else {
            return Ok(());
        };
        if self.cut.contains(&part.file) {
            return Ok(());
        }
        let whole = VectorsPart {
            take_first: None,
            ..part.clone()
        };
        let all = match part.take_first {
            None => taken.clone(),
            Some(_) => match self.map(&whole) {
                Ok(all) => all.vectors,
                // Its size is not known, so it may have been cut, which is no fault.
                Err(DatasetError::Contents(why)) if facts.bytes.is_none() => {
                    self.note_uncompared(&part.file, Sum::Flat, expected, why.to_string());
                    return Ok(());
                }
                Err(error) => return Err(error),
            },
        };
        let cache = cache(self.entry, "checksums");
        let found = flat_sha256(file, &all, &cache, self.options.watch, &mut self.notes)?;
        self.compare(&part.file, file, Sum::Flat, expected, found)
    }

    /// Maps and reads all vectors of `part`, the base or the queries.
    pub(crate) fn vectors(
        &mut self,
        part: &VectorsPart,
        role: &'static str,
    ) -> Result<(MappedVectors, ContentFacts), DatasetError> {
        let file = self.file(&part.file)?;
        let entry = self.entry;
        let options = self.options;
        let Converted { vectors, rounded } = self.map(part)?;
        if rounded > 0 {
            self.narrowed.push(NarrowedPart {
                role,
                file: part.file.clone(),
                values: rounded,
            });
        }
        self.compare_flat(&file, part, &vectors)?;
        let facts = content_facts(
            file.path(),
            &vectors,
            self.not_finite,
            &cache(entry, "facts"),
            options.pool,
            options.watch,
            &mut self.notes,
        )?;
        Ok((vectors, facts))
    }
}

/// What a known checksum is of.
#[derive(Clone, Copy)]
enum Sum {
    File,
    Flat,
}

impl Sum {
    /// The key under which the entry gives it.
    fn key(self) -> &'static str {
        match self {
            Sum::File => "sha256",
            Sum::Flat => "flat_sha256",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Sum::File => "SHA-256",
            Sum::Flat => "SHA-256 of its vectors in the flat layout",
        }
    }
}

/// Maps every file of the entry once, or says which are not there.
fn find_files(entry: &Entry) -> Result<BTreeMap<String, MappedFile>, DatasetError> {
    let mut files = BTreeMap::new();
    let mut missing = Vec::new();
    for (_, file) in entry.opened_files() {
        if files.contains_key(file) || missing.contains(&file) {
            continue;
        }
        match entry.places.find(file) {
            Some(path) => {
                files.insert(file.to_owned(), MappedFile::open(&path)?);
            }
            None => {
                refuse_other_than_files(entry, file)?;
                missing.push(file);
            }
        }
    }
    match missing[..] {
        [] => Ok(files),
        _ => Err(self::missing(entry, &missing)),
    }
}

/// Maps every file beside them that is there: without the others, the set can be searched.
fn find_files_beside(entry: &Entry) -> Result<BTreeMap<String, MappedFile>, DatasetError> {
    let mut files = BTreeMap::new();
    for (_, file) in entry.files_beside() {
        match entry.places.find(file) {
            Some(path) => {
                files.insert(file.to_owned(), MappedFile::open(&path)?);
            }
            None => refuse_other_than_files(entry, file)?,
        }
    }
    Ok(files)
}

/// Says what lies in a place of `file`, for none of them has the file.
fn refuse_other_than_files(entry: &Entry, file: &str) -> Result<(), DatasetError> {
    for path in entry.places.candidates(file) {
        if let Lying::Other(found) = lying_at(&path)? {
            return Err(not_a_file(&path, found));
        }
    }
    Ok(())
}

/// That `files` of `entry` are missing.
pub(crate) fn missing(entry: &Entry, files: &[&str]) -> DatasetError {
    let files: Vec<MissingFile> = files.iter().map(|file| missing_file(entry, file)).collect();
    let comes = files.iter().any(|file| file.url.is_some());
    DatasetError::Missing {
        dataset: entry.name.clone(),
        fetch: comes.then(|| entry.places.entry(&entry.name)),
        files,
    }
}

fn missing_file(entry: &Entry, file: &str) -> MissingFile {
    let own = entry.facts(file).url;
    let packed = own.is_none() && entry.archive.is_some();
    let archive = entry.archive.as_ref().map(|archive| archive.url.clone());
    MissingFile {
        file: file.to_owned(),
        belongs: entry.places.belongs(file),
        url: own.or(archive),
        packed,
    }
}
