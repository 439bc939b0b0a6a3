//! What an HDF5 file says of itself, compared with what it holds and with the entry.
//!
//! Contents come first, attributes second, names never. Attributes may be missing; one that is there
//! and contradicts shape or type is an error. The metric is the entry's alone: files are called
//! "angular" that others search by inner product, so another `distance` is only noted.

use super::heap::text_is_sound;
use super::unreadable;
use crate::DatasetError;
use crate::format::Wanted;
use crate::value::ValueType;
use annbench_core::{ElementType, Metric};
use hdf5_metno::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5_metno::{Attribute, Dataset, File, MinorErrorCode};
use std::path::Path;

/// What was found in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Table { value: ValueType, width: usize },
    Sets,
}

/// Longest text of an attribute.
const TEXT_BYTES: usize = 256;

/// Refuses attributes of the file of `dataset`, its path and contents, that contradict shape or type; notes the others, and
/// what had to be inferred without them.
pub(super) fn check_attributes(
    (path, bytes): (&Path, &[u8]),
    dataset: &Dataset,
    wanted: &Wanted<'_>,
    inside: Inside,
    notes: &mut Vec<String>,
) -> Result<(), DatasetError> {
    let file = dataset
        .file()
        .map_err(|error| unreadable(path, "root group", &error))?;
    let attributes = Attributes {
        path,
        bytes,
        file: &file,
    };
    let dimension = attributes.integer("dimension")?;
    if let Some(found) = dimension
        && usize::try_from(found) != Ok(wanted.dim)
    {
        return Err(attributes.contradicts(
            "dimension",
            format!("{}, as the dataset entry says", wanted.dim),
            found.to_string(),
            "correct `dim` in the dataset entry, or repair the file",
        ));
    }
    if let Some(kind) = attributes.text("type", notes)? {
        let (expected, fits) = match inside {
            Inside::Sets => ("sparse", kind == "sparse"),
            Inside::Table { .. } => ("dense", kind != "sparse"),
        };
        if !fits {
            return Err(attributes.contradicts(
                "type",
                format!(
                    "`{expected}`, for the dataset entry says element {}",
                    wanted.element
                ),
                format!("`{kind}`"),
                "correct `element` in the dataset entry, or repair the file: a sparse file holds sets",
            ));
        }
    }
    if let Some(point) = attributes.text("point_type", notes)? {
        match is_point_of(&point, wanted.element) {
            Some(true) => {}
            Some(false) => {
                return Err(attributes.contradicts(
                    "point_type",
                    format!("points of {}, as the dataset entry says", wanted.element),
                    format!("`{point}`"),
                    "correct `element` in the dataset entry, or repair the file",
                ));
            }
            None => notes_once(
                notes,
                attributes.note(
                    "point_type",
                    &point,
                    "which is not known; the contents decide",
                ),
            ),
        }
    }
    if let Some(distance) = attributes.text("distance", notes)? {
        let metric = wanted.metric;
        match metrics_of(&distance) {
            Some(metrics) if metrics.contains(&metric) => {}
            Some(metrics) => {
                let means = metrics.iter().map(|metric| metric.name());
                let means = means.collect::<Vec<_>>().join(" or ");
                let says = format!("which means {means}; the dataset entry decides: {metric}");
                notes_once(notes, attributes.note("distance", &distance, &says));
            }
            None => {
                let says = format!("which is not known; the dataset entry decides: {metric}");
                notes_once(notes, attributes.note("distance", &distance, &says));
            }
        }
    }
    if let (
        None,
        Inside::Table {
            value: ValueType::U8,
            width,
        },
        ElementType::Bits,
    ) = (dimension, inside, wanted.element)
        && width != wanted.dim
    {
        notes_once(
            notes,
            format!(
                "{}: no attribute `dimension`; rows of {width} bytes are taken for {} bits, the most \
                 significant of a byte first, as the dataset entry says",
                path.display(),
                wanted.dim
            ),
        );
    }
    Ok(())
}

/// Both base and queries may lie in one file.
fn notes_once(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// Whether the `point_type` of ann-benchmarks or VIBE can stand for vectors of `element`.
fn is_point_of(point: &str, element: ElementType) -> Option<bool> {
    use ElementType::{Bits, F16, F32, I8, Sets, U8};
    Some(match point {
        // Written for everything that is no bit, whole numbers and half precision among it.
        "float" => matches!(element, F32 | F16 | I8 | U8),
        "bit" => matches!(element, Bits | Sets),
        "binary" => matches!(element, Bits),
        "uint8" => matches!(element, U8),
        "int8" => matches!(element, I8),
        _ => return None,
    })
}

/// The metrics that a `distance` can mean.
fn metrics_of(distance: &str) -> Option<&'static [Metric]> {
    Some(match distance {
        "euclidean" | "l2" => &[Metric::L2],
        "angular" | "cosine" => &[Metric::Cosine],
        "ip" | "dot" | "inner_product" => &[Metric::InnerProduct],
        // Of rows of norm one, which these three order alike.
        "normalized" => &[Metric::Cosine, Metric::InnerProduct, Metric::L2],
        "hamming" => &[Metric::Hamming],
        "jaccard" => &[Metric::Jaccard],
        _ => return None,
    })
}

