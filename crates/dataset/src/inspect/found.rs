//! What a file holds, by its contents: tables of so many rows of so many values.

use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::format::hdf5::{list_tables, read_ids};
use crate::format::parquet::list_columns;
use crate::format::{
    Format, NpyHeader, Wanted, find_table, flat_header_of, is_hdf5, looks_like, npy_table,
    texmex_rows, u32_at,
};
use crate::mapped::MappedFile;
use crate::value::{Number, ValueType, each_number};
use annbench_core::{ElementType, Metric};
use std::path::{Path, PathBuf};

/// Rows that are looked at to tell what a table holds.
pub(super) const SAMPLE_ROWS: usize = 100;

/// One way of reading a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) format: Format,
    pub(super) value: ValueType,
}

/// A table in a file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) file: MappedFile,
    /// In an HDF5 file, or the column of a parquet file.
    pub(super) dataset: Option<String>,
    /// The column of a parquet file that numbers its rows.
    pub(super) numbering: Option<String>,
    pub(super) rows: usize,
    pub(super) width: usize,
    /// What its bytes may be.
    pub(super) readings: Vec<Reading>,
    /// Of a file of bytes, where its rows lie.
    place: Option<Place>,
    /// Of lists of sets: one more than the largest member.
    pub(super) sets: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    stride: usize,
    swapped: bool,
}

/// What the first rows of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Content {
    /// All are integers from 0 on.
    pub(super) counts: bool,
    /// No row has one twice.
    pub(super) distinct: bool,
    pub(super) largest: f64,
    /// The least that is no sentinel: of integers.
    pub(super) least: i128,
    /// All are finite.
    pub(super) finite: bool,
    /// All are 0 or 1.
    pub(super) bits: bool,
}

impl Found {
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// How a user names it: the file, and the dataset in it.
    pub(super) fn label(&self) -> String {
        let path = self.path().display();
        match &self.dataset {
            Some(dataset) => format!("{path}:{dataset}"),
            None => path.to_string(),
        }
    }

    /// Whether a user may mean it by `name`.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let file = self
            .path()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        match &self.dataset {
            Some(dataset) => {
                let beside = name.strip_suffix(dataset.as_str());
                let path = beside.and_then(|beside| beside.strip_suffix(':'));
                name == dataset
                    || name == format!("{file}:{dataset}")
                    || path.is_some_and(|path| self.is_at(Path::new(path)))
            }
            None => name == self.label() || name == file || self.is_at(Path::new(name)),
        }
    }

    /// Whether `path` leads to the file, from wherever.
    fn is_at(&self, path: &Path) -> bool {
        let same = |a: std::io::Result<PathBuf>, b: std::io::Result<PathBuf>| {
            a.is_ok_and(|a| b.is_ok_and(|b| a == b))
        };
        path == self.path() || same(path.canonicalize(), self.path().canonicalize())
    }

    /// How its shape and types are said.
    pub(super) fn in_words(&self) -> String {
        let values = match &self.readings[..] {
            [one] => one.value.to_string(),
            several => {
                let values: Vec<&str> = several.iter().map(|r| r.value.name()).collect();
                values.join(" or ")
            }
        };
        match self.sets {
            true => format!("{} sets", self.rows),
            false => format!("{} rows of {} {values}", self.rows, self.width),
        }
    }

    /// What its first rows hold, read as `reading`.
    pub(super) fn content(&self, reading: Reading) -> Result<Content, DatasetError> {
        let numbers = self.numbers(reading)?;
        let mut content = Content {
            counts: true,
            distinct: true,
            largest: 0.0,
            least: i128::MAX,
            finite: true,
            bits: true,
        };
        for row in numbers.chunks_exact(self.width) {
            let mut seen = std::collections::HashSet::new();
            for &number in row {
                let value = match number {
                    Number::Integer(value) => {
                        content.counts &= value >= 0;
                        content.distinct &= seen.insert(value);
                        content.least = content.least.min(value);
                        value as f64
                    }
                    Number::Float(value) => {
                        content.counts = false;
                        content.finite &= value.is_finite();
                        value
                    }
                };
                content.bits &= value == 0.0 || value == 1.0;
                content.largest = content.largest.max(value.abs());
            }
        }
        Ok(content)
    }

    /// The values of its first rows.
    pub(super) fn numbers(&self, reading: Reading) -> Result<Vec<Number>, DatasetError> {
        let rows = self.rows.min(SAMPLE_ROWS);
        let mut numbers = Vec::new();
        match (self.place, &self.dataset) {
            (Some(place), _) => {
                let (size, bytes) = (reading.value.size(), self.file.bytes());
                for row in 0..rows {
                    let start = place.start + row * place.stride;
                    // Whoever found the table has seen that all rows lie in the file.
                    let mut row = bytes[start..start + self.width * size].to_vec();
                    if place.swapped {
                        row.chunks_exact_mut(size).for_each(<[u8]>::reverse);
                    }
                    push_numbers(reading.value, &row, &mut numbers);
                }
            }
            (None, Some(_)) if self.sets => {}
            (None, _) => {
                let (part, wanted) = (self.part(reading), self.wanted(reading));
                let table = find_table(
                    std::slice::from_ref(&self.file),
                    &part,
                    &wanted,
                    &mut Vec::new(),
                )?;
                table.read(rows, &std::env::temp_dir(), &mut |_, bytes| {
                    push_numbers(reading.value, bytes, &mut numbers);
                    Ok(())
                })?;
            }
        }
        Ok(numbers)
    }

    /// As an entry would say it.
    pub(super) fn part(&self, reading: Reading) -> VectorsPart {
        VectorsPart {
            file: self.path().display().to_string(),
            shards: Vec::new(),
            format: reading.format,
            hdf5_dataset: self.dataset.clone(),
            ids: self.numbering.clone(),
            rows: self.rows,
            take_first: None,
        }
    }

    fn wanted(&self, reading: Reading) -> Wanted<'static> {
        Wanted {
            dataset: "",
            metric: Metric::L2,
            element: match reading.value {
                ValueType::Bool => ElementType::Bits,
                value => value.element().unwrap_or(ElementType::F32),
            },
            dim: self.width,
            narrow: false,
        }
    }

    /// Its values as ids, of the first rows.
    pub(super) fn ids(&self, reading: Reading) -> Result<Vec<i64>, DatasetError> {
        if let (Format::Hdf5, Some(dataset)) = (reading.format, &self.dataset) {
            let mut ids = Vec::new();
            let most = self.rows.min(SAMPLE_ROWS) * self.width;
            read_ids(
                self.path(),
                self.file.bytes(),
                dataset,
                self.rows,
                self.width,
                &mut |rows| {
                    ids.extend_from_slice(&rows[..rows.len().min(most - ids.len())]);
                    Ok(())
                },
            )?;
            return Ok(ids);
        }
        let numbers = self.numbers(reading)?.into_iter();
        Ok(numbers
            .map(|number| match number {
                Number::Integer(value) => i64::try_from(value).unwrap_or(i64::MAX),
                Number::Float(_) => -1,
            })
            .collect())
    }
}

