use crate::DatasetError;
use crate::stamp::Stamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::Metadata;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File systems may give two writes within a few milliseconds the same time; what was derived that
/// soon after a write is not trusted again.
const TIME_GRANULARITY: Duration = Duration::from_millis(100);

/// Derived facts and files, each under a key that names all that it depends on.
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The file of `key`.
    pub(crate) fn path(&self, key: &str, extension: &str) -> PathBuf {
        self.dir.join(format!("{key}.{extension}"))
    }

    /// The file of `key`, if it was surely derived from what `stamp` describes.
    pub(crate) fn derived(&self, key: &str, extension: &str, stamp: &Stamp) -> Option<PathBuf> {
        let path = self.path(key, extension);
        let found = path.metadata().ok().filter(Metadata::is_file)?;
        let derived = found.modified().ok()?;
        let age = derived.duration_since(stamp.touched()).ok()?;
        (age >= TIME_GRANULARITY).then_some(path)
    }

    /// The facts of `key`; what cannot be read is not there.
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        // Reading a FIFO would wait.
        path.metadata().ok().filter(Metadata::is_file)?;
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// Writes facts under `key`.
    pub(crate) fn write<T: Serialize>(&self, key: &str, facts: &T) -> Result<(), DatasetError> {
        let path = self.path(key, "json");
        let text = serde_json::to_vec_pretty(facts)
            .map_err(|error| DatasetError::io("write", &path, error.into()))?;
        self.create(&path, |file| {
            file.write_all(&text)
                .map_err(|source| DatasetError::io("write", &path, source))
        })
    }

    /// Writes `path` as a whole or not at all.
    pub(crate) fn create(
        &self,
        path: &Path,
        fill: impl FnOnce(&mut std::io::BufWriter<&mut std::fs::File>) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        let failed = |source| DatasetError::io("write", path, source);
        let mut temporary = self.temporary(path)?;
        let mut buffered = std::io::BufWriter::with_capacity(1 << 20, temporary.as_file_mut());
        fill(&mut buffered)?;
        buffered.flush().map_err(failed)?;
        drop(buffered);
        temporary.as_file().sync_all().map_err(failed)?;
        temporary
            .persist(path)
            .map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Writes `path` as a whole or not at all, by a function that takes a path.
    pub(crate) fn create_by(
        &self,
        path: &Path,
        write: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<(), DatasetError> {
        let failed = |source| DatasetError::io("write", path, source);
        let temporary = self.temporary(path)?;
        write(temporary.path()).map_err(failed)?;
        temporary
            .persist(path)
            .map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn temporary(&self, path: &Path) -> Result<tempfile::NamedTempFile, DatasetError> {
        std::fs::create_dir_all(&self.dir)
            .map_err(|source| DatasetError::io("create the cache directory", &self.dir, source))?;
        tempfile::NamedTempFile::new_in(&self.dir)
            .map_err(|source| DatasetError::io("write", path, source))
    }
}
