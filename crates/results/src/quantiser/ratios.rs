//! Ratios of compressed to exact distances, with the errors of both.

/// A computed distance and a bound on its error, in units of the metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Exact distance d, at least 0.
    pub exact: f64,
    /// |computed - true| of it, at most.
    pub exact_error: f64,
    /// Compressed distance d', at least 0.
    pub compressed: f64,
    /// |computed - true| of it, at most.
    pub compressed_error: f64,
}

/// Roundings of the few operations between distances and verdict: each is at most 2^-53, and there are
/// fewer than 16.
const SLACK: f64 = 16.0 * (f64::EPSILON / 2.0);

/// The least and largest that the ratios of one query can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioRange {
    /// a, rounded down; infinite without any ratio.
    low: f64,
    /// b, rounded up; 0 without any ratio.
    high: f64,
}

impl Default for RatioRange {
    fn default() -> Self {
        Self {
            low: f64::INFINITY,
            high: 0.0,
        }
    }
}

impl RatioRange {
    /// Adds one row.
    ///
    /// A row at distance 0 that stays there has no ratio and bounds none: it satisfies a d <= d' <= b d
    /// whatever a and b. One that moves away, or that cannot be told from 0, has no finite ratio; one that
    /// moves to distance 0 has the ratio 0. Both leave kappa infinite.
    pub fn add(&mut self, row: Ratio) {
        let Ratio {
            exact,
            exact_error,
            compressed,
            compressed_error,
        } = row;
        let stays_at_zero = exact == 0.0 && compressed == 0.0;
        if stays_at_zero && exact_error == 0.0 && compressed_error == 0.0 {
            return;
        }
        let least_exact = exact - exact_error;
        let least_compressed = (compressed - compressed_error).max(0.0);
        let low = least_compressed / (exact + exact_error);
        let high = match least_exact > 0.0 {
            true => (compressed + compressed_error) / least_exact,
            false => f64::INFINITY,
        };
        // 0 / 0 where nothing is known: no bound.
        self.low = self.low.min(if low.is_nan() { 0.0 } else { low });
        self.high = self.high.max(high);
    }

    /// kappa = b / a of the metric's values, at least 1; infinite where a is 0 or b infinite, `None` where
    /// no row has a ratio.
    pub fn kappa(&self) -> Option<f64> {
        match (self.low, self.high) {
            (f64::INFINITY, _) => None,
            (low, high) if low > 0.0 && high.is_finite() => Some((high / low).max(1.0)),
            _ => Some(f64::INFINITY),
        }
    }

    /// Whether the k nearest rows are proven to stay the k nearest: a d_(k+1) > b d_(k) for every value
    /// within the errors of both distances. `kth` and `next` are each a distance and its error.
    pub fn preserves(&self, kth: (f64, f64), next: (f64, f64)) -> bool {
        if !(self.low > 0.0 && self.low.is_finite() && self.high.is_finite()) {
            return false;
        }
        let inside = self.high * (kth.0 + kth.1) * (1.0 + SLACK);
        let outside = self.low * (next.0 - next.1) * (1.0 - SLACK);
        outside > inside
    }
}
