use super::plan::{Set, Way};
use annbench_fetch::{Download, free_space};
use annbench_report::count;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// The answer for programs.
#[derive(Debug, Serialize)]
pub struct Document<'f> {
    pub dry_run: bool,
    pub datasets: &'f [Fetched],
}

/// What became of a dataset, or would.
#[derive(Debug, Serialize)]
pub struct Fetched {
    name: String,
    source: String,
    licence: String,
    /// Bytes that were to come, archives and what is taken out of them included, as far as that was
    /// known; without those that an earlier time left.
    bytes_to_come: u64,
    /// Bytes that it would take of those that are free: what comes is written over what is there already
    /// and of no use.
    #[serde(skip)]
    bytes_to_take: u64,
    /// Bytes that could be written where they belong.
    bytes_free: Option<u64>,
    /// Packed downloads that the files are taken out of.
    archives: Vec<FetchedArchive>,
    pub files: Vec<FetchedFile>,
}

#[derive(Debug, Serialize)]
struct FetchedArchive {
    url: String,
    bytes: Option<u64>,
    /// Where it lies meanwhile; where it is put by hand.
    belongs: PathBuf,
}

/// What became of a file, or would.
#[derive(Debug, Serialize)]
pub struct FetchedFile {
    file: String,
    pub state: State,
    /// Where it belongs, or is.
    pub belongs: PathBuf,
    /// Where it comes from, or came from.
    pub url: Option<String>,
    pub bytes: Option<u64>,
    /// Rows that are taken, where it is the beginning of a larger file.
    first_rows: Option<u64>,
    /// Of the file that came.
    pub sha256: Option<String>,
    /// Whether a checksum was known, and agrees.
    pub compared: Option<bool>,
    /// Bytes that were there from an earlier time.
    pub resumed: Option<u64>,
    /// Why it is not here.
    pub reason: Option<String>,
}

/// Whether a file is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was here.
    Here,
    /// It would be fetched.
    ToFetch,
    /// It came.
    Fetched,
    /// It did not come.
    Failed,
    /// It does not come by this command.
    ByHand,
}

impl Fetched {
    /// Before anything is done.
    pub fn planned(set: &Set) -> Self {
        let mut planned = Self::of(set);
        (planned.bytes_to_come, planned.bytes_to_take) = to_come(set);
        let place = planned.files.first().and_then(|file| file.belongs.parent());
        planned.bytes_free = place.and_then(|place| free_space(place).ok());
        planned
    }

    /// Why everything that is to come does not fit, if it does not.
    pub fn no_space(&self) -> Option<String> {
        let (free, needed) = (self.bytes_free?, self.bytes_to_take);
        let place = self.files.first()?.belongs.parent()?;
        (needed > free).then(|| {
            format!(
                "expected {} bytes or fewer to come, which is what is free where they belong ({}), found \
                 {}; free space, or put `datasets/downloads` elsewhere, by a link perhaps",
                count(free),
                place.display(),
                count(needed)
            )
        })
    }

    fn of(set: &Set) -> Self {
        Self {
            bytes_to_come: 0,
            bytes_to_take: 0,
            bytes_free: None,
            name: set.name.clone(),
            source: set.source.clone(),
            licence: set.licence.clone(),
            archives: set
                .archives
                .iter()
                .map(|packed| FetchedArchive {
                    url: packed.url().to_owned(),
                    bytes: packed.download.expected.bytes,
                    belongs: packed.download.file.clone(),
                })
                .collect(),
            files: set
                .files
                .iter()
                .map(|wanted| {
                    let mut file = FetchedFile {
                        file: wanted.file.clone(),
                        state: State::ToFetch,
                        belongs: wanted.belongs.clone(),
                        url: None,
                        bytes: None,
                        first_rows: None,
                        sha256: None,
                        compared: None,
                        resumed: None,
                        reason: None,
                    };
                    match &wanted.way {
                        Way::Here { path, bytes } => {
                            file.state = State::Here;
                            file.belongs.clone_from(path);
                            file.bytes = Some(*bytes);
                        }
                        Way::Download { download, first } => {
                            let source = download.sources.first();
                            file.url = source.map(|source| source.url().to_owned());
                            file.first_rows = *first;
                            let cut = download.cut.as_ref().map(|cut| cut.bytes);
                            file.bytes = cut.or(download.expected.bytes);
                        }
                        Way::Packed { archive } => {
                            let packed = &set.archives[*archive];
                            file.url = Some(packed.url().to_owned());
                            let own = packed.members.iter().find(|m| m.file == wanted.belongs);
                            file.bytes = own.and_then(|member| member.expected.bytes);
                        }
                        Way::ByHand { why } => {
                            file.state = State::ByHand;
                            file.reason = Some(why.clone());
                        }
                    }
                    file
                })
                .collect(),
        }
    }

    /// Whether everything is here, or would come.
    pub fn is_good(&self) -> bool {
        let bad = |file: &FetchedFile| matches!(file.state, State::Failed | State::ByHand);
        !self.files.iter().any(bad)
    }

