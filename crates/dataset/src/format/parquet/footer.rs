//! What a parquet file says of its columns:
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use super::thrift::{Kind, Thrift};
use crate::value::ValueType;

/// A file's columns and row groups.
#[derive(Debug, Default)]
pub(super) struct Footer {
    pub(super) rows: u64,
    pub(super) fields: Vec<Field>,
    pub(super) groups: Vec<Group>,
}

/// A node of the schema, in depth-first order; the root is the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) physical: Option<i64>,
    /// 0 required, 1 optional, 2 repeated.
    pub(super) repetition: i64,
    pub(super) children: usize,
}

#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) rows: u64,
    pub(super) chunks: Vec<Chunk>,
}

/// The values of a column in a row group.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    pub(super) elsewhere: bool,
    pub(super) codec: i64,
    pub(super) values: u64,
    pub(super) bytes: u64,
    pub(super) data: u64,
    pub(super) dictionary: Option<u64>,
}

/// A column of numbers, or of lists of numbers.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Which of every group's chunks.
    pub(super) index: usize,
    pub(super) value: ValueType,
    pub(super) most_repetition: u32,
    pub(super) most_definition: u32,
}

impl Footer {
    /// Reads the structure `bytes`.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut footer = Footer::default();
        Thrift::new(bytes).fields(|thrift, id, kind| {
            match (id, kind) {
                (2, Kind::List) => footer.fields = items(thrift, field)?,
                (3, Kind::I64) => footer.rows = unsigned(thrift)?,
                (4, Kind::List) => footer.groups = items(thrift, group)?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(footer)
    }

    /// The column that `name` names, the field of the root that has it or holds it and nothing else;
    /// what it is instead, in words.
    pub(super) fn column(&self, name: &str) -> Result<Column, String> {
        let (mut at, mut leaf) = (1, 0);
        let root = self.fields.first().map_or(0, |root| root.children);
        for _ in 0..root {
            let Some(field) = self.fields.get(at) else {
                break;
            };
            if field.name == name {
                return self.leaf_of(at, leaf);
            }
            let (end, leaves) = self.subtree(at);
            at = end;
            leaf += leaves;
        }
        Err(format!("only {}", self.names()))
    }

    /// Names of the columns at the root.
    pub(super) fn root_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = 1;
        while at < self.fields.len() {
            names.push(&*self.fields[at].name);
            at = self.subtree(at).0;
        }
        names
    }

    /// The columns at the root, in words.
    fn names(&self) -> String {
        const LISTED: usize = 20;
        let mut names = Vec::new();
        let mut at = 1;
        while at < self.fields.len() && names.len() <= LISTED {
            names.push(match names.len() {
                LISTED => "more".to_owned(),
                _ => format!("`{}`", self.fields[at].name),
            });
            at = self.subtree(at).0;
        }
        match names.is_empty() {
            true => "no column at all".to_owned(),
            false => names.join(", "),
        }
    }

    /// Where the field after `at` and all below it is, and how many columns there are to these.
    fn subtree(&self, at: usize) -> (usize, usize) {
        let (mut open, mut next, mut leaves) = (1usize, at, 0);
        while open > 0 && next < self.fields.len() {
            let children = self.fields[next].children;
            leaves += usize::from(children == 0);
            open = (open - 1).saturating_add(children);
            next += 1;
        }
        (next.max(at + 1), leaves)
    }

    fn leaf_of(&self, mut at: usize, index: usize) -> Result<Column, String> {
        let (mut most_repetition, mut most_definition) = (0, 0);
        loop {
            let Some(field) = self.fields.get(at) else {
                return Err("a damaged schema".to_owned());
            };
            most_repetition += u32::from(field.repetition == 2);
            most_definition += u32::from(field.repetition != 0);
            match (field.children, field.physical) {
                (0, Some(physical)) => {
                    if most_repetition > 1 {
                        return Err("lists of lists".to_owned());
                    }
                    let value = match physical {
                        1 => ValueType::I32,
                        2 => ValueType::I64,
                        4 => ValueType::F32,
                        5 => ValueType::F64,
                        0 => return Err("booleans".to_owned()),
                        _ => return Err("texts or bytes".to_owned()),
                    };
                    return Ok(Column {
                        index,
                        value,
                        most_repetition,
                        most_definition,
                    });
                }
                (1, _) => at += 1,
                _ => return Err("several columns in one".to_owned()),
            }
        }
    }
}

fn items<T>(thrift: &mut Thrift<'_>, read: fn(&mut Thrift<'_>) -> Option<T>) -> Option<Vec<T>> {
    let (Kind::Struct, count) = thrift.list()? else {
        return None;
    };
    // Grows with what is read, not with what is claimed.
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(read(thrift)?);
    }
    Some(items)
}

