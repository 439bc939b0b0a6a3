use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What the file name of every adapter executable starts with.
const PREFIX: &str = "annbench-adapter-";

/// The variable that names more folders of adapters.
pub const ADAPTER_PATH: &str = "ANNBENCH_ADAPTER_PATH";

/// An adapter executable on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Name in sweeps.
    pub adapter: String,
    /// The executable.
    pub path: PathBuf,
}

/// Why an adapter cannot be used.
#[derive(Debug, Error)]
pub enum FindError {
    /// No executable of that name.
    #[error(
        "adapter `{adapter}` is not installed: expected an executable {file} in {searched}; \
         found {found}. Build it with scripts/build-adapters {argument}, or add its folder to \
         {ADAPTER_PATH}"
    )]
    NotInstalled {
        /// Name in sweeps.
        adapter: String,
        /// File that was looked for.
        file: String,
        /// Folders, in order.
        searched: String,
        /// Adapters that are there.
        found: String,
        /// Name of the adapter's crate without its prefix.
        argument: String,
    },
    /// The executable could not be read.
    #[error("{path}: {cause}; make it readable or build it again")]
    Unreadable {
        /// The executable.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
}

/// Where adapters are looked for: beside the running executable, then on [`ADAPTER_PATH`].
pub fn adapter_folders() -> Vec<PathBuf> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|path| path.parent().map(Path::to_owned));
    let named = std::env::var_os(ADAPTER_PATH);
    let named = named.iter().flat_map(std::env::split_paths);
    beside.into_iter().chain(named).collect()
}

/// The executable of `adapter`, in the first of `folders` that has it.
///
/// # Errors
/// [`FindError::NotInstalled`], naming what is there.
pub fn find_adapter(adapter: &str, folders: &[PathBuf]) -> Result<Installed, FindError> {
    let argument = adapter.replace('_', "-");
    let file = format!("{PREFIX}{argument}{}", std::env::consts::EXE_SUFFIX);
    if let Some(path) = folders
        .iter()
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
    {
        return Ok(Installed {
            adapter: adapter.to_owned(),
            path,
        });
    }
    let join = |words: Vec<String>| match words.len() {
        0 => "none".to_owned(),
        _ => words.join(", "),
    };
    Err(FindError::NotInstalled {
        adapter: adapter.to_owned(),
        file,
        searched: join(folders.iter().map(|f| f.display().to_string()).collect()),
        found: join(
            list_adapters(folders)
                .into_iter()
                .map(|installed| installed.adapter)
                .collect(),
        ),
        argument,
    })
}

/// Every adapter in `folders`, by name; the first folder that has one wins.
pub fn list_adapters(folders: &[PathBuf]) -> Vec<Installed> {
    let mut found = BTreeMap::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.strip_suffix(std::env::consts::EXE_SUFFIX))
                .and_then(|name| name.strip_prefix(PREFIX));
            // A build folder also holds dependency lists and the like beside the executables.
            if let Some(name) = name
                && !name.contains('.')
                && is_executable(&path)
            {
                let adapter = name.replace('-', "_");
                found.entry(adapter).or_insert(path);
            }
        }
    }
    found
        .into_iter()
        .map(|(adapter, path)| Installed { adapter, path })
        .collect()
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

impl Installed {
    /// SHA-256 of the executable, in hexadecimal.
    ///
    /// # Errors
    /// [`FindError::Unreadable`].
    pub fn executable_sha256(&self) -> Result<String, FindError> {
        let unreadable = |cause| FindError::Unreadable {
            path: self.path.clone(),
            cause,
        };
        let mut file = std::fs::File::open(&self.path).map_err(unreadable)?;
        let mut hasher = Sha256::new();
        io::copy(&mut file, &mut hasher).map_err(unreadable)?;
        Ok(hasher
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }
}
