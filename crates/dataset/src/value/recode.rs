use super::bits::pack;
use super::narrow::{Narrow, Narrowed, Number, each_number};
use super::{Fit, ValueType};
use crate::DatasetError;
use annbench_core::ElementType;
use half::f16;
use std::path::Path;

/// Turns rows of values into rows of components.
pub(crate) struct Recode<'r> {
    pub(crate) path: &'r Path,
    /// Where in the file the values lie, in words: "" for the whole of it.
    pub(crate) place: &'r str,
    pub(crate) dataset: &'r str,
    pub(crate) value: ValueType,
    pub(crate) element: ElementType,
    pub(crate) fit: Fit,
    /// Values in a row.
    pub(crate) width: usize,
    /// Whether numbers that the element type does not have are rounded to those that it has.
    pub(crate) round: bool,
    /// How many were.
    pub(crate) rounded: u64,
}

/// The first value that has no component.
struct Refused {
    at: usize,
    found: Number,
    why: Why,
}

enum Why {
    Inexact,
    OutOfRange,
    NotFinite,
}

impl Recode<'_> {
    /// The components of `bytes`, whole rows of little-endian values of which the first is row
    /// `first_row` of the file. They are in `buffer` unless they are `bytes` themselves.
    pub(crate) fn rows<'b>(
        &mut self,
        first_row: usize,
        bytes: &'b [u8],
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], DatasetError> {
        buffer.clear();
        match self.fit {
            Fit::Same => return Ok(bytes),
            Fit::Pack => pack(bytes, self.width, buffer)
                .map_err(|(at, found)| self.no_bit(first_row, at, found))?,
            Fit::Narrow => match self.element {
                ElementType::F16 => self.narrow::<f16>(first_row, bytes, buffer)?,
                ElementType::I8 => self.narrow::<i8>(first_row, bytes, buffer)?,
                ElementType::U8 => self.narrow::<u8>(first_row, bytes, buffer)?,
                // `Fit` narrows to no bits and no sets.
                _ => self.narrow::<f32>(first_row, bytes, buffer)?,
            },
        }
        Ok(buffer)
    }

    fn narrow<T: Narrow>(
        &mut self,
        first_row: usize,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), DatasetError> {
        let mut rounded = 0;
        let round = self.round;
        each_number(self.value, bytes, |at, number| {
            let why = match T::from_number(number) {
                Narrowed::Exact(value) => {
                    out.extend_from_slice(bytemuck::bytes_of(&value));
                    return Ok(());
                }
                Narrowed::Rounded(value) if round => {
                    rounded += 1;
                    out.extend_from_slice(bytemuck::bytes_of(&value));
                    return Ok(());
                }
                Narrowed::Rounded(_) => Why::Inexact,
                Narrowed::OutOfRange => Why::OutOfRange,
                Narrowed::NotFinite => Why::NotFinite,
            };
            Err(Refused {
                at,
                found: number,
                why,
            })
        })
        .map_err(|refused| self.refused(first_row, &refused))?;
        self.rounded += rounded;
        Ok(())
    }

    fn refused(&self, first_row: usize, refused: &Refused) -> DatasetError {
        let element = self.element;
        let (expected, next) = match refused.why {
            Why::Inexact => (
                format!("a number that is exactly a value of {element}, as the dataset entry says"),
                format!(
                    "{}, or have such values rounded with --narrow (`run --narrow {name}`, `datasets check \
                     {name} --narrow`): truth is then computed for the rounded vectors, and every result says \
                     so",
                    match element {
                        ElementType::F32 =>
                            "save the file as 32-bit floats (numpy: x.astype(numpy.float32))",
                        _ => "choose a wider `element` in the dataset entry",
                    },
                    name = self.dataset,
                ),
            ),
            Why::OutOfRange => (
                format!(
                    "a number within {}, for the dataset entry says {element}",
                    range(element)
                ),
                "choose a wider `element` in the dataset entry".to_owned(),
            ),
            Why::NotFinite => (
                "a finite number".to_owned(),
                "a distance to it is not defined: remove or repair the row".to_owned(),
            ),
        };
        let found = match refused.found {
            Number::Integer(value) => value.to_string(),
            Number::Float(value) => value.to_string(),
        };
        let found = format!("{found}, a value of type {}", self.value);
        DatasetError::contents(
            self.path,
            self.place_of(first_row, refused.at),
            expected,
            found,
            next,
        )
    }

    fn no_bit(&self, first_row: usize, at: usize, found: u8) -> DatasetError {
        DatasetError::contents(
            self.path,
            self.place_of(first_row, at),
            "0 or 1, for every value is one bit",
            found.to_string(),
            "correct `element` in the dataset entry, or the file",
        )
    }

    fn place_of(&self, first_row: usize, at: usize) -> String {
        let row = first_row + at / self.width;
        let component = at % self.width;
        match self.place {
            "" => format!("row {row}, component {component}"),
            place => format!("{place}, row {row}, component {component}"),
        }
    }
}

fn range(element: ElementType) -> String {
    match element {
        ElementType::U8 => "0 to 255".to_owned(),
        ElementType::I8 => "-128 to 127".to_owned(),
        ElementType::F16 => "-65504 to 65504".to_owned(),
        _ => format!("{:e} to {:e}", f32::MIN, f32::MAX),
    }
}
