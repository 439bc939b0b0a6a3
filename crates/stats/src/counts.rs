//! How unevenly counts are spread.

use statrs::distribution::{DiscreteCDF, Poisson};

/// Skewness of `counts`: mean((N − mean)³) / sd³ with the population's sd. `None` when all are equal or
/// there are none.
pub fn skewness(counts: &[u32]) -> Option<f64> {
    let n = counts.len() as f64;
    let mean = mean(counts)?;
    let (mut second, mut third) = (0.0, 0.0);
    for &count in counts {
        let off = f64::from(count) - mean;
        second += off * off;
        third += off * off * off;
    }
    let sd = (second / n).sqrt();
    (sd > 0.0).then(|| (third / n) / (sd * sd * sd))
}

/// Robin Hood index of `counts`: sum |N − mean| / (2 sum N), the share that would have to move for all to
/// be equal. `None` when they add up to nothing.
pub fn robin_hood(counts: &[u32]) -> Option<f64> {
    let mean = mean(counts)?;
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let off: f64 = counts
        .iter()
        .map(|&count| (f64::from(count) - mean).abs())
        .sum();
    (total > 0).then(|| off / (2.0 * total as f64))
}

fn mean(counts: &[u32]) -> Option<f64> {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    (!counts.is_empty()).then(|| total as f64 / counts.len() as f64)
}

/// The smallest c with n · P(Poisson(mu) > c) < 1: above it a count is no accident among `n`. `None`
/// unless mu is a positive number.
pub fn poisson_ceiling(n: u64, mu: f64) -> Option<u64> {
    let poisson = Poisson::new(mu).ok()?;
    let beyond = |c: u64| n as f64 * poisson.sf(c);
    // The tail falls without end: a bracket by doubling, then the first below 1.
    let mut high = 1;
    while beyond(high) >= 1.0 {
        high *= 2;
    }
    let (mut low, mut high) = (0, high);
    while low < high {
        let middle = low + (high - low) / 2;
        match beyond(middle) < 1.0 {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}