fn push_numbers(value: ValueType, bytes: &[u8], numbers: &mut Vec<Number>) {
    // Infallible, for nothing here refuses.
    let _ = each_number(value, bytes, |_, number| {
        numbers.push(number);
        Ok::<(), std::convert::Infallible>(())
    });
}

/// The tables in the file at `path`.
///
/// # Errors
/// What the file is instead, when it holds none.
pub(super) fn tables_in(path: &Path) -> Result<Vec<Found>, DatasetError> {
    let path =
        std::path::absolute(path).map_err(|cause| DatasetError::io("resolve", path, cause))?;
    let file = MappedFile::open(&path)?;
    if is_hdf5(file.bytes()) {
        return tables_in_hdf5(&file);
    }
    if file.bytes().starts_with(b"\x93NUMPY") {
        let (header, rows, width) = npy_table(&path, file.bytes())?;
        return Ok(vec![of_npy(&file, &header, rows, width)]);
    }
    if file.bytes().starts_with(b"PAR1") {
        return tables_in_parquet(&file);
    }
    let mut found: Vec<Found> = [of_texmex(&file), of_flat(&file)]
        .into_iter()
        .flatten()
        .collect();
    // Either layout may fit by chance; a name that is one of them decides then, and only then.
    if let [texmex, flat] = &found[..] {
        let named = |found: &Found| found.readings.iter().any(|r| is_suffix(&path, r.format));
        match (named(texmex), named(flat)) {
            (true, false) => found.truncate(1),
            (false, true) => drop(found.remove(0)),
            _ => {}
        }
    }
    match found.len() {
        1 => Ok(found),
        0 => {
            let looks = looks_like(file.bytes()).map_or_else(
                || format!("{} bytes that are none of these", file.bytes().len()),
                |looks| format!("what looks like {looks}"),
            );
            Err(DatasetError::contents(
                &path,
                "contents",
                "vectors or neighbours in the layout of HDF5, parquet, NumPy, texmex (fvecs, bvecs, ivecs) or big-ann \
                 (fbin, u8bin, ibin and the like)",
                looks,
                "save the array with numpy.save, or write its entry by hand (datasets/README.md)",
            ))
        }
        _ => Err(DatasetError::contents(
            &path,
            "contents",
            "one layout",
            "bytes that are whole in two, texmex and flat",
            "give the file a name that ends in its layout, such as .fvecs or .fbin",
        )),
    }
}

/// Whether the file's name ends in the name of `format`.
pub(super) fn is_suffix(path: &Path, format: Format) -> bool {
    path.extension()
        .is_some_and(|extension| extension == format.name())
}