/// The library's texts are whatever bytes a file has.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The attributes of the root group.
struct Attributes<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    file: &'a File,
}

impl Attributes<'_> {
    fn open(&self, name: &str) -> Result<Option<Attribute>, DatasetError> {
        // Not asked for among all names: listing them trusts what a damaged file says of each.
        match self.file.attr(name) {
            Ok(attribute) => Ok(Some(attribute)),
            Err(error) if error.contains_minor(MinorErrorCode::NotFound) => Ok(None),
            Err(error) => Err(unreadable(
                self.path,
                &format!("attribute `{name}`"),
                &error,
            )),
        }
    }

    /// One text, whichever way it is stored.
    fn text(
        &self,
        name: &'static str,
        notes: &mut Vec<String>,
    ) -> Result<Option<String>, DatasetError> {
        let Some(attribute) = self.open(name)? else {
            return Ok(None);
        };
        let failed = |error| unreadable(self.path, &format!("attribute `{name}`"), &error);
        let sound = text_is_sound(self.bytes, name);
        let text = match attribute.dtype().and_then(|t| t.to_descriptor()).ok() {
            // A null space has no dimensions either, and no value.
            _ if !attribute.is_scalar() => None,
            Some(TypeDescriptor::VarLenUnicode | TypeDescriptor::VarLenAscii)
                if sound != Some(true) =>
            {
                if sound.is_none() {
                    let says = "it lies where it cannot be checked for damage and is not read";
                    let note = format!("{}: its attribute `{name}`: {says}", self.path.display());
                    notes_once(notes, note);
                    return Ok(None);
                }
                None
            }
            Some(TypeDescriptor::VarLenUnicode) => {
                let text = attribute.read_scalar::<VarLenUnicode>().map_err(failed)?;
                Some(lossy(text.as_bytes()))
            }
            Some(TypeDescriptor::VarLenAscii) => {
                let text = attribute.read_scalar::<VarLenAscii>().map_err(failed)?;
                Some(lossy(text.as_bytes()))
            }
            Some(TypeDescriptor::FixedUnicode(len)) if len <= TEXT_BYTES => {
                let text = attribute.read_scalar::<FixedUnicode<TEXT_BYTES>>();
                Some(lossy(text.map_err(failed)?.as_bytes()))
            }
            Some(TypeDescriptor::FixedAscii(len)) if len <= TEXT_BYTES => {
                let text = attribute.read_scalar::<FixedAscii<TEXT_BYTES>>();
                Some(lossy(text.map_err(failed)?.as_bytes()))
            }
            _ => None,
        };
        match text {
            Some(text) => Ok(Some(text)),
            None => Err(self.contradicts(
                name,
                "one text".to_owned(),
                "something else, or a damaged heap".to_owned(),
                "correct the attribute, remove it, or move it away and download it again",
            )),
        }
    }

    fn integer(&self, name: &'static str) -> Result<Option<i64>, DatasetError> {
        let Some(attribute) = self.open(name)? else {
            return Ok(None);
        };
        let is_one_integer = attribute.is_scalar()
            && attribute
                .dtype()
                .and_then(|t| t.to_descriptor())
                .is_ok_and(|t| {
                    matches!(t, TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_))
                });
        if !is_one_integer {
            return Err(self.contradicts(
                name,
                "one integer".to_owned(),
                "something else".to_owned(),
                "correct the attribute, or remove it",
            ));
        }
        attribute
            .read_scalar::<i64>()
            .map(Some)
            .map_err(|error| unreadable(self.path, &format!("attribute `{name}`"), &error))
    }

    fn contradicts(&self, name: &str, expected: String, found: String, next: &str) -> DatasetError {
        DatasetError::contents(
            self.path,
            format!("attribute `{name}`"),
            expected,
            found,
            next,
        )
    }

    fn note(&self, name: &str, value: &str, says: &str) -> String {
        let value: String = value.chars().take(40).collect();
        format!(
            "{}: its attribute `{name}` is `{value}`, {says}",
            self.path.display()
        )
    }
}
