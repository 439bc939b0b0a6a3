use std::path::{Path, PathBuf};

/// Where the files of a dataset may lie, and where its caches do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The datasets directory.
    pub(crate) root: PathBuf,
    /// The user's own directory.
    pub(crate) extra: Option<PathBuf>,
    /// The directory of the YAML file.
    pub(crate) beside: PathBuf,
    /// The dataset's own folder.
    pub(crate) folder: String,
}

impl Places {
    /// How the entry `name` is named on a command line: by its path where it lies outside of the folder of
    /// entries.
    pub(crate) fn entry(&self, name: &str) -> String {
        match self.beside == self.root {
            true => name.to_owned(),
            false => self
                .beside
                .join(format!("{name}.yaml"))
                .display()
                .to_string(),
        }
    }

    /// Where a downloaded `file` belongs.
    pub fn belongs(&self, file: &str) -> PathBuf {
        self.root.join("downloads").join(&self.folder).join(file)
    }

    /// Everywhere that `file` is looked for, in order. An absolute path is looked for as it is.
    pub fn candidates(&self, file: &str) -> Vec<PathBuf> {
        if Path::new(file).is_absolute() {
            return vec![PathBuf::from(file)];
        }
        let mut candidates = vec![self.root.join(&self.folder).join(file), self.belongs(file)];
        if let Some(extra) = &self.extra {
            candidates.push(extra.join(&self.folder).join(file));
            candidates.push(extra.join(file));
        }
        let beside = self.beside.join(file);
        if self.beside != self.root {
            candidates.push(beside);
        }
        candidates
    }

    /// The first place that has `file`. A directory or a device of its name is not the file.
    pub fn find(&self, file: &str) -> Option<PathBuf> {
        self.candidates(file)
            .into_iter()
            .find(|path| path.is_file())
    }

    /// A folder of the caches.
    pub(crate) fn cache(&self, kind: &str) -> PathBuf {
        self.root.join(".cache").join(kind)
    }
}
