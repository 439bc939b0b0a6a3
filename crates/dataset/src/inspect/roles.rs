//! Which table is the base, which the queries, which the neighbours: by shape and content.

use super::AddError;
use super::found::{Content, Found, Reading, is_suffix};
use crate::value::ValueType;

/// Smaller magnitudes are ids that were read as floats, not components.
const SMALLEST: f64 = 1e-30;

/// The tables that make up a set.
#[derive(Debug)]
pub(super) struct Roles<'f> {
    /// Tables that may be the base; one, unless only the neighbours can tell.
    pub(super) bases: Vec<(&'f Found, Reading)>,
    pub(super) queries: (&'f Found, Reading),
    pub(super) truth: Option<(&'f Found, Reading)>,
    /// How each was told, in sentences.
    pub(super) because: Vec<String>,
}

/// What a user has said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said<'s> {
    pub(super) base: Option<&'s str>,
    pub(super) queries: Option<&'s str>,
    pub(super) truth: Option<&'s str>,
    pub(super) without_truth: bool,
}

/// A table as vectors or as neighbours, or as both where its content does not tell.
struct Candidate<'f> {
    found: &'f Found,
    vectors: Option<Reading>,
    ids: Option<Reading>,
    /// Why its integers are no ids of neighbours, where it has any.
    no_ids: Option<String>,
}

impl<'f> Roles<'f> {
    pub(super) fn of(tables: &'f [Found], said: Said<'_>) -> Result<Self, AddError> {
        let most_rows = tables.iter().map(|found| found.rows).max().unwrap_or(0);
        let candidates = tables
            .iter()
            .map(|found| Candidate::of(found, most_rows))
            .collect::<Result<Vec<_>, AddError>>()?;
        let all = Candidates {
            all: &candidates,
            listed: list(tables),
        };
        all.roles(said)
    }
}

impl<'f> Candidate<'f> {
    fn of(found: &'f Found, most_rows: usize) -> Result<Self, AddError> {
        let mut vectors = Vec::new();
        let (mut ids, mut no_ids) = (None, None);
        for &reading in &found.readings {
            if found.sets {
                vectors.push(reading);
                continue;
            }
            let content = found.content(reading)?;
            if is_vectors(reading, &content) {
                vectors.push(reading);
            }
            if reading.value.is_integer() && reading.value.size() >= 4 {
                match why_no_ids(&content, most_rows) {
                    None => ids = Some(reading),
                    Some(why) => no_ids = Some(why),
                }
            }
        }
        // Of bytes, signed or not, the name of the file may tell; otherwise the element type is asked for.
        let named = vectors
            .iter()
            .copied()
            .find(|reading| is_suffix(found.path(), reading.format));
        Ok(Self {
            found,
            vectors: named.or(vectors.first().copied()),
            no_ids: no_ids.filter(|_| ids.is_none()),
            ids,
        })
    }
}

/// Whether values can be components.
fn is_vectors(reading: Reading, content: &Content) -> bool {
    use crate::Format::{BigannTruth, Ibin, Ivecs};
    if matches!(reading.format, BigannTruth | Ibin | Ivecs) {
        return false;
    }
    match reading.value {
        ValueType::F32 | ValueType::F16 | ValueType::F64 => {
            content.finite && (content.largest >= SMALLEST)
        }
        _ => true,
    }
}

/// Why integers cannot be ids of neighbours, of which no row has one twice; `None` where they can.
fn why_no_ids(content: &Content, most_rows: usize) -> Option<String> {
    let (least, most) = (content.least, content.largest);
    if !content.counts {
        return Some(format!("they go down to {least}, and ids count from 0"));
    }
    if !content.distinct {
        return Some("a row has one of them twice".to_owned());
    }
    if most == most_rows as f64 && least > 0 {
        return Some(format!(
            "they go from {least} to {most}, and the largest table has {most_rows} rows: ids that count from 1; \
             subtract 1"
        ));
    }
    (most >= most_rows as f64).then(|| {
        format!(
            "they go up to {most}, and the largest table has {most_rows} rows: neighbours in a larger base"
        )
    })
}

/// All tables there are.
struct Candidates<'c, 'f> {
    all: &'c [Candidate<'f>],
    listed: String,
}

