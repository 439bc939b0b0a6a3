//! The rows of a set, from one file or several, in the order of the files or of their numbers.

use super::ParquetColumn;
use crate::DatasetError;
use crate::catalogue::{TruthPart, VectorsPart};
use crate::format::table::{Rows, TakeRows, rows_fit};
use crate::format::{Table, Wanted};
use crate::mapped::MappedFile;
use crate::value::{Fit, Misfit, ValueType};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

/// Most bytes that are put in order together, where there are no more than [`MOST_BLOCKS`] of such.
const MOST_BLOCK: usize = 512 << 20;
/// Files that are open at once, one for each block.
const MOST_BLOCKS: usize = 128;

/// A column of one file or several.
pub(crate) struct ParquetRows<'f> {
    files: Vec<ParquetColumn<'f>>,
    /// Which row of the set each row of the files is, where a column says so.
    ids: Option<Vec<u32>>,
}

/// Finds the values of the column that `part` names in its files.
pub(crate) fn find<'f>(
    files: &'f [MappedFile],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
) -> Result<Table<'f>, DatasetError> {
    let name = part.hdf5_dataset.as_deref().unwrap_or_default();
    let columns = files
        .iter()
        .map(|file| ParquetColumn::of(file, name, wanted.dim))
        .collect::<Result<Vec<_>, _>>()?;
    let place = format!("column `{name}`");
    let refused = |path: &Path, expected: String, found: String, next: &str| {
        DatasetError::contents(path, &*place, expected, found, next)
    };
    let Some(first) = columns.first() else {
        // Every part has a file.
        unreachable!("a part without files");
    };
    let value = first.column.value;
    if Fit::of(value, wanted.dim, wanted.element, wanted.dim) == Err(Misfit::Type) {
        return Err(refused(
            first.path,
            format!(
                "values for vectors of {}, as the dataset entry says",
                wanted.element
            ),
            format!("values of type {value}"),
            "correct `element` in the dataset entry",
        ));
    }
    const CORRECT: &str = "correct the dataset entry, or the file";
    for (at, column) in columns.iter().enumerate() {
        if column.column.value != value {
            return Err(refused(
                column.path,
                format!("values of type {value}, as in {}", first.path.display()),
                format!("values of type {}", column.column.value),
                "all files of a part have values of one type: write this one anew",
            ));
        }
        if let Some(width) = column.values_to_a_row()
            && width != wanted.dim
            && width > 1
        {
            return Err(refused(
                column.path,
                format!("rows of {} values, as the dataset entry says", wanted.dim),
                format!("rows of {width}"),
                "correct `dim` in the dataset entry, or write the file anew",
            ));
        }
        if let Some(known) = part.shards.get(at).and_then(|shard| shard.rows)
            && known != column.rows
        {
            return Err(refused(
                column.path,
                format!("{known} rows, as the dataset entry says"),
                column.rows.to_string(),
                CORRECT,
            ));
        }
    }
    let rows = total_rows(&columns);
    if !rows_fit(part, rows) {
        return Err(refused(
            first.path,
            format!("{} rows, as the dataset entry says", part.rows),
            match columns.len() {
                1 => rows.to_string(),
                _ => format!("{rows} in {}", counted(&columns)),
            },
            CORRECT,
        ));
    }
    let rows = ParquetRows {
        ids: part
            .ids
            .as_deref()
            .map(|ids| ids_of(files, ids, &columns))
            .transpose()?,
        files: columns,
    };
    Ok(Table {
        value,
        width: wanted.dim,
        place,
        rows: Rows::Parquet(rows),
    })
}

