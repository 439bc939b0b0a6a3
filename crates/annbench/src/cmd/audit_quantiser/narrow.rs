//! Types that a base may be narrowed to without a library.

use anyhow::bail;

/// A smaller type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Narrow {
    /// The upper half of an f32, rounded to the nearest, ties to even
    Bf16,
    /// 255 steps from -max to max of all components of the base, one scale for all
    I8,
}

impl Narrow {
    /// For people.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Bf16 => "the base rounded to bf16",
            Self::I8 => "the base rounded to i8, one scale for all components",
        }
    }
}

/// What `values`, all finite, decode to.
///
/// # Errors
/// A value that the type cannot hold.
pub(super) fn narrowed(narrow: Narrow, values: &[f32]) -> anyhow::Result<Vec<f32>> {
    match narrow {
        Narrow::Bf16 => {
            let rounded: Vec<f32> = values.iter().map(|&value| bf16(value)).collect();
            match rounded.iter().position(|value| !value.is_finite()) {
                None => Ok(rounded),
                Some(at) => bail!(
                    "component {at} of the base: expected a number that bf16 holds, found {}; audit another type",
                    values[at]
                ),
            }
        }
        Narrow::I8 => {
            let largest = values
                .iter()
                .fold(0.0f32, |max, value| max.max(value.abs()));
            let step = largest / 127.0;
            Ok(values
                .iter()
                .map(|value| match step > 0.0 {
                    true => (value / step).round_ties_even() * step,
                    false => 0.0,
                })
                .collect())
        }
    }
}

/// The nearest number of 8 significant bits, of two the even one.
fn bf16(value: f32) -> f32 {
    let bits = value.to_bits();
    let even = (bits >> 16) & 1;
    f32::from_bits(bits.wrapping_add(0x7fff + even) & 0xffff_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_rounds_to_the_nearest_and_ties_to_even() {
        for (value, rounded) in [
            (1.0f32, 1.0f32),
            (-255.0, -255.0),
            // 8 bits: 257 lies between 256 and 258, 259 between 258 and 260.
            (257.0, 256.0),
            (259.0, 260.0),
            (257.5, 258.0),
            (0.0, 0.0),
        ] {
            assert_eq!(bf16(value), rounded, "{value}");
        }
        assert!(narrowed(Narrow::Bf16, &[f32::MAX]).is_err());
    }

    #[test]
    fn i8_has_one_step_for_all() {
        let found = narrowed(Narrow::I8, &[127.0, -126.6, 0.4, 0.5]).expect("it always fits");
        assert_eq!(found, [127.0, -127.0, 0.0, 0.0]);
        assert_eq!(narrowed(Narrow::I8, &[0.0]).expect("zero fits"), [0.0]);
    }
}
