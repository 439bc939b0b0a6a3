//! Lines to records.

use super::StoreError;
use crate::Record;
use serde_json::Value;
use std::path::Path;

/// Kinds that this version reads.
const KINDS: [&str; 3] = ["run", "build", "search"];

/// How the file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// With a whole line.
    Clean,
    /// With a whole record that lacks only its newline.
    Unterminated,
    /// With a piece of a line.
    Torn,
}

/// The contents of `records.jsonl`.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) records: Vec<Record>,
    pub(super) tail: Tail,
    /// Bytes that hold whole records; what follows is torn.
    pub(super) whole_bytes: usize,
}

/// Reads all lines. Only the last may be torn: a write that was cut off is either unterminated or,
/// after a power failure, no JSON at all. Any other line that is no record is an error.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Journal, StoreError> {
    let mut journal = Journal {
        records: Vec::new(),
        tail: Tail::Clean,
        whole_bytes: 0,
    };
    for (index, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let last = journal.whole_bytes + line.len() == bytes.len();
        let value = match serde_json::from_slice::<Value>(line) {
            Ok(value) => value,
            Err(_) if last => {
                journal.tail = Tail::Torn;
                return Ok(journal);
            }
            Err(error) => {
                return Err(StoreError::BadLine {
                    path: path.to_owned(),
                    line: index + 1,
                    found: format!("no JSON ({error})"),
                });
            }
        };
        journal.records.push(record(path, index + 1, value)?);
        journal.whole_bytes += line.len();
        if !line.ends_with(b"\n") {
            journal.tail = Tail::Unterminated;
        }
    }
    Ok(journal)
}

fn record(path: &Path, line: usize, value: Value) -> Result<Record, StoreError> {
    let newer = |found: String| StoreError::Newer {
        path: path.to_owned(),
        line,
        found,
    };
    let bad = |found: String| StoreError::BadLine {
        path: path.to_owned(),
        line,
        found,
    };
    match value.get("kind") {
        Some(Value::String(kind)) if KINDS.contains(&kind.as_str()) => {}
        Some(kind) => return Err(newer(format!("the line is of kind {kind}"))),
        None => return Err(bad("an object or value without `kind`".to_owned())),
    }
    let record = Record::deserialize_from(&value).map_err(|error| bad(error.to_string()))?;
    // Fields that a newer version added would be lost at the next rewrite; reading them as if they
    // were not there could also change what the rest means.
    let known = serde_json::to_value(&record).map_err(|error| bad(error.to_string()))?;
    match unknown_field(&value, &known) {
        Some(field) => Err(newer(format!("the line has a field `{field}`"))),
        None => Ok(record),
    }
}

impl Record {
    fn deserialize_from(value: &Value) -> Result<Self, serde_json::Error> {
        serde::Deserialize::deserialize(value)
    }
}

/// Path of the first field of `found` that `known` lacks.
fn unknown_field(found: &Value, known: &Value) -> Option<String> {
    let step = |name: String, rest: Option<String>| {
        rest.map(|rest| match rest.as_str() {
            "" => name,
            _ => format!("{name}.{rest}"),
        })
    };
    match (found, known) {
        (Value::Object(found), Value::Object(known)) => found.iter().find_map(|(name, value)| {
            let rest = match known.get(name) {
                Some(known) => unknown_field(value, known),
                None => Some(String::new()),
            };
            step(name.clone(), rest)
        }),
        (Value::Array(found), Value::Array(known)) => found
            .iter()
            .zip(known)
            .enumerate()
            .find_map(|(i, (f, k))| step(i.to_string(), unknown_field(f, k))),
        _ => None,
    }
}

/// One line with its newline, checked to read back as the same record.
pub(super) fn line(path: &Path, record: &Record) -> Result<Vec<u8>, StoreError> {
    let unwritable = |reason: String| StoreError::Unwritable {
        path: path.to_owned(),
        kind: record.kind(),
        reason,
    };
    let mut line = serde_json::to_vec(record).map_err(|error| unwritable(error.to_string()))?;
    match serde_json::from_slice::<Record>(&line) {
        Ok(read) if read == *record => {}
        // A float that is no number is written as null, and would make the file unreadable.
        Ok(_) => return Err(unwritable("it reads back as another record".to_owned())),
        Err(error) => return Err(unwritable(error.to_string())),
    }
    line.push(b'\n');
    Ok(line)
}
