//! Points whose raw files are not those that were measured.

use annbench_core::npy::NpyError;
use annbench_results::{MeasuredError, SearchRecord, check_raw};
use anyhow::Context;
use std::io::ErrorKind;
use std::path::Path;

/// A point and what became of its raw files.
pub type Lost = (String, MeasuredError);

/// Those of `searches` in the run `out` that are `planned` and whose raw files are missing, broken, or
/// not those that were measured.
///
/// # Errors
/// A raw file that cannot be read for another reason: nobody can tell then whether it is lost.
pub fn lost_points<'r>(
    out: &Path,
    searches: impl IntoIterator<Item = &'r SearchRecord>,
    planned: impl Fn(&str) -> bool,
) -> anyhow::Result<Vec<Lost>> {
    let mut lost = Vec::new();
    for search in searches {
        if !planned(&search.point_id) {
            continue;
        }
        match check_raw(out, search) {
            Ok(()) => {}
            Err(error) if is_loss(&error) => lost.push((search.point_id.clone(), error)),
            Err(error) => {
                return Err(error).context(
                    "--retry lost: whether this raw file is lost cannot be told; make it readable, \
                     or leave --retry lost out",
                );
            }
        }
    }
    Ok(lost)
}

fn is_loss(error: &MeasuredError) -> bool {
    match error {
        MeasuredError::Raw(NpyError::Io { cause, .. }) => matches!(
            cause.kind(),
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory
        ),
        MeasuredError::Raw(NpyError::Contents { .. })
        | MeasuredError::File(_)
        | MeasuredError::Shape { .. }
        | MeasuredError::Other { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::path::PathBuf;

    #[test]
    fn only_what_is_gone_or_not_as_it_was_is_lost() {
        let raw = |kind: ErrorKind| {
            MeasuredError::Raw(NpyError::Io {
                path: "ids".to_owned(),
                cause: io::Error::from(kind),
            })
        };
        let shape = MeasuredError::Shape {
            path: PathBuf::from("ids"),
            expected: vec![1],
            found: vec![2],
        };
        let other = MeasuredError::Other {
            what: "answers",
            path: PathBuf::from("ids"),
            expected: "a".to_owned(),
            found: "b".to_owned(),
        };
        for lost in [raw(ErrorKind::NotFound), shape, other] {
            assert!(is_loss(&lost), "{lost}");
        }
        let name = MeasuredError::Name {
            name: "../ids".to_owned(),
        };
        for unknown in [
            raw(ErrorKind::PermissionDenied),
            raw(ErrorKind::Other),
            name,
        ] {
            assert!(!is_loss(&unknown), "{unknown}");
        }
    }
}
