//! Columns of parquet files: numbers, and lists of so many numbers in every row. Read here and not by
//! a library, so that no size that a file claims is set aside before the file has shown it.

mod footer;
mod levels;
mod pages;
mod rows;
mod thrift;

use super::looks_like;
use super::table::{STEP_BYTES, TakeRows};
use crate::DatasetError;
use crate::mapped::MappedFile;
use crate::value::ValueType;
use footer::{Chunk, Column, Footer, PageHeader};
use pages::{BadPage, Item, Page, bad, decompressed};
pub(crate) use rows::{ParquetRows, find, list_columns, read_ids};
use std::path::Path;

const MAGIC: &[u8] = b"PAR1";

/// Rows of each row group, and where the values of a column are.
type Groups = Vec<(u64, Chunk)>;

/// A column of one file, whose rows all have one width.
struct ParquetColumn<'f> {
    path: &'f Path,
    bytes: &'f [u8],
    name: String,
    column: Column,
    groups: Groups,
    rows: usize,
    width: usize,
    /// Whether of longer rows the first `width` values are taken.
    longer: bool,
}

/// The rows of the file, its column `name`, and that column's chunk in every row group.
fn open(path: &Path, bytes: &[u8], name: &str) -> Result<(usize, Column, Groups), DatasetError> {
    let footer = footer(path, bytes)?;
    let damaged = |found: &str| {
        DatasetError::contents(
            path,
            "footer",
            "a parquet file's description of its columns",
            found,
            "the file is truncated or damaged: move it away and download it again",
        )
    };
    let column = footer.column(name).map_err(|found| {
        DatasetError::contents(
            path,
            "columns",
            format!("a column `{name}` of numbers, or of lists of numbers"),
            found,
            "name such a column as `dataset` in the dataset entry",
        )
    })?;
    let mut groups = Vec::new();
    for group in footer.groups {
        let chunk = group.chunks.into_iter().nth(column.index);
        let Some(chunk) = chunk else {
            return Err(damaged("a row group without the column"));
        };
        groups.push((group.rows, chunk));
    }
    let rows = groups
        .iter()
        .try_fold(0u64, |sum, (rows, _)| sum.checked_add(*rows));
    if rows != Some(footer.rows) {
        return Err(damaged("row groups of other rows than it says in all"));
    }
    let rows = usize::try_from(footer.rows).map_err(|_| damaged("more rows than there can be"))?;
    Ok((rows, column, groups))
}

fn footer(path: &Path, bytes: &[u8]) -> Result<Footer, DatasetError> {
    let parsed = || -> Option<Footer> {
        let body = bytes.strip_prefix(MAGIC)?.strip_suffix(MAGIC)?;
        let (body, len) = body.split_last_chunk::<4>()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        Footer::parse(&body[body.len().checked_sub(len)?..])
    };
    parsed().ok_or_else(|| {
        let found = match looks_like(bytes) {
            Some(looks) if !looks.contains("parquet") => format!("what looks like {looks}"),
            _ => "a parquet file without its end".to_owned(),
        };
        DatasetError::contents(
            path,
            "footer",
            "a parquet file's description of its columns",
            found,
            "the file is truncated, damaged or of another format: move it away and download it again, or correct `format` in the \
             dataset entry",
        )
    })
}

/// Rows on their way out.
struct Taken<'t, 'c> {
    take: TakeRows<'t>,
    wanted: usize,
    width: usize,
    longer: bool,
    size: usize,
    /// Whole rows, and the beginning of another.
    buffer: Vec<u8>,
    /// Values of the last row in the buffer.
    open: usize,
    /// Rows that are whole.
    rows: usize,
    first: usize,
    name: &'c str,
}

impl<'f> ParquetColumn<'f> {
    /// The column `name` of the file, of rows of `width` values.
    fn of(file: &'f MappedFile, name: &str, width: usize) -> Result<Self, DatasetError> {
        let (path, bytes) = (file.path(), file.bytes());
        let (rows, column, groups) = open(path, bytes, name)?;
        Ok(Self {
            path,
            bytes,
            name: name.to_owned(),
            column,
            groups,
            rows,
            width,
            longer: false,
        })
    }

    /// Values in every row, where that can be told without reading them: all rows may still have others.
    fn values_to_a_row(&self) -> Option<usize> {
        let values = self
            .groups
            .iter()
            .try_fold(0u64, |sum, (_, chunk)| sum.checked_add(chunk.values))?;
        let rows = self.rows as u64;
        let whole = rows > 0 && values > 0 && values.is_multiple_of(rows);
        whole.then(|| usize::try_from(values / rows).ok())?
    }

