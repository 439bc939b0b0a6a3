use super::ValueType;
use annbench_core::ElementType;

/// How the values of a row become the components of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// They are its components; of bits, the bytes that they are packed in.
    Same,
    /// Numbers of a type that no vector has, each of which becomes the nearest component.
    Narrow,
    /// Each is 0 or 1, and is one bit.
    Pack,
}

/// Why they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Values of another type.
    Type,
    /// More or fewer of them than there are components.
    Width,
}

impl Fit {
    /// How rows of `width` values become vectors of `dim` components of `element`.
    pub(crate) fn of(
        value: ValueType,
        width: usize,
        element: ElementType,
        dim: usize,
    ) -> Result<Fit, Misfit> {
        let fit = match (element, value) {
            (ElementType::Bits, ValueType::Bool) => Fit::Pack,
            // Eight bits to a byte, or a byte for each: the width tells.
            (ElementType::Bits, ValueType::U8) if width == dim.div_ceil(8) => {
                return Ok(Fit::Same);
            }
            (ElementType::Bits, ValueType::U8) => Fit::Pack,
            (ElementType::Bits | ElementType::Sets, _) | (_, ValueType::Bool | ValueType::U64) => {
                return Err(Misfit::Type);
            }
            (_, value) => match value.element() {
                Some(own) if own == element => Fit::Same,
                Some(_) => return Err(Misfit::Type),
                None => Fit::Narrow,
            },
        };
        if width == dim {
            Ok(fit)
        } else {
            Err(Misfit::Width)
        }
    }
}

/// Values of `value` in a row of `dim` components of `element`: bits may lie in bytes.
pub(crate) fn row_values(value: ValueType, element: ElementType, dim: usize) -> usize {
    match (element, value) {
        (ElementType::Bits, ValueType::U8) => dim.div_ceil(8),
        _ => dim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_fits_what_it_should() {
        use ElementType::{Bits, F16, F32, I8, Sets, U8};
        for element in [F32, F16, I8, U8] {
            for value in [
                ValueType::F64,
                ValueType::I64,
                ValueType::I32,
                ValueType::U16,
            ] {
                assert_eq!(Fit::of(value, 9, element, 9), Ok(Fit::Narrow));
                assert_eq!(Fit::of(value, 8, element, 9), Err(Misfit::Width));
            }
            assert_eq!(Fit::of(ValueType::Bool, 9, element, 9), Err(Misfit::Type));
        }
        assert_eq!(Fit::of(ValueType::F32, 9, F32, 9), Ok(Fit::Same));
        assert_eq!(Fit::of(ValueType::F32, 9, F16, 9), Err(Misfit::Type));
        assert_eq!(Fit::of(ValueType::U8, 9, F32, 9), Err(Misfit::Type));
        assert_eq!(Fit::of(ValueType::U8, 2, Bits, 9), Ok(Fit::Same));
        assert_eq!(Fit::of(ValueType::U8, 9, Bits, 9), Ok(Fit::Pack));
        assert_eq!(Fit::of(ValueType::U8, 3, Bits, 9), Err(Misfit::Width));
        assert_eq!(Fit::of(ValueType::U8, 1, Bits, 1), Ok(Fit::Same));
        assert_eq!(Fit::of(ValueType::Bool, 9, Bits, 9), Ok(Fit::Pack));
        assert_eq!(Fit::of(ValueType::Bool, 2, Bits, 9), Err(Misfit::Width));
        assert_eq!(Fit::of(ValueType::F32, 9, Bits, 9), Err(Misfit::Type));
        assert_eq!(Fit::of(ValueType::I64, 9, Sets, 9), Err(Misfit::Type));
    }
}
