use crate::args::PlaceArgs;
use annbench_results::RECORDS_FILE;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

/// Where datasets are and results go.
#[derive(Debug)]
pub struct Places {
    /// Folder of dataset entries.
    pub datasets: PathBuf,
    /// Another folder in which dataset files may lie.
    pub data: Option<PathBuf>,
    /// The flags that named them, for repeating the command.
    pub flags: Vec<(&'static str, PathBuf)>,
}

impl Places {
    /// The folder that was named, or `datasets` in this folder or the nearest one above that has
    /// one.
    pub fn new(args: &PlaceArgs) -> Self {
        Self {
            datasets: args.datasets.clone().unwrap_or_else(|| nearest("datasets")),
            data: args.data.clone(),
            flags: [("--datasets", &args.datasets), ("--data", &args.data)]
                .into_iter()
                .filter_map(|(flag, path)| Some((flag, path.clone()?)))
                .collect(),
        }
    }

    /// The run directory of a campaign file that names none.
    pub fn default_run(file: &Path) -> PathBuf {
        nearest("results").join(file.file_stem().unwrap_or(file.as_os_str()))
    }

    /// All run directories in the folder of results, by name.
    ///
    /// # Errors
    /// A folder that cannot be read, or holds none.
    pub fn runs() -> anyhow::Result<Vec<PathBuf>> {
        let folder = nearest("results");
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("{}: name run directories", folder.display()))?;
        let mut runs: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.join(RECORDS_FILE).is_file())
            .collect();
        runs.sort();
        if runs.is_empty() {
            bail!("{} holds no run directory: name one", folder.display());
        }
        Ok(runs)
    }
}

fn nearest(name: &str) -> PathBuf {
    let here = Path::new(name);
    if here.is_dir() {
        return here.to_owned();
    }
    std::env::current_dir()
        .ok()
        .and_then(|current| {
            current
                .ancestors()
                .map(|folder| folder.join(name))
                .find(|path| path.is_dir())
        })
        .unwrap_or_else(|| here.to_owned())
}
