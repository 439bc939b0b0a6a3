use super::slice::Rows;
use annbench_dataset::{Archive, Entry, FileState, FileStatus};
use annbench_fetch::{BadUrl, Download, Expected, Member, Packing, Source};
use annbench_report::count;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A dataset, and what is to be done for each of its files.
#[derive(Debug)]
pub struct Set {
    pub name: String,
    pub source: String,
    pub licence: String,
    pub files: Vec<Wanted>,
    pub archives: Vec<Packed>,
}

/// A file of a dataset.
#[derive(Debug)]
pub struct Wanted {
    pub file: String,
    /// Where it belongs.
    pub belongs: PathBuf,
    pub way: Way,
}

/// How a file comes to its place.
#[derive(Debug)]
pub enum Way {
    /// It is there.
    Here { path: PathBuf, bytes: u64 },
    /// By a download of its own. `first` is how many rows of how many are taken, if not all.
    Download {
        download: Download,
        first: Option<u64>,
    },
    /// Out of the archive of this number, whose URL is `url`.
    Packed { archive: usize },
    /// Not by this command.
    ByHand { why: String },
}

/// A packed download.
#[derive(Debug)]
pub struct Packed {
    pub download: Download,
    pub packing: Packing,
    pub members: Vec<Member>,
}

impl Packed {
    pub fn url(&self) -> &str {
        self.download.sources.first().map_or("", Source::url)
    }
}

/// Where files are taken from in place of where they are published.
#[derive(Debug)]
pub struct Mirrors<'a>(&'a [String]);

impl<'a> Mirrors<'a> {
    pub fn new(folders: &'a [String]) -> Self {
        Self(folders)
    }

    /// Whether any are.
    fn are_named(&self) -> bool {
        !self.0.is_empty()
    }

    /// The sources of the file that is published at `url`, then at `others`, and called `name`.
    pub fn sources(&self, url: &str, others: &[String], name: &str) -> Result<Vec<Source>, BadUrl> {
        if self.0.is_empty() {
            let urls = std::iter::once(url).chain(others.iter().map(String::as_str));
            return urls.map(Source::new).collect();
        }
        let places = self.0.iter();
        places
            .map(|folder| Source::new(&format!("{}/{name}", folder.trim_end_matches('/'))))
            .collect()
    }
}

impl Set {
    /// What is to be done for the files of `entry`.
    pub fn of_entry(entry: &Entry, mirrors: &Mirrors<'_>) -> Self {
        let mut set = Self {
            name: entry.name.clone(),
            source: entry.source.clone(),
            licence: entry.licence.clone(),
            files: Vec::new(),
            archives: Vec::new(),
        };
        for status in entry.file_statuses() {
            let way = set.way(entry, &status, mirrors);
            set.files.push(Wanted {
                belongs: status.belongs,
                file: status.file,
                way,
            });
        }
        set
    }

    fn way(&mut self, entry: &Entry, status: &FileStatus, mirrors: &Mirrors<'_>) -> Way {
        let rows = Rows::to_cut(entry, &status.file);
        match &status.state {
            FileState::Present { path, bytes } => Way::Here {
                path: path.clone(),
                bytes: *bytes,
            },
            FileState::OtherSize { path, bytes } => {
                match rows_at(entry, &status.file, path, *bytes) {
                    Some(there) if rows.is_some_and(|rows| there >= rows.n) => Way::Here {
                        path: path.clone(),
                        bytes: *bytes,
                    },
                    // A shorter slice of the same file, at its place: a longer one replaces it.
                    Some(_) if *path == status.belongs => {
                        self.missing(entry, status, rows, mirrors)
                    }
                    _ => Way::ByHand {
                        why: format!(
                            "{} has {} bytes, not the {} that the entry says: move it away and run the \
                             same again",
                            path.display(),
                            count(*bytes),
                            status.facts.bytes.map_or("number".to_owned(), count)
                        ),
                    },
                }
            }
            FileState::Missing => self.missing(entry, status, rows, mirrors),
        }
    }

    /// How a file comes here that is not.
    fn missing(
        &mut self,
        entry: &Entry,
        status: &FileStatus,
        rows: Option<Rows>,
        mirrors: &Mirrors<'_>,
    ) -> Way {
        let found = match (&status.facts.url, &entry.archive) {
            _ if Path::new(&status.file).is_absolute() => Ok(Way::ByHand {
                why: "an absolute path is not downloaded to: put the file there".to_owned(),
            }),
            (Some(url), _) if packing_of(url, &status.file).is_some() => {
                let archive = Archive {
                    url: url.clone(),
                    mirrors: status.facts.mirrors.clone(),
                    bytes: None,
                    sha256: None,
                    md5: status.facts.md5.clone(),
                };
                self.packed(entry, status, &archive, mirrors)
            }
            (Some(url), _) => download(status, url, rows, mirrors),
            (None, Some(archive)) => self.packed(entry, status, archive, mirrors),
            (None, None) if mirrors.are_named() => download(status, &status.file, rows, mirrors),
            (None, None) => Ok(Way::ByHand {
                why:
                    "the entry names no URL: see its notes (`annbench datasets show`), and put the \
                      file there"
                        .to_owned(),
            }),
        };
        found.unwrap_or_else(|bad| Way::ByHand {
            why: bad.to_string(),
        })
    }

