//! A ratio of two sums over the same units.

/// A ratio with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// sum of parts / sum of wholes.
    pub value: f64,
    /// Its standard error over units, by linearisation: sqrt(m / (m − 1) · sum (part − value · whole)²) /
    /// sum of wholes.
    pub standard_error: f64,
    /// Units whose whole is not zero.
    pub units: u64,
}

/// The ratio of the sums of `(part, whole)` pairs, units drawn independently (W. G. Cochran, Sampling
/// Techniques, 3rd edition, section 2.11). `None` when fewer than two units have a whole.
pub fn ratio_of_sums(pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Option<Ratio> {
    let pairs = pairs.filter(|&(_, whole)| whole > 0);
    let (mut parts, mut wholes, mut units) = (0u64, 0u64, 0u64);
    for (part, whole) in pairs.clone() {
        parts += u64::from(part);
        wholes += u64::from(whole);
        units += 1;
    }
    if units < 2 {
        return None;
    }
    let value = parts as f64 / wholes as f64;
    let residuals: f64 = pairs
        .map(|(part, whole)| (f64::from(part) - value * f64::from(whole)).powi(2))
        .sum();
    let m = units as f64;
    Some(Ratio {
        value,
        standard_error: (m / (m - 1.0) * residuals).sqrt() / wholes as f64,
        units,
    })
}
