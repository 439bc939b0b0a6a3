//! What an HDF5 file says of itself, compared with what it holds and with the entry.
//!
//! Contents come first, attributes second, names never. Attributes may be missing; one that is there
//! and contradicts shape or type is an error. The metric is the entry's alone: files are called
//! "angular" that others search by inner product, so another `distance` is only noted.

use super::unreadable;
use crate::DatasetError;
use crate::format::Wanted;
use crate::value::ValueType;
use annbench_core::{ElementType, Metric};
use hdf5_metno::types::{FixedAscii, FixedUnicode, TypeDescriptor, VarLenAscii, VarLenUnicode};
use hdf5_metno::{Attribute, Dataset, File};
use std::path::Path;

/// What was found in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Table { value: ValueType, width: usize },
    Sets,
}

/// Longest text of an attribute.
const TEXT_BYTES: usize = 256;

/// Refuses attributes of the file of `dataset` that contradict shape or type; notes the others, and
/// what had to be inferred without them.
pub(super) fn check_attributes(
    path: &Path,
    dataset: &Dataset,
    wanted: &Wanted<'_>,
    inside: Inside,
    notes: &mut Vec<String>,
) -> Result<(), DatasetError> {
    let file = dataset
        .file()
        .map_err(|error| unreadable(path, "root group", &error))?;
    let attributes = Attributes { path, file: &file };
    let dimension = attributes.integer("dimension")?;
    if let Some(found) = dimension
        && usize::try_from(found) != Ok(wanted.dim)
    {
        return Err(attributes.contradicts(
            "dimension",
            format!("{}, as the dataset entry says", wanted.dim),
            found.to_string(),
            "correct `dim` in the dataset entry",
        ));
    }
    if let Some(kind) = attributes.text("type")? {
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
                "correct `element` in the dataset entry: a sparse file holds sets",
            ));
        }
    }
    if let Some(point) = attributes.text("point_type")? {
        match is_point_of(&point, wanted.element) {
            Some(true) => {}
            Some(false) => {
                return Err(attributes.contradicts(
                    "point_type",
                    format!("points of {}, as the dataset entry says", wanted.element),
                    format!("`{point}`"),
                    "correct `element` in the dataset entry",
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
    if let Some(distance) = attributes.text("distance")? {
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

/// The attributes of the root group.
struct Attributes<'a> {
    path: &'a Path,
    file: &'a File,
}

impl Attributes<'_> {
    fn open(&self, name: &str) -> Result<Option<Attribute>, DatasetError> {
        let failed = |error| unreadable(self.path, &format!("attribute `{name}`"), &error);
        let names = self.file.attr_names().map_err(failed)?;
        if !names.iter().any(|known| known == name) {
            return Ok(None);
        }
        self.file.attr(name).map(Some).map_err(failed)
    }

    /// One text, whichever way it is stored.
    fn text(&self, name: &'static str) -> Result<Option<String>, DatasetError> {
        let Some(attribute) = self.open(name)? else {
            return Ok(None);
        };
        let failed = |error| unreadable(self.path, &format!("attribute `{name}`"), &error);
        let text = match attribute.dtype().and_then(|t| t.to_descriptor()).ok() {
            _ if attribute.ndim() != 0 => None,
            Some(TypeDescriptor::VarLenUnicode) => {
                let text = attribute.read_scalar::<VarLenUnicode>().map_err(failed)?;
                Some(text.as_str().to_owned())
            }
            Some(TypeDescriptor::VarLenAscii) => {
                let text = attribute.read_scalar::<VarLenAscii>().map_err(failed)?;
                Some(text.as_str().to_owned())
            }
            Some(TypeDescriptor::FixedUnicode(len)) if len <= TEXT_BYTES => {
                let text = attribute.read_scalar::<FixedUnicode<TEXT_BYTES>>();
                Some(text.map_err(failed)?.as_str().to_owned())
            }
            Some(TypeDescriptor::FixedAscii(len)) if len <= TEXT_BYTES => {
                let text = attribute.read_scalar::<FixedAscii<TEXT_BYTES>>();
                Some(text.map_err(failed)?.as_str().to_owned())
            }
            _ => None,
        };
        match text {
            Some(text) => Ok(Some(text)),
            None => Err(self.contradicts(
                name,
                "one text".to_owned(),
                "something else".to_owned(),
                "correct the attribute, or remove it",
            )),
        }
    }

    fn integer(&self, name: &'static str) -> Result<Option<i64>, DatasetError> {
        let Some(attribute) = self.open(name)? else {
            return Ok(None);
        };
        let is_one_integer = attribute.ndim() == 0
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
            format!("{next}, or repair the file"),
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
