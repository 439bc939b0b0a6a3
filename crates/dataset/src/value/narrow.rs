use super::ValueType;
use half::f16;

/// A number as a file has it, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

/// What becomes of a number in a narrower type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Narrowed<T> {
    /// The same number.
    Exact(T),
    /// The nearest one, ties to even.
    Rounded(T),
    /// Beyond the largest one.
    OutOfRange,
    /// Infinite, or no number.
    NotFinite,
}

/// A component type that numbers are narrowed to.
pub(crate) trait Narrow: bytemuck::Pod {
    fn from_float(value: f64) -> Narrowed<Self>;
    fn from_integer(value: i128) -> Narrowed<Self>;

    fn from_number(value: Number) -> Narrowed<Self> {
        match value {
            Number::Float(value) if !value.is_finite() => Narrowed::NotFinite,
            Number::Float(value) => Self::from_float(value),
            Number::Integer(value) => Self::from_integer(value),
        }
    }
}

fn judged<T>(narrow: T, is_exact: bool) -> Narrowed<T> {
    if is_exact {
        Narrowed::Exact(narrow)
    } else {
        Narrowed::Rounded(narrow)
    }
}

impl Narrow for f32 {
    fn from_float(value: f64) -> Narrowed<Self> {
        let narrow = value as f32;
        if narrow.is_infinite() {
            return Narrowed::OutOfRange;
        }
        judged(narrow, f64::from(narrow) == value)
    }

    fn from_integer(value: i128) -> Narrowed<Self> {
        // 64 bits are far below the largest f32, so this is finite.
        let narrow = value as f32;
        judged(narrow, narrow as i128 == value)
    }
}

impl Narrow for f16 {
    fn from_float(value: f64) -> Narrowed<Self> {
        let narrow = f16::from_f32_const(rounded_to_odd(value));
        if narrow.is_infinite() {
            return Narrowed::OutOfRange;
        }
        judged(narrow, narrow.to_f64() == value)
    }

    fn from_integer(value: i128) -> Narrowed<Self> {
        // Exact as f64 below 2^53; beyond, f16 has nothing anyway.
        Self::from_float(value as f64)
    }
}

/// The f32 on either side of `value` with an odd last bit, unless `value` is an f32 itself.
///
/// Rounding it once more to f16 gives what rounding `value` at once would: f32 has more than two bits
/// more, and an odd last bit lies on no boundary. (Boldo and Melquiond, "Emulation of FMA and
/// correctly rounded sums: proved algorithms using rounding to odd", 2008.)
fn rounded_to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || near.is_infinite() {
        return near;
    }
    let beyond = back.abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}

macro_rules! narrow_to_byte {
    ($type:ty) => {
        impl Narrow for $type {
            fn from_float(value: f64) -> Narrowed<Self> {
                let whole = value.round_ties_even();
                if whole < f64::from(<$type>::MIN) || whole > f64::from(<$type>::MAX) {
                    return Narrowed::OutOfRange;
                }
                judged(whole as $type, whole == value)
            }

            fn from_integer(value: i128) -> Narrowed<Self> {
                <$type>::try_from(value).map_or(Narrowed::OutOfRange, Narrowed::Exact)
            }
        }
    };
}

narrow_to_byte!(i8);
narrow_to_byte!(u8);

/// Evaluates `$body` for every little-endian number of `$bytes`, bound to `$number`.
macro_rules! each_number {
    ($type:ty, $size:literal, $variant:ident, $bytes:expr, $each:expr) => {
        for (i, value) in $bytes.as_chunks::<$size>().0.iter().enumerate() {
            $each(i, Number::$variant(<$type>::from_le_bytes(*value).into()))?;
        }
    };
}