fn total_rows(columns: &[ParquetColumn<'_>]) -> usize {
    let rows = columns.iter().map(|column| column.rows);
    rows.fold(0, usize::saturating_add)
}

/// How many rows each file has.
fn counted(columns: &[ParquetColumn<'_>]) -> String {
    const LISTED: usize = 12;
    let each = columns.iter().take(LISTED).map(|column| {
        let name = column.path.file_name().unwrap_or_default();
        format!("{} with {}", name.to_string_lossy(), column.rows)
    });
    let mut each: Vec<String> = each.collect();
    if columns.len() > LISTED {
        each.push(format!("{} more", columns.len() - LISTED));
    }
    format!("{} files: {}", columns.len(), each.join(", "))
}

/// Reads neighbours, of exactly `queries` rows of `width` or more, of which the first `width` are
/// taken.
pub(crate) fn read_ids(
    file: &MappedFile,
    part: &TruthPart,
    queries: usize,
) -> Result<Vec<i64>, DatasetError> {
    let name = part.hdf5_dataset.as_deref().unwrap_or_default();
    let column = ParquetColumn {
        longer: true,
        ..ParquetColumn::of(file, name, part.width)?
    };
    let refused = |expected: String, found: String| {
        DatasetError::contents(
            file.path(),
            format!("column `{name}`"),
            expected,
            found,
            "correct the dataset entry, or the file",
        )
    };
    if !column.column.value.is_integer() {
        let found = format!("values of type {}", column.column.value);
        return Err(refused("neighbours, which are integers".to_owned(), found));
    }
    if column.rows != queries {
        let expected = format!("{queries} queries, as the dataset entry says");
        return Err(refused(expected, column.rows.to_string()));
    }
    let columns = vec![column];
    let ids = part
        .ids
        .as_deref()
        .map(|ids| ids_of(std::slice::from_ref(file), ids, &columns))
        .transpose()?;
    let rows = ParquetRows {
        files: columns,
        ids,
    };
    let mut neighbors = Vec::new();
    // A block of all of them: what is read is kept in memory here all the same.
    rows.read_in_blocks(queries, usize::MAX, Path::new(""), &mut |_, bytes| {
        rows.files[0].push_integers(bytes, &mut neighbors);
        Ok(())
    })?;
    Ok(neighbors)
}

/// A column of numbers, or of lists that all seem to have one length.
pub(crate) struct ParquetShape {
    /// Its name.
    pub(crate) name: String,
    /// Rows of the file.
    pub(crate) rows: usize,
    /// Numbers in a row.
    pub(crate) width: usize,
    /// Their type.
    pub(crate) value: ValueType,
}

/// The columns of `file` that can be read, and the only one, if there is one, that numbers its rows.
pub(crate) fn list_columns(
    file: &MappedFile,
) -> Result<(Vec<ParquetShape>, Option<String>), DatasetError> {
    let footer = super::footer(file.path(), file.bytes())?;
    let (mut shapes, mut numbering) = (Vec::new(), Vec::new());
    for name in footer.root_names() {
        let Ok(column) = ParquetColumn::of(file, name, 1) else {
            continue;
        };
        let Some(width) = column.values_to_a_row() else {
            continue;
        };
        let (rows, value) = (column.rows, column.column.value);
        let numbers = width == 1 && value.is_integer();
        if numbers && ids_of(std::slice::from_ref(file), name, &[column]).is_ok() {
            numbering.push(name.to_owned());
            continue;
        }
        shapes.push(ParquetShape {
            name: name.to_owned(),
            rows,
            width,
            value,
        });
    }
    let only = numbering.pop().filter(|_| numbering.is_empty());
    Ok((shapes, only))
}

/// Which row of the set each row of `columns` is, from the column `name` of the same files.
fn ids_of(
    files: &[MappedFile],
    name: &str,
    columns: &[ParquetColumn<'_>],
) -> Result<Vec<u32>, DatasetError> {
    let total = total_rows(columns);
    let refused = |path: &Path, place: String, expected: String, found: String| {
        DatasetError::contents(
            path,
            place,
            expected,
            found,
            "leave `ids` out of the dataset entry, and rows are taken in the order of the file, or name the column \
             that numbers them",
        )
    };
    let expected = || format!("each number from 0 to {} once", total.saturating_sub(1));
    // Grows with what is read: only then is it known that there are so many.
    let mut ids: Vec<u32> = Vec::new();
    for (file, column) in files.iter().zip(columns) {
        let numbers = ParquetColumn::of(file, name, 1)?;
        let value = numbers.column.value;
        if !value.is_integer() || numbers.rows != column.rows {
            return Err(refused(
                file.path(),
                format!("column `{name}`"),
                format!("{} integers", column.rows),
                format!("{} values of type {value}", numbers.rows),
            ));
        }
        for (row, id) in numbers.integers(column.rows)?.into_iter().enumerate() {
            let within = u32::try_from(id).ok().filter(|&id| (id as usize) < total);
            let Some(id) = within else {
                let place = format!("column `{name}`, row {row}");
                return Err(refused(file.path(), place, expected(), id.to_string()));
            };
            ids.push(id);
        }
    }
    let mut seen = vec![false; ids.len()];
    for (at, &id) in ids.iter().enumerate() {
        if std::mem::replace(&mut seen[id as usize], true) {
            let (path, row) = row_of(columns, at);
            let first = ids.iter().position(|&other| other == id).unwrap_or(at);
            let (first_path, first_row) = row_of(columns, first);
            let mut found = format!("{id} a second time, after row {first_row}");
            if first_path != path {
                let name = first_path.file_name().unwrap_or_default();
                found.push_str(&format!(" of {}", name.to_string_lossy()));
            }
            let place = format!("column `{name}`, row {row}");
            return Err(refused(path, place, expected(), found));
        }
    }
    Ok(ids)
}

/// The file and the row in it that is the row `at` of all files.
fn row_of<'c>(columns: &'c [ParquetColumn<'_>], mut at: usize) -> (&'c Path, usize) {
    for column in columns {
        if at < column.rows {
            return (column.path, at);
        }
        at -= column.rows;
    }
    (Path::new(""), at)
}

impl ParquetRows<'_> {
    /// Hands the first `n` rows of the set to `take`, some at a time. Where a column numbers them and
    /// memory does not take them all, they are first dealt out to files in `scratch`, one for each block
    /// of numbers, so that every page of the set is read once.
    pub(crate) fn read(
        &self,
        n: usize,
        scratch: &Path,
        take: TakeRows<'_>,
    ) -> Result<(), DatasetError> {
        // Of the size of the files, for that is what shows how much there can be.
        let bytes = self.files.iter().map(|file| file.bytes.len());
        let bytes = bytes.fold(0, usize::saturating_add);
        let block = bytes.saturating_mul(4).clamp(1 << 20, MOST_BLOCK);
        let all = n.saturating_mul(self.row_bytes());
        self.read_in_blocks(n, block.max(all.div_ceil(MOST_BLOCKS)), scratch, take)
    }

    fn row_bytes(&self) -> usize {
        self.files
            .first()
            .map_or(1, |file| file.width * file.column.value.size())
    }

    fn read_in_blocks(
        &self,
        n: usize,
        block: usize,
        scratch: &Path,
        take: TakeRows<'_>,
    ) -> Result<(), DatasetError> {
        let Some(ids) = &self.ids else {
            return self.stream(n, take);
        };
        let row_bytes = self.row_bytes();
        let step = (block / row_bytes).max(1);
        if step >= n {
            let mut ordered = vec![0; n * row_bytes];
            self.each_row(ids, &mut |id, values| {
                if id < n {
                    ordered[id * row_bytes..][..row_bytes].copy_from_slice(values);
                }
                Ok(())
            })?;
            return take(0, &ordered);
        }
        let failed = |cause| DatasetError::io("put rows in order in", scratch, cause);
        let mut blocks = Vec::new();
        for _ in (0..n).step_by(step) {
            let file = tempfile::tempfile_in(scratch).map_err(failed)?;
            blocks.push(BufWriter::with_capacity(256 << 10, file));
        }
        self.each_row(ids, &mut |id, values| {
            if id < n {
                // Below 2^32, as ids are.
                let within = (id % step) as u32;
                let out = &mut blocks[id / step];
                out.write_all(&within.to_le_bytes())
                    .and_then(|()| out.write_all(values))
                    .map_err(failed)?;
            }
            Ok(())
        })?;
        let mut ordered = Vec::new();
        for (start, out) in (0..n).step_by(step).zip(blocks) {
            let file = out
                .into_inner()
                .map_err(|error| failed(error.into_error()))?;
            ordered.clear();
            ordered.resize(step.min(n - start) * row_bytes, 0);
            gather(file, &mut ordered, row_bytes).map_err(failed)?;
            take(start, &ordered)?;
        }
        Ok(())
    }

    /// Hands every row to `each` with its number in the set.
    fn each_row(&self, ids: &[u32], each: TakeRows<'_>) -> Result<(), DatasetError> {
        let row_bytes = self.row_bytes();
        self.stream(ids.len(), &mut |first, bytes| {
            let rows = bytes.chunks_exact(row_bytes);
            ids[first..]
                .iter()
                .zip(rows)
                .try_for_each(|(&id, values)| each(id as usize, values))
        })
    }

    /// Hands the first `n` rows of the files to `take`.
    fn stream(&self, n: usize, take: TakeRows<'_>) -> Result<(), DatasetError> {
        let mut before = 0;
        for file in &self.files {
            let own = file.rows.min(n - before);
            if own > 0 {
                file.stream(own, &mut |first, bytes| take(before + first, bytes))?;
            }
            before += own;
        }
        Ok(())
    }
}

/// Puts the rows of `file`, each after its place, into `ordered`.
fn gather(mut file: File, ordered: &mut [u8], row_bytes: usize) -> std::io::Result<()> {
    file.rewind()?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut place = [0; 4];
    for _ in 0..ordered.len() / row_bytes {
        file.read_exact(&mut place)?;
        let at = u32::from_le_bytes(place) as usize * row_bytes;
        file.read_exact(&mut ordered[at..at + row_bytes])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are dealt out to files come back as those that memory takes together.
    #[test]
    fn blocks_of_any_size_give_the_same_rows() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/parquet/snappy.parquet"
        );
        let file = MappedFile::open(Path::new(path)).unwrap();
        let files = std::slice::from_ref(&file);
        let columns = vec![ParquetColumn::of(&file, "emb", 5).unwrap()];
        let rows = ParquetRows {
            ids: Some(ids_of(files, "id", &columns).unwrap()),
            files: columns,
        };
        let scratch = tempfile::tempdir().unwrap();
        for n in [1, 17, 40] {
            let read = |block: usize| {
                let mut all = Vec::new();
                rows.read_in_blocks(n, block, scratch.path(), &mut |first, bytes| {
                    assert_eq!(first * rows.row_bytes(), all.len());
                    all.extend_from_slice(bytes);
                    Ok(())
                })
                .unwrap();
                all
            };
            let whole = read(usize::MAX);
            assert_eq!(whole.len(), n * 20);
            for block in [1, 20, 60, 799] {
                assert_eq!(read(block), whole, "{n} rows, {block} bytes");
            }
        }
        let missing = rows.read_in_blocks(40, 20, Path::new("/nowhere/at/all"), &mut |_, _| Ok(()));
        assert!(missing.unwrap_err().to_string().contains("/nowhere/at/all"));
    }
}