    /// All integers of the first `n` rows.
    fn integers(&self, n: usize) -> Result<Vec<i64>, DatasetError> {
        let mut integers = Vec::new();
        self.stream(n, &mut |_, bytes| {
            self.push_integers(bytes, &mut integers);
            Ok(())
        })?;
        Ok(integers)
    }

    fn push_integers(&self, bytes: &[u8], integers: &mut Vec<i64>) {
        match self.column.value {
            ValueType::I32 => {
                let values = bytes.as_chunks::<4>().0.iter();
                integers.extend(values.map(|&id| i64::from(i32::from_le_bytes(id))));
            }
            _ => {
                let values = bytes.as_chunks::<8>().0.iter();
                integers.extend(values.map(|&id| i64::from_le_bytes(id)));
            }
        }
    }

    /// Hands the first `n` rows of the file to `take`.
    fn stream(&self, n: usize, take: TakeRows<'_>) -> Result<(), DatasetError> {
        let mut taken = Taken {
            take,
            wanted: n,
            width: self.width,
            longer: self.longer,
            size: self.column.value.size(),
            buffer: Vec::new(),
            open: 0,
            rows: 0,
            first: 0,
            name: &self.name,
        };
        let mut end = 0u64;
        for (number, (rows, chunk)) in self.groups.iter().enumerate() {
            if taken.rows == n {
                break;
            }
            self.read_chunk(number, chunk, &mut taken)?;
            end += rows;
            if taken.rows < n && taken.rows as u64 != end {
                return Err(self.damaged(
                    format!("row group {number}"),
                    &format!("{end} rows up to its end"),
                    taken.rows.to_string(),
                ));
            }
        }
        if taken.rows != n {
            return Err(self.damaged("rows".to_owned(), &n.to_string(), taken.rows.to_string()));
        }
        taken.give()
    }

    fn read_chunk(
        &self,
        number: usize,
        chunk: &Chunk,
        taken: &mut Taken<'_, '_>,
    ) -> Result<(), DatasetError> {
        let place =
            |page: usize| format!("column `{}`, row group {number}, page {page}", self.name);
        let refused =
            |page: usize, bad: BadPage| self.damaged(place(page), bad.expected, bad.found);
        let start = match chunk.dictionary {
            Some(dictionary) if dictionary > 0 && dictionary < chunk.data => dictionary,
            _ => chunk.data,
        };
        let body = usize::try_from(start)
            .ok()
            .zip(usize::try_from(chunk.bytes).ok());
        let body = body.and_then(|(at, len)| self.bytes.get(at..at.checked_add(len)?));
        let mut rest = match body {
            Some(body) if !chunk.elsewhere => body,
            Some(_) => {
                let found = "values in another file".to_owned();
                return Err(self.damaged(place(0), "values within this file", found));
            }
            None => {
                let found = format!("{} bytes from byte {start}", chunk.bytes);
                return Err(self.damaged(place(0), "pages within the file", found));
            }
        };
        let mut left = chunk.values;
        let mut dictionary: Option<Vec<u8>> = None;
        let mut page = 0;
        while left > 0 && taken.rows < taken.wanted {
            let split = PageHeader::parse(rest).and_then(|(header, at)| {
                let (stored, rest) = rest[at..].split_at_checked(header.stored)?;
                Some((header, stored, rest))
            });
            let Some((header, stored, after)) = split else {
                let found = BadPage {
                    expected: "a whole page",
                    found: format!("{} bytes that are none", rest.len()),
                };
                return Err(refused(page, found));
            };
            rest = after;
            match header.kind {
                2 => {
                    let whole = self.dictionary(&header, chunk, stored);
                    dictionary = Some(whole.map_err(|bad| refused(page, bad))?);
                }
                0 | 3 => {
                    // Writers end a column with an empty page at times.
                    let fits = header.values as u64 <= left;
                    if !fits {
                        let found = format!("{} values", header.values);
                        let expected = format!("at most {left} values");
                        return Err(self.damaged(place(page), &expected, found));
                    }
                    left -= header.values as u64;
                    self.read_page(&header, chunk, stored, dictionary.as_deref(), taken)
                        .map_err(|stop| match stop {
                            Stop::Page(bad) => refused(page, bad),
                            Stop::Taker(error) => error,
                        })?;
                }
                _ => {}
            }
            page += 1;
        }
        taken.end_row().map_err(|bad| refused(page, bad))?;
        let all: u64 = self.groups.iter().map(|(rows, _)| rows).sum();
        if left > 0 && taken.wanted as u64 == all {
            let found = format!("{left} values after the last row");
            return Err(self.damaged(place(page), "rows of one width", found));
        }
        Ok(())
    }

