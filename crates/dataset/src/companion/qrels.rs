use super::lines::lines;
use super::refused;
use crate::DatasetError;
use crate::mapped::MappedFile;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The first line of BEIR's files.
const HEAD: &str = "query-id\tcorpus-id\tscore";

/// Names of rows: line `i` of a file is that of row `i`.
#[derive(Clone, Debug)]
pub struct IdList {
    path: PathBuf,
    rows: HashMap<String, u32>,
}

impl IdList {
    /// Reads the file at `path`, of the names of `n` rows.
    ///
    /// # Errors
    /// [`DatasetError::Io`]; [`DatasetError::Contents`] where there are more or fewer names, or one
    /// twice.
    pub fn read(path: &Path, n: usize) -> Result<Self, DatasetError> {
        Self::parse(&MappedFile::open(path)?, n)
    }

    pub(crate) fn parse(file: &MappedFile, n: usize) -> Result<Self, DatasetError> {
        let path = file.path();
        let mut rows: HashMap<String, u32> = HashMap::new();
        let mut count = 0usize;
        for name in lines(file)? {
            // More than 32 bits of them are more than any set has rows.
            let row = u32::try_from(count).unwrap_or(u32::MAX);
            count += 1;
            let place = || format!("line {count}");
            if name.is_empty() {
                return Err(refused(
                    path,
                    place(),
                    "the name of a row".to_owned(),
                    "nothing".to_owned(),
                ));
            }
            if let Some(before) = rows.insert(name.to_owned(), row) {
                let found = format!("`{name}`, which is that of row {before} already");
                return Err(refused(
                    path,
                    place(),
                    "a name of its own".to_owned(),
                    found,
                ));
            }
        }
        if count != n {
            let expected = format!("{n}, one for every row");
            return Err(refused(path, "lines", expected, count.to_string()));
        }
        Ok(Self {
            path: path.to_owned(),
            rows,
        })
    }

    /// The row that is called `name`.
    pub fn row(&self, name: &str) -> Option<u32> {
        self.rows.get(name).copied()
    }
}

/// Judgements of relevance as BEIR has them: tab-separated query, document and score, under a line that
/// says so. They are not neighbours.
#[derive(Clone, Debug)]
pub struct Qrels {
    path: PathBuf,
    lines: Vec<(String, String, i32)>,
}

/// How relevant a base row is to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The query.
    pub query: u32,
    /// The base row.
    pub id: u32,
    /// 0 for none; more for more.
    pub score: i32,
}

impl Qrels {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`DatasetError::Io`]; [`DatasetError::Contents`] with the line that is none of such a file.
    pub fn read(path: &Path) -> Result<Self, DatasetError> {
        Self::parse(&MappedFile::open(path)?)
    }

    pub(crate) fn parse(file: &MappedFile) -> Result<Self, DatasetError> {
        let path = file.path();
        let mut text = lines(file)?;
        let head = text.next().unwrap_or_default();
        if head != HEAD {
            let found = format!("`{}`", head.chars().take(80).collect::<String>());
            let expected = "query-id, corpus-id and score, separated by tabs".to_owned();
            return Err(refused(path, "line 1", expected, found));
        }
        let mut judgements = Vec::new();
        for (line, number) in text.zip(2..) {
            let mut fields = line.split('\t');
            let read = (fields.next(), fields.next(), fields.next(), fields.next());
            let (Some(query), Some(document), Some(score), None) = read else {
                let found = format!("{} fields", line.split('\t').count());
                return Err(refused(
                    path,
                    format!("line {number}"),
                    "three fields".to_owned(),
                    found,
                ));
            };
            let score: Option<i32> = score.parse().ok();
            match score {
                Some(score) if !query.is_empty() && !document.is_empty() => {
                    judgements.push((query.to_owned(), document.to_owned(), score));
                }
                _ => {
                    return Err(refused(
                        path,
                        format!("line {number}"),
                        "two names and a whole number".to_owned(),
                        format!("`{}`", line.chars().take(80).collect::<String>()),
                    ));
                }
            }
        }
        Ok(Self {
            path: path.to_owned(),
            lines: judgements,
        })
    }

    /// The judgements about a set whose queries and base rows are called so, by query and row.
    ///
    /// # Errors
    /// [`DatasetError::Contents`] with the line that names what the set does not have, or judges a row a
    /// second time.
    pub fn resolve(&self, queries: &IdList, base: &IdList) -> Result<Vec<Judged>, DatasetError> {
        let mut seen: HashMap<(u32, u32), usize> = HashMap::new();
        let mut judged = Vec::new();
        for ((query, document, score), line) in self.lines.iter().zip(2..) {
            let find = |list: &IdList, name: &str| {
                list.row(name).ok_or_else(|| {
                    let expected = format!("a name of {}", list.path.display());
                    refused(
                        &self.path,
                        format!("line {line}"),
                        expected,
                        format!("`{name}`"),
                    )
                })
            };
            let (query, id) = (find(queries, query)?, find(base, document)?);
            if let Some(before) = seen.insert((query, id), line) {
                let found = format!("query {query} and row {id} again, after line {before}");
                let expected = "one judgement of each row".to_owned();
                return Err(refused(&self.path, format!("line {line}"), expected, found));
            }
            judged.push(Judged {
                query,
                id,
                score: *score,
            });
        }
        judged.sort_unstable_by_key(|one| (one.query, one.id));
        Ok(judged)
    }
}
