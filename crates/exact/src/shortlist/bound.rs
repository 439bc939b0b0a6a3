//! How far a fast score may be from the distance that it stands for.
//!
//! Write p for the query and y for a base row, both less the centre where the metric allows that, p'
//! and y' for what the units hold of them, S for the f32 score fl(fl(p' y') + fl(-|y|^2 / 2)), without
//! the last term unless the metric is l2. Then, with gamma_m = m u / (1 - m u):
//!
//! * |p y - p' y'| <= |p'| |y - y'| + |p - p'| |y|,
//! * |fl(p' y') - p' y'| <= gamma_m(2^-24) |p'| |y'| in any order of summation, with or without fused
//!   operations, plus an underflow of at most 2^-126 for each operation,
//! * the term -|y|^2 / 2 is off by at most gamma_m(2^-24) |y|^2 / 2, and the last addition by 2^-24 of
//!   its result;
//! * the f64 reference distance is off by gamma_(d+2)(2^-53) D under l2, by that times |q| |x| under
//!   inner product, and by three such under cosine beside a few roundings
//!   (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
//!
//! So |S - score of the reference| <= e(q, x) = a r + b N + c N^2 + d, with r >= |y - y'| and N >= |y|,
//! |y'| known of each row, and the four numbers known of each query.

use annbench_core::Metric;

/// gamma_m for the unit roundoff `u`: m u / (1 - m u).
pub(crate) fn gamma(m: usize, u: f64) -> f64 {
    let mu = m as f64 * u;
    mu / (1.0 - mu)
}

/// Unit roundoff of f32.
pub(crate) const U32: f64 = 1.0 / (1u64 << 24) as f64;

/// Unit roundoff of f64.
pub(crate) const U64: f64 = 1.0 / (1u64 << 53) as f64;

/// The smallest normal f32.
const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Covers the rounding of a handful of f64 operations, and of f64 sums over the most components.
const SLACK: f64 = 1.0 + 1e-9;

/// What is known of a query, in f64, before rounding up.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryNorms {
    /// |p|.
    pub(super) own: f64,
    /// |p'|.
    pub(super) rounded: f64,
    /// |p - p'|.
    pub(super) residual: f64,
    /// |c|, where only the base is less the centre.
    pub(super) centre: f64,
}

/// e(q, x) of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    residual: f64,
    norm: f64,
    squared_norm: f64,
    constant: f64,
}

impl Bound {
    /// `products` is the number of products that a sum has, padding included.
    pub(super) fn new(metric: Metric, dim: usize, products: usize, norms: QueryNorms) -> Self {
        // Four for what tile and pair instructions add up beside the accumulator, four to spare.
        let sum = gamma(products + 8, U32);
        let reference = gamma(dim + 8, U64);
        let rounded = norms.rounded * SLACK;
        let own = norms.own * SLACK;
        let underflow = 4.0 * products as f64 * LEAST_NORMAL;
        let mut bound = Self {
            residual: rounded,
            norm: norms.residual * SLACK + U64 * own + (sum + 4.0 * U32) * rounded,
            squared_norm: 0.0,
            constant: underflow,
        };
        match metric {
            Metric::L2 => {
                bound.squared_norm = sum + 4.0 * U32 + 2.0 * reference;
                bound.constant += 2.0 * reference * own * own;
            }
            Metric::InnerProduct => {
                bound.norm += reference * own;
                bound.constant += reference * own * norms.centre * SLACK;
            }
            // Norms are off by less than that, too.
            _ => {
                bound.norm += 2.0 * reference;
                bound.constant += 4.0 * reference;
            }
        }
        bound
    }

    /// The bound for rows whose rounding took at most `residual`, of norms at most `norm`.
    #[inline]
    pub(super) fn at(&self, row: RowNorms) -> f64 {
        let (residual, norm) = (f64::from(row.residual), f64::from(row.norm));
        (self.residual * residual + (self.norm + self.squared_norm * norm) * norm + self.constant)
            * SLACK
    }
}

/// What is known of a row, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RowNorms {
    /// Of y - y'.
    pub(super) residual: f32,
    /// Of y and of y'. Infinite where it is too large for f32 sums.
    pub(super) norm: f32,
}

