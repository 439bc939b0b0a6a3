use crate::args::Selection;
use annbench_config::{Campaign, Document, Filter, Sweep, decode};
use annbench_yaml::nearest;
use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// A campaign with the sweeps it names, and the texts they came from.
#[derive(Debug)]
pub struct Loaded {
    /// The campaign; that of a single sweep when one was named.
    pub campaign: Campaign,
    /// Its sweeps, in order.
    pub sweeps: Vec<Sweep>,
    /// Every text read, by file name.
    pub texts: BTreeMap<String, String>,
}

impl Loaded {
    /// Reads `file` and, for a campaign, the sweeps beside it.
    ///
    /// # Errors
    /// A file that cannot be read or is no campaign or sweep.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let mut texts = BTreeMap::new();
        let name = file.file_name().unwrap_or(file.as_os_str());
        let text = read_text(file, &name.display().to_string(), &mut texts)?;
        match Document::parse(&file.display().to_string(), &text)? {
            Document::Sweep(sweep) => Ok(Self {
                campaign: Campaign::of_sweep(&sweep),
                sweeps: vec![sweep],
                texts,
            }),
            Document::Campaign(campaign) => {
                let folder = file.parent().unwrap_or(Path::new(""));
                let mut sweeps = Vec::new();
                for name in campaign.sweep_files() {
                    let path = folder.join(name);
                    let text = read_text(&path, name, &mut texts)
                        .with_context(|| format!("a sweep of {}", file.display()))?;
                    sweeps.push(Sweep::parse(&path.display().to_string(), &text)?);
                }
                Ok(Self {
                    campaign,
                    sweeps,
                    texts,
                })
            }
        }
    }

    /// SHA-256 over the name, length and text of every file, in name order, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (name, text) in &self.texts {
            hasher.update(format!("{name} {}\n", text.len()));
            hasher.update(text);
        }
        let digest = hasher.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The largest k of the campaign.
    pub fn largest_k(&self) -> usize {
        let settings = self.campaign.settings();
        settings.k.iter().copied().max().unwrap_or(1)
    }

    /// The datasets to run on: those named on the command line, else the campaign's.
    ///
    /// # Errors
    /// When neither names one, or a checksum is overridden for a dataset that is not among them.
    pub fn datasets(&self, selection: &Selection) -> anyhow::Result<Vec<String>> {
        let named = if selection.dataset.is_empty() {
            self.campaign.datasets().to_vec()
        } else {
            selection.dataset.clone()
        };
        if named.is_empty() {
            bail!(
                "{} is a sweep and names no dataset: add --dataset NAME (`annbench datasets list` \
                 shows them)",
                selection.file.display()
            );
        }
        let accepted = selection.accept_checksum.iter();
        let permitted = accepted
            .map(|name| ("--accept-checksum", name))
            .chain(selection.narrow.iter().map(|name| ("--narrow", name)))
            .chain(
                (selection.accept_violation.iter())
                    .map(|accepted| ("--accept-violation", &accepted.dataset)),
            );
        for (flag, name) in permitted {
            if !named.contains(name) {
                let next = match nearest(name, named.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "name one of these".to_owned(),
                };
                bail!("{flag} {name}: this run uses {}; {next}", named.join(", "));
            }
        }
        Ok(named)
    }

    /// The restriction to groups and adapters that the command line asks for.
    pub fn filter(&self, selection: &Selection) -> Filter {
        Filter {
            groups: selection.group.clone(),
            adapters: selection.adapter.clone(),
            without_adapters: selection.without_adapter.clone(),
        }
    }
}

/// Texts are kept under the names by which the campaign knows them, without this machine's folders.
fn read_text(
    path: &Path,
    name: &str,
    texts: &mut BTreeMap<String, String>,
) -> anyhow::Result<String> {
    let bytes =
        read_small(path).with_context(|| format!("{}: {}", path.display(), expected_at(path)))?;
    let text = decode(&path.display().to_string(), &bytes)?.to_owned();
    texts.insert(name.to_owned(), text.clone());
    Ok(text)
}

/// What was expected at a path that cannot be read, with the file beside it that was probably meant.
fn expected_at(path: &Path) -> String {
    const EXPECTED: &str = "expected a campaign or a sweep";
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let beside = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut beside: Vec<String> = beside
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml") && path.is_file())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    // The order of a folder is the file system's; the same mistake must have the same answer.
    beside.sort_unstable();
    let given = path.file_name().unwrap_or_default().to_string_lossy();
    match nearest(&given, beside.iter().map(String::as_str)) {
        Some(near) if near != given => {
            let near = path.with_file_name(near);
            format!("{EXPECTED}; did you mean {}?", near.display())
        }
        _ => EXPECTED.to_owned(),
    }
}

/// The contents of a plain file. A sweep is far smaller than what is read here at most; the rest is for
/// the parser to refuse.
fn read_small(path: &Path) -> std::io::Result<Vec<u8>> {
    const MOST: u64 = 16 << 20;
    if !std::fs::metadata(path)?.is_file() {
        let what = "found a folder, a pipe or a device";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MOST)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