    fn dictionary(
        &self,
        header: &PageHeader,
        chunk: &Chunk,
        stored: &[u8],
    ) -> Result<Vec<u8>, BadPage> {
        let whole = decompressed(chunk.codec, stored, header.size)?;
        let is_plain = matches!(header.encoding, 0 | 2);
        let fits = header.values.checked_mul(self.column.value.size()) == Some(whole.len());
        match is_plain && fits {
            true => Ok(whole.into_owned()),
            false => bad(
                "a dictionary of as many values as it says",
                format!("{} bytes", whole.len()),
            ),
        }
    }

    fn read_page(
        &self,
        header: &PageHeader,
        chunk: &Chunk,
        stored: &[u8],
        dictionary: Option<&[u8]>,
        taken: &mut Taken<'_, '_>,
    ) -> Result<(), Stop> {
        let (mut levels, mut body, mut size, mut codec) =
            (&[][..], stored, header.size, chunk.codec);
        if header.kind == 3 {
            let len = header
                .repetition_bytes
                .saturating_add(header.definition_bytes);
            let split = stored.split_at_checked(len).zip(size.checked_sub(len));
            let Some(((first, second), rest)) = split else {
                return Err(Stop::Page(BadPage {
                    expected: "levels within the page",
                    found: format!("{len} bytes of them"),
                }));
            };
            (levels, body, size) = (first, second, rest);
            if !header.compressed {
                codec = 0;
            }
        }
        let body = decompressed(codec, body, size).map_err(Stop::Page)?;
        let mut page =
            Page::of(&self.column, header, levels, &body, dictionary).map_err(Stop::Page)?;
        for _ in 0..header.values {
            if taken.rows == taken.wanted {
                break;
            }
            match page.next() {
                Some(Item::Value { first, bytes }) => taken.push(first, &bytes)?,
                Some(Item::Null) => return Err(taken.null()),
                None => {
                    return Err(Stop::Page(BadPage {
                        expected: "as many values as the page says",
                        found: "fewer, or one that its dictionary does not have".to_owned(),
                    }));
                }
            }
        }
        Ok(())
    }

    fn damaged(&self, place: String, expected: &str, found: String) -> DatasetError {
        DatasetError::contents(
            self.path,
            place,
            expected,
            found,
            "write the file anew, for instance by pandas (`to_parquet`, compression `snappy`), or move it away and download it again",
        )
    }
}

/// Why reading ended.
enum Stop {
    Page(BadPage),
    Taker(DatasetError),
}

impl Taken<'_, '_> {
    fn push(&mut self, first: bool, bytes: &[u8; 8]) -> Result<(), Stop> {
        if first {
            self.end_row().map_err(Stop::Page)?;
            if self.rows == self.wanted {
                return Ok(());
            }
            if self.buffer.len() >= STEP_BYTES {
                self.give().map_err(Stop::Taker)?;
            }
        }
        if self.open == self.width && self.longer {
            return Ok(());
        }
        if self.open == self.width {
            return Err(Stop::Page(
                self.other_width(format!("more than {}", self.width)),
            ));
        }
        self.buffer.extend_from_slice(&bytes[..self.size]);
        self.open += 1;
        Ok(())
    }

    /// The row that is open has no more values.
    fn end_row(&mut self) -> Result<(), BadPage> {
        if self.open == 0 {
            return Ok(());
        }
        if self.open != self.width {
            return Err(self.other_width(self.open.to_string()));
        }
        self.open = 0;
        self.rows += 1;
        Ok(())
    }

    fn other_width(&self, values: String) -> BadPage {
        BadPage {
            expected: "rows of one width, that of the dataset entry",
            found: format!("row {} of `{}` with {values} values", self.rows, self.name),
        }
    }

    fn null(&self) -> Stop {
        let row = self.rows + usize::from(self.open == self.width);
        Stop::Page(BadPage {
            expected: "a number at every place",
            found: format!(
                "row {row} of `{}` without one (null, or an empty list)",
                self.name
            ),
        })
    }

    fn give(&mut self) -> Result<(), DatasetError> {
        let (first, rows) = (self.first, self.rows);
        if rows > first {
            (self.take)(first, &self.buffer)?;
        }
        self.first = rows;
        self.buffer.clear();
        Ok(())
    }
}
