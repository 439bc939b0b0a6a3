use super::ExportError;
use super::layouts_of;
use crate::DatasetError;
use crate::progress::Meter;
use crate::value::{Narrow, Narrowed, Number, ValueType, each_number};
use annbench_core::{ElementType, Vectors};
use half::f16;

/// Bytes that are handed on at once.
const STEP_BYTES: usize = 8 << 20;

/// Rows of a set, read as another element type in which each of their values has its exact like.
pub(super) struct Recast<'r> {
    pub(super) dataset: &'r str,
    /// `base` or `queries`.
    pub(super) role: &'static str,
    pub(super) vectors: Vectors<'r>,
    pub(super) element: ElementType,
}

/// Takes the bytes of whole rows, one piece after another.
pub(super) type TakeBytes<'t> = &'t mut dyn FnMut(&[u8]) -> Result<(), DatasetError>;

impl Recast<'_> {
    pub(super) fn n(&self) -> usize {
        self.vectors.n()
    }

    pub(super) fn dim(&self) -> usize {
        self.vectors.dim()
    }

    /// Values in a row as files count them: bits lie in bytes.
    pub(super) fn width(&self) -> usize {
        match self.element {
            ElementType::Bits => self.dim().div_ceil(8),
            _ => self.dim(),
        }
    }

    /// Whether the rows are taken as they are.
    pub(super) fn is_same(&self) -> bool {
        self.vectors.element() == self.element
    }

    /// Hands all rows to `take`; of sets, the members.
    pub(super) fn read(&self, meter: &Meter<'_>, take: TakeBytes<'_>) -> Result<(), ExportError> {
        let own_bytes = self.vectors.element().row_bytes(self.dim()).unwrap_or(64);
        let step = (STEP_BYTES / own_bytes.max(1)).max(1);
        let mut buffer = Vec::new();
        for first in (0..self.n()).step_by(step) {
            let rows = first..self.n().min(first + step);
            let bytes = self.vectors.slice(rows.clone()).component_bytes();
            if self.is_same() {
                take(bytes)?;
            } else {
                buffer.clear();
                self.recast(first, bytes, &mut buffer)?;
                take(&buffer)?;
            }
            meter.at(rows.end as u64)?;
        }
        Ok(())
    }

    fn recast(&self, first_row: usize, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ExportError> {
        match self.element {
            ElementType::F32 => self.each::<f32>(first_row, bytes, out),
            ElementType::F16 => self.each::<f16>(first_row, bytes, out),
            ElementType::I8 => self.each::<i8>(first_row, bytes, out),
            ElementType::U8 => self.each::<u8>(first_row, bytes, out),
            // Refused with the layout: nothing becomes bits or sets.
            element => unreachable!("{} as {element}", self.vectors.element()),
        }
    }

    fn each<T: Narrow>(
        &self,
        first_row: usize,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ExportError> {
        let value = match self.vectors.element() {
            ElementType::F32 => ValueType::F32,
            ElementType::F16 => ValueType::F16,
            ElementType::I8 => ValueType::I8,
            _ => ValueType::U8,
        };
        each_number(value, bytes, |at, number| match T::from_number(number) {
            Narrowed::Exact(value) if !loses_sign(number, self.element) => {
                out.extend_from_slice(bytemuck::bytes_of(&value));
                Ok(())
            }
            _ => Err(self.loss(first_row, at, number)),
        })
    }

    fn loss(&self, first_row: usize, at: usize, found: Number) -> ExportError {
        let own = self.vectors.element();
        ExportError::Loss {
            dataset: self.dataset.to_owned(),
            role: self.role,
            row: first_row + at / self.dim(),
            component: at % self.dim(),
            element: self.element,
            found: match found {
                Number::Integer(value) => value.to_string(),
                Number::Float(value) => value.to_string(),
            },
            own,
            fits: layouts_of(own),
        }
    }
}

/// Whether the number is a negative zero, which integers do not have.
fn loses_sign(number: Number, element: ElementType) -> bool {
    let Number::Float(value) = number else {
        return false;
    };
    value == 0.0 && value.is_sign_negative() && element.is_integer()
}