impl<'f> Candidates<'_, 'f> {
    fn roles(&self, said: Said<'_>) -> Result<Roles<'f>, AddError> {
        let mut because = Vec::new();
        let truth = self.truth(said, &mut because)?;
        let is_truth = |found: &Found| truth.is_some_and(|(truth, _)| std::ptr::eq(truth, found));
        // Distances beside the neighbours have their very shape.
        let is_beside = |found: &Found| {
            truth.is_some_and(|(truth, _)| {
                (truth.rows, truth.width) == (found.rows, found.width)
                    && truth.path() == found.path()
                    && found.readings.iter().all(|r| !r.value.is_integer())
            })
        };
        let mut vectors: Vec<(&Found, Reading)> = self
            .all
            .iter()
            .filter(|one| !is_truth(one.found) && !is_beside(one.found))
            .filter_map(|one| Some((one.found, one.vectors?)))
            .collect();
        // A list of distances per query, a single number for each, and the like are no vectors.
        if vectors.len() > 2 && said.base.is_none() {
            vectors = self.most_alike(vectors);
        }
        for beside in self.all.iter().filter(|one| is_beside(one.found)) {
            because.push(format!(
                "{} has the shape of the neighbours and no integers: distances, which are never used",
                beside.found.label()
            ));
        }
        let queries = match said.queries {
            Some(name) => {
                let named = self.named("--queries", name)?;
                because.push(format!("queries: {}, as --queries says", named.0.label()));
                Some(named)
            }
            None => None,
        };
        let base = said
            .base
            .map(|name| self.named("--base", name))
            .transpose()?;
        if let Some((base, _)) = base {
            because.push(format!("base: {}, as --base says", base.label()));
            vectors.retain(|(found, _)| found.width == base.width && found.sets == base.sets);
        }
        let queries = match queries {
            Some(queries) => queries,
            None => self.queries(&vectors, base, truth, &mut because)?,
        };
        let bases: Vec<(&Found, Reading)> = match base {
            Some(base) => vec![base],
            None => vectors
                .iter()
                .copied()
                .filter(|(found, _)| !std::ptr::eq(*found, queries.0))
                .filter(|(found, _)| found.width == queries.0.width)
                .collect(),
        };
        match bases[..] {
            [] => Err(self.undecided(
                "nothing but the queries can be the base",
                "two tables of vectors with rows of one width",
                "--base FILE (or FILE:DATASET), or add the file",
            )),
            [(only, _)] => {
                if base.is_none() {
                    because.push(format!(
                        "base: {}, the other table of vectors, {}",
                        only.label(),
                        only.in_words()
                    ));
                }
                Ok(())
            }
            _ if truth.is_some() => Ok(()),
            _ => Err(self.undecided(
                "several tables can be the base, and without neighbours nothing tells which",
                "one",
                "--base FILE (or FILE:DATASET)",
            )),
        }?;
        let used = |found: &Found| {
            is_truth(found)
                || is_beside(found)
                || std::ptr::eq(found, queries.0)
                || bases.iter().any(|(base, _)| std::ptr::eq(*base, found))
        };
        for unused in self.all.iter().filter(|one| !used(one.found)) {
            let why = match (&unused.no_ids, unused.vectors) {
                (Some(why), _) => format!("no ids, for {why}"),
                (None, Some(_)) => "neither base nor queries".to_owned(),
                (None, None) => "neither vectors nor ids".to_owned(),
            };
            because.push(format!(
                "NOT USED: {}, {}: {why}",
                unused.found.label(),
                unused.found.in_words()
            ));
        }
        Ok(Roles {
            bases,
            queries,
            truth,
            because,
        })
    }

    /// Those that share their width with another, where only one width is so shared.
    fn most_alike(&self, vectors: Vec<(&'f Found, Reading)>) -> Vec<(&'f Found, Reading)> {
        let shared = |found: &Found| {
            let alike = vectors.iter().filter(|(other, _)| {
                other.width == found.width && other.readings == found.readings
            });
            alike.count() > 1
        };
        vectors
            .iter()
            .copied()
            .filter(|(found, _)| shared(found))
            .collect()
    }

    fn truth(
        &self,
        said: Said<'_>,
        because: &mut Vec<String>,
    ) -> Result<Option<(&'f Found, Reading)>, AddError> {
        if said.without_truth {
            return Ok(None);
        }
        if let Some(name) = said.truth {
            let found = self.find("--truth", name)?;
            let Some(reading) = found.ids else {
                return Err(AddError::Flag {
                    flag: format!("--truth {name}"),
                    expected: "different ids from 0 on in every row, each that of a row".to_owned(),
                    found: match &found.no_ids {
                        Some(why) => format!("{}: {why}", found.found.in_words()),
                        None => found.found.in_words(),
                    },
                    next: "name the neighbours' ids, or leave them out: truth is then computed"
                        .to_owned(),
                });
            };
            because.push(format!(
                "neighbours: {}, as --truth says",
                found.found.label()
            ));
            return Ok(Some((found.found, reading)));
        }
        let ids: Vec<(&Found, Reading)> = self
            .all
            .iter()
            .filter_map(|one| Some((one.found, one.ids?)))
            .collect();
        match ids[..] {
            [] => {
                because.push(
                    "neighbours: no table holds different ids in every row; exact ones are computed once"
                        .to_owned(),
                );
                Ok(None)
            }
            [(found, reading)] => {
                because.push(format!(
                    "neighbours: {}, for every row of it holds different integers that can be rows of the base",
                    found.label()
                ));
                Ok(Some((found, reading)))
            }
            _ => Err(self.undecided(
                "several tables can be the neighbours",
                "one table of different ids in every row",
                "--truth FILE (or FILE:DATASET), or --without-truth",
            )),
        }
    }

    fn queries(
        &self,
        vectors: &[(&'f Found, Reading)],
        base: Option<(&Found, Reading)>,
        truth: Option<(&Found, Reading)>,
        because: &mut Vec<String>,
    ) -> Result<(&'f Found, Reading), AddError> {
        let others: Vec<(&Found, Reading)> = vectors
            .iter()
            .copied()
            .filter(|(found, _)| base.is_none_or(|(base, _)| !std::ptr::eq(base, *found)))
            .collect();
        if let Some((truth, _)) = truth {
            let fit: Vec<(&Found, Reading)> = others
                .iter()
                .copied()
                .filter(|(found, _)| found.rows == truth.rows)
                .collect();
            return match fit[..] {
                [(found, reading)] => {
                    because.push(format!(
                        "queries: {}, for it has as many rows as the neighbours, {}",
                        found.label(),
                        found.rows
                    ));
                    Ok((found, reading))
                }
                _ => Err(self.undecided(
                    &format!(
                        "{} tables of vectors have as many rows as the neighbours, {}",
                        fit.len(),
                        truth.rows
                    ),
                    "one",
                    "--queries FILE (or FILE:DATASET), or --truth, or --without-truth",
                )),
            };
        }
        match others[..] {
            [only] if base.is_some() => {
                because.push(format!(
                    "queries: {}, the other table of vectors",
                    only.0.label()
                ));
                Ok(only)
            }
            [a, b] if base.is_none() && a.0.width == b.0.width && a.0.rows != b.0.rows => {
                let fewer = if a.0.rows < b.0.rows { a } else { b };
                because.push(format!(
                    "queries: {}, for it has fewer rows, {}",
                    fewer.0.label(),
                    fewer.0.rows
                ));
                Ok(fewer)
            }
            _ => Err(self.undecided(
                "which table holds the queries cannot be told",
                "two tables of vectors, rows of one width, the queries being fewer",
                "--base and --queries, each FILE or FILE:DATASET (queries must not be rows of the base: hold \
                 some out)",
            )),
        }
    }

    fn named(&self, flag: &str, name: &str) -> Result<(&'f Found, Reading), AddError> {
        let one = self.find(flag, name)?;
        one.vectors
            .map(|reading| (one.found, reading))
            .ok_or_else(|| AddError::Flag {
                flag: format!("{flag} {name}"),
                expected: "vectors, finite numbers that are no ids".to_owned(),
                found: one.found.in_words(),
                next: "name a table of vectors".to_owned(),
            })
    }

    fn find(&self, flag: &str, name: &str) -> Result<&Candidate<'f>, AddError> {
        let called: Vec<&Candidate<'f>> = self
            .all
            .iter()
            .filter(|one| one.found.is_called(name))
            .collect();
        match called[..] {
            [one] => Ok(one),
            _ => Err(AddError::Flag {
                flag: format!("{flag} {name}"),
                expected: format!("one of {}", self.listed),
                found: match called.len() {
                    0 => "none of them".to_owned(),
                    n => format!("{n} that are called so"),
                },
                next: "name it as it is listed here".to_owned(),
            }),
        }
    }

    fn undecided(&self, problem: &str, expected: &str, flag: &str) -> AddError {
        AddError::Undecided {
            problem: problem.to_owned(),
            expected: expected.to_owned(),
            found: self.listed.clone(),
            flag: flag.to_owned(),
        }
    }
}

/// All tables with their shapes.
fn list(tables: &[Found]) -> String {
    let tables = tables
        .iter()
        .map(|found| format!("{} ({})", found.label(), found.in_words()));
    tables.collect::<Vec<_>>().join(", ")
}
