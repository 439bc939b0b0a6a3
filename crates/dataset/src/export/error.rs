use crate::{DatasetError, Format};
use annbench_core::ElementType;
use std::path::PathBuf;
use thiserror::Error;

/// Why a set could not be written in another layout.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The layout has no such vectors.
    #[error(
        "dataset {dataset}: `{format}` does not hold vectors of {element}: expected one of {fits}; choose such a layout with --to{}",
        element_hint(*element)
    )]
    Layout {
        /// The dataset.
        dataset: String,
        /// The layout that was asked for.
        format: Format,
        /// The element type that was asked for, or the set's own.
        element: ElementType,
        /// Layouts that hold it.
        fits: String,
    },
    /// A value is none of the element type's.
    #[error(
        "dataset {dataset}, {role}, row {row}, component {component}: expected a number that is exactly a value of {element}, found {found}, a value of type {own}; nothing was written: choose a layout of {own}, such as {fits}"
    )]
    Loss {
        /// The dataset.
        dataset: String,
        /// `base` or `queries`.
        role: &'static str,
        /// The row.
        row: usize,
        /// The component.
        component: usize,
        /// The element type that was asked for.
        element: ElementType,
        /// The value.
        found: String,
        /// The set's own element type.
        own: ElementType,
        /// Layouts that hold it.
        fits: String,
    },
    /// An id of truth that the layout has no number for.
    #[error(
        "dataset {dataset}, truth, query {query}: expected an id below 2^31, for `{format}` has 32 signed bits, found {id}; choose another layout with --to, such as fbin or npy"
    )]
    LargeId {
        /// The dataset.
        dataset: String,
        /// The query.
        query: usize,
        /// The id.
        id: u32,
        /// The layout of truth.
        format: Format,
    },
    /// The name cannot be that of an entry.
    #[error(
        "`{name}` is no plain name: expected ASCII letters, digits, `-`, `_` and `.`, not beginning with `.`; choose such a name with --name"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Something lies where the set is to be written.
    #[error(
        "{}: expected a folder that does not exist yet, or an empty one, found {found}; nothing is ever overwritten: choose another with --out",
        dir.display()
    )]
    Occupied {
        /// The folder.
        dir: PathBuf,
        /// What is there.
        found: String,
    },
    /// What was written reads back as something else.
    #[error(
        "{}: {what}: expected {expected}, found {found}; nothing is kept: look at the disk, then repeat",
        dir.display()
    )]
    Unfaithful {
        /// The folder.
        dir: PathBuf,
        /// Which part.
        what: &'static str,
        /// Its fingerprint.
        expected: String,
        /// The fingerprint of what reads back.
        found: String,
    },
    /// Reading the set or writing the files failed.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

fn element_hint(element: ElementType) -> &'static str {
    match element {
        ElementType::Bits => ": bits are no numbers, and sets of bits stay bits",
        ElementType::Sets => ": sets are no rows of numbers",
        _ => "",
    }
}
