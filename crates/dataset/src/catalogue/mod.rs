//! The catalogue: one YAML file per dataset.

mod beside;
mod entry;
mod files;
mod parts;
mod places;
mod read;
mod status;
mod write;

use crate::DatasetError;
use crate::lying::{Lying, lying_at};
pub use annbench_yaml::Diagnostic as EntryError;
use annbench_yaml::{decode, nearest};
pub use beside::{MetadataPart, QrelsPart, RangeTruthPart};
pub(crate) use entry::is_plain_name;
pub use entry::{Archive, Entry, FileFacts, Shard, TruthPart, VectorsPart};
pub use places::Places;
pub(crate) use read::PLAIN_NAME;
pub use status::{FileState, FileStatus};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A directory of dataset entries.
#[derive(Clone, Debug)]
pub struct Catalogue {
    root: PathBuf,
    extra: Option<PathBuf>,
}

impl Catalogue {
    /// The catalogue of `<root>/<name>.yaml`, whose files belong under `<root>/downloads/`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            extra: None,
        }
    }

    /// Also looks for files in `<dir>/<name>/` and `<dir>/`.
    pub fn with_extra(mut self, dir: impl Into<PathBuf>) -> Self {
        self.extra = Some(dir.into());
        self
    }

    /// Names of all entries, sorted.
    ///
    /// # Errors
    /// [`DatasetError::Contents`] when the directory is none, [`DatasetError::Io`] when it cannot be
    /// read.
    pub fn names(&self) -> Result<Vec<String>, DatasetError> {
        if !self.root.is_dir() {
            return Err(self.no_root()?);
        }
        let io = |source| DatasetError::io("read the catalogue directory", &self.root, source);
        let mut names = Vec::new();
        for item in std::fs::read_dir(&self.root).map_err(io)? {
            let path = item.map_err(io)?.path();
            if path.extension().is_some_and(|ext| ext == "yaml")
                && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
            {
                names.push(stem.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The entry of that name, or the one in the YAML file that `name` is the path of.
    ///
    /// # Errors
    /// [`DatasetError::Unknown`] with the nearest name, [`DatasetError::Entry`] with the line.
    pub fn entry(&self, name: &str) -> Result<Entry, DatasetError> {
        if Path::new(name).extension().is_some_and(|ext| ext == "yaml") {
            return self.entry_at(Path::new(name));
        }
        let path = self.root.join(format!("{name}.yaml"));
        if entry::is_plain_name(name) && lying_at(&path)? != Lying::Nothing {
            return self.entry_at(&path);
        }
        let names = self.names()?;
        Err(DatasetError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, names.iter().map(String::as_str)).map(str::to_owned),
            known: names,
            root: self.root.clone(),
        })
    }

    /// Writes `<root>/<name>.yaml` as a whole, unless there is one. The text is read as an entry first,
    /// so that none is written that would be refused.
    ///
    /// # Errors
    /// [`DatasetError::Entry`], and [`DatasetError::Io`], of kind `AlreadyExists` where an entry is
    /// there.
    pub(crate) fn write_new(&self, entry: &Entry) -> Result<(Entry, PathBuf), DatasetError> {
        let path = self.root.join(format!("{}.yaml", entry.name));
        let io = |cause| DatasetError::io("write the dataset entry", &path, cause);
        let text = entry.to_yaml();
        let read = read::entry(&path, &text, self.places(&path))?;
        let mut file = tempfile::Builder::new()
            .prefix(".annbench-")
            .permissions(std::fs::Permissions::from_mode(0o666))
            .tempfile_in(&self.root)
            .map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist_noclobber(&path)
            .map_err(|error| io(error.error))?;
        Ok((read, path))
    }

    /// The folder of entries.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where the files of the entry at `path` may lie.
    pub(crate) fn places(&self, path: &Path) -> Places {
        Places {
            root: self.root.clone(),
            extra: self.extra.clone(),
            beside: path.parent().unwrap_or(Path::new("")).to_owned(),
            folder: String::new(),
        }
    }

    /// Says what lies in place of the directory.
    fn no_root(&self) -> Result<DatasetError, DatasetError> {
        let found = match lying_at(&self.root)? {
            Lying::Nothing => "nothing",
            Lying::File => "a file",
            Lying::Other(found) => found,
        };
        Ok(DatasetError::contents(
            &self.root,
            "what lies there",
            "the folder of dataset entries",
            found,
            "name that folder with --datasets DIR, or run annbench where it is, or below",
        ))
    }

    fn entry_at(&self, path: &Path) -> Result<Entry, DatasetError> {
        if let Lying::Other(found) = lying_at(path)? {
            return Err(DatasetError::contents(
                path,
                "what lies there",
                "a dataset entry, a file of YAML",
                found,
                "give the path of such a file, or a name that `annbench datasets list` shows",
            ));
        }
        let bytes = std::fs::read(path)
            .map_err(|source| DatasetError::io("read the dataset entry", path, source))?;
        let text = decode(&path.display().to_string(), &bytes)?;
        read::entry(path, text, self.places(path)).map_err(DatasetError::from)
    }
}