/// Norms of rows and queries up to this are safe: no product, sum or square of them overflows f32.
pub(super) const MOST_NORM: f32 = 1e15;

impl RowNorms {
    /// From f32 sums over `dim` squares of y as subtracted in f32, and over those of y less y';
    /// `before` bounds what y lost already before the centre was subtracted.
    pub(super) fn new(squares: f32, residuals: f32, dim: usize, before: f64) -> Self {
        let sum = 1.0 + gamma(dim + 8, U32);
        // What squares lose that are subnormal.
        let tiny = 2f64.powi(-70) * (dim as f64).sqrt();
        let norm = f64::from(squares).sqrt() * sum + tiny;
        // The subtraction of the centre rounds by at most 2^-24 of its result.
        let subtracted = norm * U32 * 1.001 + before;
        let residual = (f64::from(residuals).sqrt() * sum + tiny + subtracted) * SLACK;
        let norm = (norm + residual) * SLACK;
        if norm <= f64::from(MOST_NORM) {
            Self {
                residual: up(residual),
                norm: up(norm),
            }
        } else {
            Self {
                residual: f32::INFINITY,
                norm: f32::INFINITY,
            }
        }
    }

    /// Whether the arithmetic can say anything of the row.
    pub(super) fn is_tame(self) -> bool {
        self.norm <= MOST_NORM * 1.01
    }

    /// What bounds both.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            residual: self.residual.max(other.residual),
            norm: self.norm.max(other.norm),
        }
    }
}

/// The least f32 that is surely not less.
pub(super) fn up(value: f64) -> f32 {
    (value as f32).next_up()
}

/// The greatest f32 that is surely not more.
pub(super) fn down(value: f64) -> f32 {
    (value as f32).next_down()
}

#[cfg(test)]
mod tests {
    use super::super::MOST_COMPONENTS;
    use super::*;

    #[test]
    fn the_worked_example_of_cancellation_stays_open_until_both_rows_are_in() {
        // q = 4096; a = 4097, b = 4096.5: both f32 scores |x|^2 - 2 q x are -16777216.
        let score = |x: f32| x * x - 2.0 * 4096.0 * x;
        assert_eq!(
            (score(4097.0), score(4096.5)),
            (-16_777_216.0, -16_777_216.0)
        );
        let error = gamma(3, U32) * (4097f64.powi(2) + 2.0 * 4096.0 * 4097.0);
        assert!((error - 9.0029).abs() < 1e-4, "{error}");
        // With a alone in the shortlist, b's least distance is not above a's, which is 1.
        assert!(f64::from(score(4096.5)) - error + 4096f64.powi(2) < 1.0);
        // The bound of the engine is no narrower.
        let norms = QueryNorms {
            own: 4096.0,
            rounded: 4096.0,
            residual: 0.0,
            centre: 0.0,
        };
        let row = RowNorms::new(4097f32 * 4097.0, 0.0, 1, 0.0);
        assert!(2.0 * Bound::new(Metric::L2, 1, 1, norms).at(row) >= error);
    }

    #[test]
    fn integers_fit_where_they_are_used() {
        // How many greatest squares of bytes, and twice as large cross terms, each type can sum.
        let square = 255i64 * 255;
        let (f32s, i32s) = (1 << f32::MANTISSA_DIGITS, i64::from(i32::MAX));
        assert_eq!((f32s / square, f32s / (2 * square)), (258, 129));
        assert_eq!((i32s / square, i32s / (2 * square)), (33_025, 16_512));
        // Scores double the products.
        assert_eq!(MOST_COMPONENTS.min(16_512), MOST_COMPONENTS);
        assert!(gamma(MOST_COMPONENTS + 64, U32) < 1e-3);
    }

    #[test]
    fn wild_rows_are_told_from_tame_ones() {
        assert!(RowNorms::new(1.0, 0.0, 3, 0.0).is_tame());
        for squares in [1e31, f32::INFINITY, f32::NAN] {
            assert!(!RowNorms::new(squares, 0.0, 3, 0.0).is_tame());
        }
    }
}
