use annbench_yaml::nearest;
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
        "adapter `{adapter}` is not installed: expected an executable {} in {searched}; found {}. {}",
        executable_name(.adapter), joined(.installed), remedy(.adapter, .installed)
    )]
    NotInstalled {
        /// Name in sweeps.
        adapter: String,
        /// Folders, in order.
        searched: String,
        /// Adapters that are there, by name.
        installed: Vec<String>,
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

/// The adapter's name as its crate and its executable have it.
fn argument_of(adapter: &str) -> String {
    adapter.replace('_', "-")
}

/// File name of the executable of `adapter`.
pub fn executable_name(adapter: &str) -> String {
    let suffix = std::env::consts::EXE_SUFFIX;
    format!("{PREFIX}{}{suffix}", argument_of(adapter))
}

fn joined(words: &[String]) -> String {
    match words.is_empty() {
        true => "none".to_owned(),
        false => words.join(", "),
    }
}

/// What to do about an adapter that is not there.
fn remedy(adapter: &str, installed: &[String]) -> String {
    let build = format!(
        "uild it with scripts/build-adapters {}, or add its folder to {ADAPTER_PATH}",
        argument_of(adapter)
    );
    match nearest(adapter, installed.iter().map(String::as_str)) {
        Some(name) => format!("Did you mean `{name}`? Otherwise b{build}"),
        None => format!("B{build}"),
    }
}

impl FindError {
    /// What to do next, a part of the message.
    pub fn remedy(&self) -> String {
        match self {
            Self::NotInstalled {
                adapter, installed, ..
            } => remedy(adapter, installed),
            Self::Unreadable { .. } => "make it readable or build it again".to_owned(),
        }
    }
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
    let file = executable_name(adapter);
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
    let installed = list_adapters(folders).into_iter();
    let installed: Vec<String> = installed.map(|one| one.adapter).collect();
    let searched: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    Err(FindError::NotInstalled {
        adapter: adapter.to_owned(),
        searched: joined(&searched),
        installed,
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
