//! Two samples of one distribution, or of two.

/// How far apart the empirical distribution functions F of a sample a and G of a sample b are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// max (F − G): large where a's values are the smaller ones.
    pub below: f64,
    /// max (G − F): large where a's values are the larger ones.
    pub above: f64,
    /// The probability of a statistic as large from one continuous distribution, asymptotically: an
    /// upper bound where values repeat.
    pub p_value: f64,
}

impl KolmogorovSmirnov {
    /// D = max |F − G|, from 0 to 1.
    pub fn statistic(&self) -> f64 {
        self.below.max(self.above)
    }
}

/// The two-sample test of Kolmogorov and Smirnov, in any order of the values, with Stephens' correction
/// for small samples: λ = (√e + 0.12 + 0.11 / √e) D, where e = n m / (n + m). `None` when a sample is
/// empty or holds what is not a number.
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<KolmogorovSmirnov> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|v| v.is_nan()) {
        return None;
    }
    let sorted = |values: &[f64]| {
        // Zeroes of either sign are one value.
        let mut values: Vec<f64> = values.iter().map(|v| v + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut i, mut j) = (0, 0);
    let (mut below, mut above) = (0.0f64, 0.0f64);
    while i < a.len() && j < b.len() {
        // Equal values step together, or the functions would differ within them.
        let value = a[i].min(b[j]);
        i += a[i..].iter().take_while(|&&v| v <= value).count();
        j += b[j..].iter().take_while(|&&v| v <= value).count();
        let gap = i as f64 / n - j as f64 / m;
        below = below.max(gap);
        above = above.max(-gap);
    }
    let e = (n * m / (n + m)).sqrt();
    let lambda = (e + 0.12 + 0.11 / e) * below.max(above);
    Some(KolmogorovSmirnov {
        below,
        above,
        p_value: exceedance(lambda),
    })
}

/// Q(λ) = 2 Σ (−1)^(j−1) exp(−2 j² λ²).
fn exceedance(lambda: f64) -> f64 {
    // Below, Q is 1 to twelve digits, and the sum converges slowly.
    if lambda < 0.2 {
        return 1.0;
    }
    let mut sum = 0.0;
    for j in 1..=100 {
        let j = f64::from(j);
        let term = (-2.0 * j * j * lambda * lambda).exp();
        sum += if j % 2.0 == 1.0 { term } else { -term };
        if term < 1e-18 {
            break;
        }
    }
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_tables() {
        // The 10, 5 and 1 per cent points of Kolmogorov's distribution.
        for (lambda, p) in [(1.223_85, 0.10), (1.358_10, 0.05), (1.627_62, 0.01)] {
            assert!((exceedance(lambda) - p).abs() < 1e-5, "{lambda}");
        }
        assert_eq!(exceedance(0.1), 1.0);
        assert!(exceedance(4.0) < 1e-13);
    }

    #[test]
    fn worked_by_hand() {
        // F - G after 1: 1/3; after 2: 2/3 - 1/4; after 3: 1 - 2/4; after 4 and 5: 1/4, 0.
        let test = kolmogorov_smirnov(&[3.0, 1.0, 2.0], &[2.0, 3.0, 5.0, 4.0]).unwrap();
        assert_eq!((test.statistic(), test.above), (0.5, 0.0));
        // Larger values are above; ties between the samples are no gap.
        let test = kolmogorov_smirnov(&[1.0, 9.0], &[1.0, 1.0]).unwrap();
        assert_eq!((test.below, test.above), (0.0, 0.5));
        let apart = kolmogorov_smirnov(&[0.0; 50], &[1.0; 50]).unwrap();
        assert_eq!(apart.below, 1.0);
        assert!(apart.p_value < 1e-20);
        let same = kolmogorov_smirnov(&[0.0, -0.0], &[-0.0, 0.0]).unwrap();
        assert_eq!((same.statistic(), same.p_value), (0.0, 1.0));
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(kolmogorov_smirnov(&[], &[1.0]), None);
        assert_eq!(kolmogorov_smirnov(&[f64::NAN], &[1.0]), None);
    }
}