fn unsigned(thrift: &mut Thrift<'_>) -> Option<u64> {
    u64::try_from(thrift.integer()?).ok()
}

fn field(thrift: &mut Thrift<'_>) -> Option<Field> {
    let mut field = Field::default();
    thrift.fields(|thrift, id, kind| {
        match (id, kind) {
            (1, Kind::I32) => field.physical = Some(thrift.integer()?),
            (3, Kind::I32) => field.repetition = thrift.integer()?,
            (4, Kind::Binary) => {
                field.name = String::from_utf8_lossy(thrift.binary()?).into_owned();
            }
            (5, Kind::I32) => field.children = usize::try_from(thrift.integer()?).ok()?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    Some(field)
}

fn group(thrift: &mut Thrift<'_>) -> Option<Group> {
    let mut group = Group::default();
    thrift.fields(|thrift, id, kind| {
        match (id, kind) {
            (1, Kind::List) => group.chunks = items(thrift, chunk)?,
            (3, Kind::I64) => group.rows = unsigned(thrift)?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    Some(group)
}

fn chunk(thrift: &mut Thrift<'_>) -> Option<Chunk> {
    let mut chunk = Chunk::default();
    // Without a description, as encrypted columns are.
    let mut described = false;
    thrift.fields(|thrift, id, kind| {
        match (id, kind) {
            (1, Kind::Binary) => chunk.elsewhere = !thrift.binary()?.is_empty(),
            (3, Kind::Struct) => {
                described = true;
                describe(thrift, &mut chunk)?;
            }
            _ => return Some(false),
        }
        Some(true)
    })?;
    described.then_some(chunk)
}

fn describe(thrift: &mut Thrift<'_>, chunk: &mut Chunk) -> Option<()> {
    thrift.fields(|thrift, id, kind| {
        match (id, kind) {
            (4, Kind::I32) => chunk.codec = thrift.integer()?,
            (5, Kind::I64) => chunk.values = unsigned(thrift)?,
            (7, Kind::I64) => chunk.bytes = unsigned(thrift)?,
            (9, Kind::I64) => chunk.data = unsigned(thrift)?,
            (11, Kind::I64) => chunk.dictionary = Some(unsigned(thrift)?),
            _ => return Some(false),
        }
        Some(true)
    })
}

/// What stands in front of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageHeader {
    /// 0 data, 1 index, 2 dictionary, 3 data of version 2.
    pub(super) kind: i64,
    /// Bytes when decompressed, levels of version 2 among them.
    pub(super) size: usize,
    /// Bytes in the file.
    pub(super) stored: usize,
    pub(super) values: usize,
    pub(super) encoding: i64,
    pub(super) level_encodings: [i64; 2],
    /// Of version 2: bytes of the definition and repetition levels, whether the rest is compressed.
    pub(super) definition_bytes: usize,
    pub(super) repetition_bytes: usize,
    pub(super) compressed: bool,
}

impl PageHeader {
    /// Reads the header at the start of `bytes`; and where the page starts.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut header = PageHeader {
            compressed: true,
            level_encodings: [3; 2],
            ..PageHeader::default()
        };
        let mut thrift = Thrift::new(bytes);
        let size = |thrift: &mut Thrift<'_>| usize::try_from(thrift.integer()?).ok();
        thrift.fields(|thrift, id, kind| {
            match (id, kind) {
                (1, Kind::I32) => header.kind = thrift.integer()?,
                (2, Kind::I32) => header.size = size(thrift)?,
                (3, Kind::I32) => header.stored = size(thrift)?,
                (5 | 7, Kind::Struct) => thrift.fields(|thrift, id, kind| {
                    match (id, kind) {
                        (1, Kind::I32) => header.values = size(thrift)?,
                        (2, Kind::I32) => header.encoding = thrift.integer()?,
                        (3 | 4, Kind::I32) => {
                            header.level_encodings[usize::from(id == 4)] = thrift.integer()?;
                        }
                        _ => return Some(false),
                    }
                    Some(true)
                })?,
                (8, Kind::Struct) => thrift.fields(|thrift, id, kind| {
                    match (id, kind) {
                        (1, Kind::I32) => header.values = size(thrift)?,
                        (4, Kind::I32) => header.encoding = thrift.integer()?,
                        (5, Kind::I32) => header.definition_bytes = size(thrift)?,
                        (6, Kind::I32) => header.repetition_bytes = size(thrift)?,
                        (7, Kind::True) => header.compressed = true,
                        (7, Kind::False) => header.compressed = false,
                        _ => return Some(false),
                    }
                    Some(true)
                })?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some((header, bytes.len() - thrift.left()))
    }
}