    fn packed(
        &mut self,
        entry: &Entry,
        status: &FileStatus,
        archive: &Archive,
        mirrors: &Mirrors<'_>,
    ) -> Result<Way, BadUrl> {
        let by_hand = |why: String| Ok(Way::ByHand { why });
        let named = Source::new(&archive.url)?.file_name();
        let Some((name, packing)) =
            named.and_then(|name| Some((name.clone(), Packing::of(&name)?)))
        else {
            return by_hand(format!(
                "{} is not packed in a known way (.tar, .tar.gz, .tgz, .gz): unpack it by hand",
                archive.url
            ));
        };
        let holds = name.strip_suffix(".gz").unwrap_or(&name);
        if packing == Packing::Gz && holds != status.file {
            return by_hand(format!(
                "{} holds one file only, {holds}; this one comes otherwise: see the notes of the entry \
                 (`annbench datasets show`)",
                archive.url
            ));
        }
        let member = Member {
            name: status.file.clone(),
            file: status.belongs.clone(),
            expected: expected(status),
        };
        let sources = mirrors.sources(&archive.url, &archive.mirrors, &name)?;
        let same = |packed: &Packed| packed.download.sources == sources;
        if let Some(index) = self.archives.iter().position(same) {
            self.archives[index].members.push(member);
            return Ok(Way::Packed { archive: index });
        }
        self.archives.push(Packed {
            download: Download {
                file: entry.places.belongs(&name),
                sources,
                expected: Expected {
                    bytes: archive.bytes,
                    sha256: archive.sha256.clone(),
                    md5: archive.md5.clone(),
                },
                cut: None,
            },
            packing,
            members: vec![member],
        });
        Ok(Way::Packed {
            archive: self.archives.len() - 1,
        })
    }
}

fn download(
    status: &FileStatus,
    url: &str,
    rows: Option<Rows>,
    mirrors: &Mirrors<'_>,
) -> Result<Way, BadUrl> {
    let cut = rows.and_then(|rows| Some((rows.n, rows.cut()?)));
    let (first, cut) = cut.unzip();
    Ok(Way::Download {
        download: Download {
            file: status.belongs.clone(),
            sources: mirrors.sources(url, &status.facts.mirrors, &status.file)?,
            expected: Expected {
                md5: status.facts.md5.clone(),
                ..expected(status)
            },
            cut,
        },
        first,
    })
}

/// Of the file itself. An MD5 is that of what comes from its URL, which may be packed.
fn expected(status: &FileStatus) -> Expected {
    Expected {
        bytes: status.facts.bytes,
        sha256: status.facts.sha256.clone(),
        md5: None,
    }
}

/// The packing at `url` that `file` has to be taken out of.
fn packing_of(url: &str, file: &str) -> Option<Packing> {
    let name = Source::new(url).ok()?.file_name()?;
    Packing::of(&name).filter(|_| Packing::of(file).is_none())
}

/// Whether a file that is there has the size that the entry knows, or is a slice of the larger file with all
/// the rows that the set takes of it.
pub fn is_enough(entry: &Entry, status: &FileStatus) -> bool {
    match &status.state {
        FileState::Missing => false,
        FileState::Present { .. } => true,
        FileState::OtherSize { path, bytes } => {
            let rows = Rows::to_cut(entry, &status.file);
            let there = rows_at(entry, &status.file, path, *bytes);
            rows.zip(there).is_some_and(|(rows, there)| there >= rows.n)
        }
    }
}

/// How many rows the file of `bytes` at `path` has, which is `file`, cut; `None` where it is no slice of it.
fn rows_at(entry: &Entry, file: &str, path: &Path, bytes: u64) -> Option<u64> {
    let rows = whole_rows(entry, file).or_else(|| Rows::to_cut(entry, file))?;
    rows_in(rows, path, bytes)
}

/// The layout of a file of which the set needs all rows, for telling a cut one.
fn whole_rows(entry: &Entry, file: &str) -> Option<Rows> {
    let mut entry = entry.clone();
    for part in [&mut entry.base, &mut entry.queries] {
        part.take_first = Some(part.n());
    }
    Rows::to_cut(&entry, file)
}

fn rows_in(rows: Rows, path: &Path, bytes: u64) -> Option<u64> {
    let mut first = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .take(Rows::LONGEST_HEADER as u64)
        .read_to_end(&mut first)
        .ok()?;
    rows.rows_of(bytes, &first)
}
