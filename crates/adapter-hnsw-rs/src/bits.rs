//! Distances of packed bits, which the library has none of.

use anndists::dist::distances::Distance;

/// Number of bits that differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BitHamming;

/// One minus the share of common ones among all ones; 1 where neither vector has any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BitJaccard;

/// Ones of `combine(a, b)`, over words of 64 bits and then over what is left.
#[inline(always)]
fn ones(a: &[u8], b: &[u8], combine: impl Fn(u64, u64) -> u64) -> u32 {
    let (a_words, a_rest) = a.as_chunks::<8>();
    let (b_words, b_rest) = b.as_chunks::<8>();
    let mut count = 0;
    for (&a, &b) in a_words.iter().zip(b_words) {
        count += combine(u64::from_le_bytes(a), u64::from_le_bytes(b)).count_ones();
    }
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        count += combine(u64::from(a), u64::from(b)).count_ones();
    }
    count
}

#[inline(always)]
fn hamming(a: &[u8], b: &[u8]) -> f32 {
    ones(a, b, |a, b| a ^ b) as f32
}

#[inline(always)]
fn jaccard(a: &[u8], b: &[u8]) -> f32 {
    let all = ones(a, b, |a, b| a | b);
    if all == 0 {
        return 1.0;
    }
    (all - ones(a, b, |a, b| a & b)) as f32 / all as f32
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn hamming_popcnt(a: &[u8], b: &[u8]) -> f32 {
    hamming(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn jaccard_popcnt(a: &[u8], b: &[u8]) -> f32 {
    jaccard(a, b)
}

/// Whether ones are counted by an instruction of the CPU.
pub(crate) fn counts_in_hardware() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

impl Distance<u8> for BitHamming {
    #[inline]
    fn eval(&self, a: &[u8], b: &[u8]) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the feature was just found on this CPU.
            return unsafe { hamming_popcnt(a, b) };
        }
        hamming(a, b)
    }
}

impl Distance<u8> for BitJaccard {
    #[inline]
    fn eval(&self, a: &[u8], b: &[u8]) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the feature was just found on this CPU.
            return unsafe { jaccard_popcnt(a, b) };
        }
        jaccard(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::{Bits, Metric, Vector, distance};

    /// Rows of 203 bits in 26 bytes: three words, two bytes, five bits unused.
    const DIM: usize = 203;

    fn rows() -> Vec<[u8; 26]> {
        (0..40u32)
            .map(|row| {
                std::array::from_fn(|i| {
                    let mixed = (row * 26 + i as u32).wrapping_mul(0x9e37_79b1) >> 19;
                    match (row, i) {
                        (0, _) => 0,
                        (_, 25) => mixed as u8 & 0xe0,
                        _ => mixed as u8,
                    }
                })
            })
            .collect()
    }

    #[test]
    fn distances_are_the_reference_distances() {
        let rows = rows();
        for a in &rows {
            for b in &rows {
                let expected = |metric| {
                    let [a, b] = [a, b].map(|bytes| Vector::Bits(Bits { bytes, dim: DIM }));
                    distance(metric, a, b) as f32
                };
                for (metric, found, portable) in [
                    (Metric::Hamming, BitHamming.eval(a, b), hamming(a, b)),
                    (Metric::Jaccard, BitJaccard.eval(a, b), jaccard(a, b)),
                ] {
                    assert_eq!(found, expected(metric), "{metric} {a:?} {b:?}");
                    assert_eq!(portable, found, "{metric} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn vectors_without_ones_are_at_jaccard_distance_one() {
        assert_eq!(BitJaccard.eval(&[0; 9], &[0; 9]), 1.0);
        assert_eq!(BitJaccard.eval(&[0; 9], &[1; 9]), 1.0);
        assert_eq!(BitJaccard.eval(&[1; 9], &[1; 9]), 0.0);
        assert_eq!(BitJaccard.eval(&[0b0111], &[0b1110]), 0.5);
    }
}