fn of_npy(file: &MappedFile, header: &NpyHeader, rows: usize, width: usize) -> Found {
    let value = header.value;
    Found {
        file: file.clone(),
        dataset: None,
        numbering: None,
        rows,
        width,
        readings: vec![Reading {
            format: Format::Npy,
            value,
        }],
        place: Some(Place {
            start: header.data,
            stride: width * value.size(),
            swapped: header.big_endian,
        }),
        sets: false,
    }
}

fn readings<const N: usize>(of: [(Format, ValueType); N]) -> Vec<Reading> {
    of.map(|(format, value)| Reading { format, value }).to_vec()
}

fn of_texmex(file: &MappedFile) -> Option<Found> {
    let bytes = file.bytes();
    let width = u32_at(bytes, 0)? as usize;
    let (size, rows) = [4, 1]
        .into_iter()
        .find_map(|size| Some((size, texmex_rows(bytes, width, size)?)))?;
    Some(Found {
        file: file.clone(),
        dataset: None,
        numbering: None,
        rows,
        width,
        readings: match size {
            4 => readings([
                (Format::Fvecs, ValueType::F32),
                (Format::Ivecs, ValueType::I32),
            ]),
            _ => readings([(Format::Bvecs, ValueType::U8)]),
        },
        place: Some(Place {
            start: 4,
            stride: 4 + width * size,
            swapped: false,
        }),
        sets: false,
    })
}

fn of_flat(file: &MappedFile) -> Option<Found> {
    let (start, rows, width, size) = flat_header_of(file.bytes())?;
    let readings = match size {
        1 => readings([
            (Format::U8bin, ValueType::U8),
            (Format::I8bin, ValueType::I8),
        ]),
        2 => readings([(Format::F16bin, ValueType::F16)]),
        4 => readings([
            (Format::Fbin, ValueType::F32),
            (Format::Ibin, ValueType::U32),
        ]),
        _ => readings([(Format::BigannTruth, ValueType::U32)]),
    };
    Some(Found {
        file: file.clone(),
        dataset: None,
        numbering: None,
        rows,
        width,
        // Distances come after all ids.
        place: Some(Place {
            start,
            stride: width * size.min(4),
            swapped: false,
        }),
        readings,
        sets: false,
    })
}

fn tables_in_hdf5(file: &MappedFile) -> Result<Vec<Found>, DatasetError> {
    let listed = list_tables(file.path(), file.bytes())?;
    let size_of = |name: &str| {
        let name = match name.rsplit_once('/') {
            Some((group, name)) => format!("{group}/size_{name}"),
            None => format!("size_{name}"),
        };
        listed
            .iter()
            .find(|one| one.name == name && one.shape.len() == 1)
            .map(|one| one.shape[0])
    };
    let tables: Vec<Found> = listed
        .iter()
        .filter_map(|one| {
            let value = one.value?;
            let (rows, width, sets) = match one.shape[..] {
                [rows, width] if rows > 0 && width > 0 => (rows, width, false),
                [_] if value.is_integer() => (size_of(&one.name)?, 1, true),
                _ => return None,
            };
            Some(Found {
                file: file.clone(),
                dataset: Some(one.name.clone()),
                numbering: None,
                rows,
                width,
                readings: readings([(Format::Hdf5, value)]),
                place: None,
                sets,
            })
        })
        .collect();
    if !tables.is_empty() {
        return Ok(tables);
    }
    let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    Err(DatasetError::contents(
        file.path(),
        "root group",
        "datasets that are tables of numbers",
        match names[..] {
            [] => "none at all".to_owned(),
            _ => format!("others: {}", names.join(", ")),
        },
        "write the vectors as a table of rows, for instance with h5py",
    ))
}

fn tables_in_parquet(file: &MappedFile) -> Result<Vec<Found>, DatasetError> {
    let (columns, numbering) = list_columns(file)?;
    let tables: Vec<Found> = columns
        .into_iter()
        .map(|one| Found {
            file: file.clone(),
            dataset: Some(one.name),
            numbering: numbering.clone(),
            rows: one.rows,
            width: one.width,
            readings: readings([(Format::Parquet, one.value)]),
            place: None,
            sets: false,
        })
        .collect();
    if !tables.is_empty() {
        return Ok(tables);
    }
    Err(DatasetError::contents(
        file.path(),
        "columns",
        "a column of lists of numbers, all of one length",
        "none that is",
        "write the vectors as such a column, for instance with pandas",
    ))
}

/// The files, each once, in the order in which they were given.
pub(super) fn tables_in_all(files: &[PathBuf]) -> Result<Vec<Found>, DatasetError> {
    let mut all = Vec::new();
    for file in files {
        all.extend(tables_in(file)?);
    }
    Ok(all)
}