    /// Nothing comes, for this reason.
    pub fn fail_all(&mut self, why: &str) {
        for file in &mut self.files {
            if file.state == State::ToFetch {
                file.fail(why);
            }
        }
    }
}

/// Bytes that are to come for `set`, and bytes that they take, as far as sizes are known.
fn to_come(set: &Set) -> (u64, u64) {
    let files = set.files.iter().filter_map(|wanted| match &wanted.way {
        Way::Download { download, .. } => rest_of(download),
        Way::Packed { archive } => {
            let mut members = set.archives[*archive].members.iter();
            let own = members.find(|member| member.file == wanted.belongs)?;
            own.expected.bytes.map(|bytes| (bytes, bytes))
        }
        Way::Here { .. } | Way::ByHand { .. } => None,
    });
    let archives = set.archives.iter().map(|packed| &packed.download);
    // One that lies at its place is taken as it is.
    let archives = archives.filter(|download| !download.file.is_file());
    files
        .chain(archives.filter_map(rest_of))
        .fold((0, 0), |(come, take), (comes, takes)| {
            (
                u64::saturating_add(come, comes),
                u64::saturating_add(take, takes),
            )
        })
}

/// Bytes that `download` still has to bring, and bytes that they take.
fn rest_of(download: &Download) -> Option<(u64, u64)> {
    let (bytes, there) = (download.wanted()?, download.already_there());
    let taken = there.taken.max(there.of_use);
    Some((
        bytes.saturating_sub(there.of_use),
        bytes.saturating_sub(taken),
    ))
}

impl FetchedFile {
    /// It does not come, for this reason.
    pub fn fail(&mut self, why: &str) {
        self.state = State::Failed;
        self.reason = Some(why.to_owned());
    }
}

/// The answer for people.
pub fn text(fetched: &[Fetched]) -> String {
    let mut text = String::new();
    for set in fetched {
        let _ = writeln!(text, "{}", set.name);
        let _ = writeln!(text, "  source   {}", set.source);
        let _ = writeln!(text, "  licence  {}", set.licence);
        for archive in &set.archives {
            let _ = writeln!(
                text,
                "  archive  {}\n           {}; at {} meanwhile",
                archive.url,
                size(archive.bytes),
                archive.belongs.display()
            );
        }
        for file in &set.files {
            file.write(&mut text);
        }
        if set.files.iter().any(|file| file.state == State::ToFetch) {
            let _ = writeln!(
                text,
                "  in all   {} bytes to come, as far as sizes are known; {} free there",
                count(set.bytes_to_come),
                set.bytes_free.map_or("an unknown number".to_owned(), count)
            );
        }
        by_hand(&mut text, set);
    }
    text
}

/// Which files to put where, when the command cannot.
fn by_hand(text: &mut String, set: &Fetched) {
    let missing: Vec<&FetchedFile> = set
        .files
        .iter()
        .filter(|file| file.state == State::Failed && file.url.is_some())
        .collect();
    if missing.is_empty() {
        return;
    }
    text.push_str("  by hand, from a machine that is connected:\n");
    let mut told = Vec::new();
    for file in missing {
        let url = file.url.as_deref().unwrap_or_default();
        let archive = set.archives.iter().find(|archive| archive.url == url);
        let (place, then) = match archive {
            Some(archive) => (&archive.belongs, ", then the same command unpacks it"),
            None => (&file.belongs, ""),
        };
        if told.contains(&url) {
            continue;
        }
        told.push(url);
        let part = match (file.first_rows, file.bytes) {
            (Some(rows), Some(bytes)) => format!(
                " (its first {} bytes, with {} as the number of rows in its header)",
                count(bytes),
                count(rows)
            ),
            _ => String::new(),
        };
        let _ = writeln!(text, "    {url}{part}\n      to {}{then}", place.display());
    }
}

impl FetchedFile {
    fn write(&self, text: &mut String) {
        let (place, size) = (self.belongs.display(), size(self.bytes));
        let part = match self.first_rows {
            Some(rows) => format!(", the first {} rows of the file there", count(rows)),
            None => String::new(),
        };
        let url = self.url.as_deref().unwrap_or_default();
        let _ = match self.state {
            State::Here => writeln!(text, "  here     {place}\n           {size}"),
            State::ToFetch => writeln!(
                text,
                "  to fetch {place}\n           {size}{part}, from {url}"
            ),
            State::Fetched => writeln!(
                text,
                "  fetched  {place}\n           {size}{part}, from {url}\n           sha256 {}, {}",
                self.sha256.as_deref().unwrap_or_default(),
                match self.compared {
                    Some(true) => "a known checksum agrees",
                    _ => "no checksum was known to compare",
                }
            ),
            State::Failed | State::ByHand => writeln!(
                text,
                "  MISSING  {place}\n           {}",
                self.reason
                    .as_deref()
                    .unwrap_or_default()
                    .replace('\n', "\n           ")
            ),
        };
    }
}

fn size(bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => format!("{} bytes", count(bytes)),
        None => "size not known".to_owned(),
    }
}
