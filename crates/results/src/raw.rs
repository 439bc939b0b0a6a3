//! Raw files, which may come from anyone.

use crate::measured::MeasuredError;
use annbench_core::npy::{self, NpyElement, NpyError};
use annbench_core::wire::Repetition;
use annbench_core::worker::{answers_hash, latency_hash};
use std::path::{Component, Path, PathBuf};

/// A `.npy` header of ours is shorter than this.
const HEADER_BYTES: u64 = 4096;

/// Whether `name` is a plain file in `dir`, small enough for `values` values of `size` bytes: anything
/// else might block, or be read for ever.
///
/// # Errors
/// What was expected and what was found, in words.
pub fn check_raw_file(dir: &Path, name: &str, values: u64, size: u64) -> Result<(), String> {
    let mut parts = Path::new(name).components();
    let plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    if !plain {
        return Err(format!(
            "raw file {name:?}: expected a name without folders"
        ));
    }
    let path = dir.join(name);
    let found =
        std::fs::symlink_metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let most_bytes = values.saturating_mul(size).saturating_add(HEADER_BYTES);
    let what = match found.file_type() {
        kind if kind.is_symlink() => "a symbolic link".to_owned(),
        kind if kind.is_dir() => "a folder".to_owned(),
        kind if !kind.is_file() => "a pipe or a device".to_owned(),
        _ if found.len() > most_bytes => format!("{} bytes", found.len()),
        _ => return Ok(()),
    };
    Err(format!(
        "{}: expected a plain file of at most {most_bytes} bytes, found {what}",
        path.display()
    ))
}

/// The values of the raw file `name` in `dir`, an array of shape `expected`.
pub(crate) fn read_raw<T: NpyElement>(
    dir: &Path,
    name: &str,
    expected: &[usize],
) -> Result<Vec<T>, MeasuredError> {
    let values = expected.iter().map(|&d| d as u64);
    let values = values.fold(1u64, u64::saturating_mul);
    let path = dir.join(name);
    check_raw_file(dir, name, values, size_of::<T>() as u64).map_err(|why| {
        // What is not there and what may not be looked at are told apart by those who ask.
        match std::fs::symlink_metadata(&path) {
            Err(cause) if path.file_name() == Some(name.as_ref()) => {
                MeasuredError::Raw(NpyError::Io {
                    path: path.display().to_string(),
                    cause,
                })
            }
            _ => MeasuredError::File(why),
        }
    })?;
    let (found, values) = npy::read(&path).map_err(MeasuredError::Raw)?;
    if found != expected {
        return Err(MeasuredError::Shape {
            path,
            expected: expected.to_vec(),
            found,
        });
    }
    Ok(values)
}

/// Ids `[queries, k]` and returned counts `[queries]`.
pub(crate) type RawAnswers = (Vec<u32>, Vec<u32>);

/// The answers of repetition `number`, if it has files of its own; they must have the hash that was
/// taken when they were measured. Without files it must have the hash of the `first`.
pub(crate) fn read_answers(
    dir: &Path,
    number: usize,
    repetition: &Repetition,
    first: &Repetition,
    shape: [usize; 2],
) -> Result<Option<RawAnswers>, MeasuredError> {
    match (&repetition.ids_file, &repetition.returned_file) {
        (Some(ids_file), Some(returned_file)) => {
            let ids = read_raw(dir, ids_file, &shape)?;
            let returned = read_raw(dir, returned_file, &shape[..1])?;
            let found = answers_hash(&ids, &returned);
            if found == repetition.ids_hash {
                Ok(Some((ids, returned)))
            } else {
                Err(MeasuredError::Other {
                    what: "answers",
                    path: dir.join(ids_file),
                    expected: repetition.ids_hash.clone(),
                    found,
                })
            }
        }
        (None, None) if number > 0 && repetition.ids_hash == first.ids_hash => Ok(None),
        _ => Err(MeasuredError::NoAnswers { number }),
    }
}

/// The latencies `[passes, queries]` of a repetition, if it has any; they must have the hash that was
/// taken when they were measured.
pub(crate) fn read_latencies(
    dir: &Path,
    repetition: &Repetition,
    queries: usize,
) -> Result<Option<Vec<u64>>, MeasuredError> {
    let Some(file) = &repetition.latency_file else {
        return Ok(None);
    };
    let latencies_ns = read_raw(dir, file, &[repetition.passes as usize, queries])?;
    let found = latency_hash(&latencies_ns);
    if repetition.latency_hash.as_ref() == Some(&found) {
        Ok(Some(latencies_ns))
    } else {
        Err(MeasuredError::Other {
            what: "latencies",
            path: dir.join(file),
            expected: repetition.latency_hash.clone().unwrap_or_default(),
            found,
        })
    }
}

/// `dir/name`, unless it would lead elsewhere.
pub(crate) fn within(dir: &Path, name: &str) -> Result<PathBuf, MeasuredError> {
    let plain = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if plain && !name.is_empty() {
        Ok(dir.join(name))
    } else {
        Err(MeasuredError::Name {
            name: name.to_owned(),
        })
    }
}