/// Hands every number of `bytes`, little-endian values of type `value`, to `each` with its position.
/// Values of 0 or 1 are integers.
pub(crate) fn each_number<E>(
    value: ValueType,
    bytes: &[u8],
    mut each: impl FnMut(usize, Number) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        ValueType::F16 => each_number!(f16, 2, Float, bytes, each),
        ValueType::F32 => each_number!(f32, 4, Float, bytes, each),
        ValueType::F64 => each_number!(f64, 8, Float, bytes, each),
        ValueType::I8 => each_number!(i8, 1, Integer, bytes, each),
        ValueType::U8 | ValueType::Bool => each_number!(u8, 1, Integer, bytes, each),
        ValueType::I16 => each_number!(i16, 2, Integer, bytes, each),
        ValueType::U16 => each_number!(u16, 2, Integer, bytes, each),
        ValueType::I32 => each_number!(i32, 4, Integer, bytes, each),
        ValueType::U32 => each_number!(u32, 4, Integer, bytes, each),
        ValueType::I64 => each_number!(i64, 8, Integer, bytes, each),
        ValueType::U64 => each_number!(u64, 8, Integer, bytes, each),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_edges_of_every_type() {
        use Narrowed::{Exact, OutOfRange, Rounded};
        assert_eq!(u8::from_float(255.0), Exact(255));
        assert_eq!(u8::from_float(255.5), OutOfRange, "256 is nearest");
        assert_eq!(u8::from_float(255.4), Rounded(255));
        assert_eq!(u8::from_float(-0.4), Rounded(0));
        assert_eq!(u8::from_float(-0.0), Exact(0));
        assert_eq!(u8::from_float(2.5), Rounded(2), "ties to even");
        assert_eq!(i8::from_float(-128.0), Exact(-128));
        assert_eq!(i8::from_float(-129.0), OutOfRange);
        assert_eq!(i8::from_integer(128), OutOfRange);
        assert_eq!(f32::from_integer(1 << 24), Exact(16_777_216.0));
        assert_eq!(f32::from_integer((1 << 24) + 1), Rounded(16_777_216.0));
        assert_eq!(f32::from_float(0.1), Rounded(0.1));
        assert_eq!(f32::from_float(f64::from(f32::MAX)), Exact(f32::MAX));
        assert_eq!(f32::from_float(1e39), OutOfRange);
        assert_eq!(f32::from_float(1e-50), Rounded(0.0));
        assert_eq!(f16::from_float(65504.0), Exact(f16::MAX));
        assert_eq!(f16::from_float(65519.9), Rounded(f16::MAX));
        assert_eq!(f16::from_float(65520.0), OutOfRange);
        assert_eq!(f16::from_integer(2049), Rounded(f16::from_f32(2048.0)));
        // Half-way between two f16 but for the last bit of f64: rounding twice would go down to even.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-50);
        let up = f16::from_bits(f16::ONE.to_bits() + 1);
        assert_eq!(f16::from_float(above), Rounded(up));
        for value in [f64::NAN, f64::INFINITY] {
            assert_eq!(u8::from_number(Number::Float(value)), Narrowed::NotFinite);
        }
    }

    proptest! {
        #[test]
        fn what_was_widened_comes_back(bits in any::<u16>(), wide in any::<f32>(), byte in any::<i8>()) {
            let half = f16::from_bits(bits);
            if half.is_finite() {
                match f16::from_float(half.to_f64()) {
                    Narrowed::Exact(back) => prop_assert_eq!(back.to_bits(), bits),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            if wide.is_finite() {
                prop_assert_eq!(f32::from_float(f64::from(wide)), Narrowed::Exact(wide));
            }
            prop_assert_eq!(i8::from_float(f64::from(byte)), Narrowed::Exact(byte));
            prop_assert_eq!(i8::from_integer(i128::from(byte)), Narrowed::Exact(byte));
        }

        #[test]
        fn half_precision_is_the_nearest_one(
            value in prop_oneof![-70e3..70e3f64, -1e-4..1e-4f64, -1e-7..1e-7f64],
        ) {
            let (Narrowed::Exact(near) | Narrowed::Rounded(near)) = f16::from_float(value) else {
                prop_assert!(value.abs() >= 65520.0);
                return Ok(());
            };
            let off = (near.to_f64() - value).abs();
            for other in [near.to_bits().wrapping_add(1), near.to_bits().wrapping_sub(1)] {
                let other = f16::from_bits(other);
                if other.is_finite() {
                    prop_assert!(off <= (other.to_f64() - value).abs(), "{} {}", near, other);
                }
            }
        }

        #[test]
        fn integers_are_exact_where_floats_say_so(value in any::<i64>()) {
            match f32::from_integer(i128::from(value)) {
                Narrowed::Exact(n) => prop_assert_eq!(f64::from(n) as i128, i128::from(value)),
                Narrowed::Rounded(n) => prop_assert_ne!(f64::from(n) as i128, i128::from(value)),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
