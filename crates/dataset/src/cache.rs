use crate::DatasetError;
use crate::stamp::Stamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::Metadata;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// File systems may give two writes within a few milliseconds the same time; what was derived that
/// soon after a write is not trusted again.
const TIME_GRANULARITY: Duration = Duration::from_millis(100);

/// Facts with a hash over them and their key: numbers depend on them, so that a file that was edited,
/// damaged or renamed is as good as none.
#[derive(Serialize, Deserialize)]
struct Sealed {
    facts: Value,
    seal: String,
}

fn seal(key: &str, facts: &Value) -> String {
    let hash = blake3::hash(format!("annbench cache 1\n{key}\n{facts}").as_bytes());
    hash.to_hex()[..32].to_owned()
}

/// Derived facts and files, each under a key that names all that it depends on.
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where it lies.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file `name`.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The folder, which is made where there is none.
    pub(crate) fn folder(&self) -> Result<&Path, DatasetError> {
        std::fs::create_dir_all(&self.dir)
            .map_err(|source| DatasetError::io("create the cache directory", &self.dir, source))?;
        Ok(&self.dir)
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

    /// The facts in `path`; what cannot be read, was changed, or belongs to another key is not there.
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        // Reading a FIFO would wait.
        path.metadata().ok().filter(Metadata::is_file)?;
        let sealed: Sealed = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let key = path.file_stem()?.to_str()?;
        let whole = sealed.seal == seal(key, &sealed.facts);
        whole.then(|| serde_json::from_value(sealed.facts).ok())?
    }

    /// Writes facts under `key`.
    pub(crate) fn write<T: Serialize>(&self, key: &str, facts: &T) -> Result<(), DatasetError> {
        let path = self.path(key, "json");
        let text = serde_json::to_value(facts)
            .and_then(|facts| {
                let seal = seal(key, &facts);
                serde_json::to_vec_pretty(&Sealed { facts, seal })
            })
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
        tempfile::NamedTempFile::new_in(self.folder()?)
            .map_err(|source| DatasetError::io("write", path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_back_unless_they_were_changed_or_moved() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().to_owned());
        cache.write("a.b", &(1.5, "x", Some(7u64))).unwrap();
        let path = cache.path("a.b", "json");
        let read = || cache.read::<(f64, String, Option<u64>)>(&path);
        assert_eq!(read(), Some((1.5, "x".to_owned(), Some(7))));
        let text = std::fs::read_to_string(&path).unwrap();
        let other = cache.path("c.d", "json");
        std::fs::copy(&path, &other).unwrap();
        assert_eq!(cache.read::<(f64, String, Option<u64>)>(&other), None);
        std::fs::write(&path, text.replace("1.5", "2.5")).unwrap();
        assert_eq!(read(), None);
    }
}
