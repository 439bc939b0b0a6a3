use crate::{ElementType, Vector};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the distance D(q, x) between a query and a base vector is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Squared Euclidean distance.
    L2,
    /// Negated inner product, so that smaller is nearer.
    InnerProduct,
    /// One minus the cosine of the angle.
    Cosine,
}

impl Metric {
    /// Every metric, in a fixed order.
    pub const ALL: [Metric; 3] = [Metric::L2, Metric::InnerProduct, Metric::Cosine];

    /// The word used in YAML, JSON and on plots.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::L2 => "l2",
            Metric::InnerProduct => "inner_product",
            Metric::Cosine => "cosine",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Accumulators kept apart so that the compiler may vectorise; the rounding bounds used by
/// [`TieTolerance`] hold for any order of summation.
const LANES: usize = 16;

#[inline(always)]
fn sum_f64<T: Copy>(q: &[T], x: &[T], term: impl Fn(T, T) -> f64) -> f64 {
    let mut lanes = [0.0f64; LANES];
    let (q_head, q_tail) = q.as_chunks::<LANES>();
    let (x_head, x_tail) = x.as_chunks::<LANES>();
    for (a, b) in q_head.iter().zip(x_head) {
        for lane in 0..LANES {
            lanes[lane] += term(a[lane], b[lane]);
        }
    }
    let mut sum: f64 = lanes.iter().sum();
    for (&a, &b) in q_tail.iter().zip(x_tail) {
        sum += term(a, b);
    }
    sum
}

/// Exact for up to 2^15 components a block: 255^2 * 2^15 < 2^31.
#[inline(always)]
fn sum_i64(q: &[u8], x: &[u8], term: impl Fn(i32, i32) -> i32) -> i64 {
    q.chunks(1 << 15)
        .zip(x.chunks(1 << 15))
        .map(|(qs, xs)| {
            let block: i32 = qs
                .iter()
                .zip(xs)
                .map(|(&a, &b)| term(i32::from(a), i32::from(b)))
                .sum();
            i64::from(block)
        })
        .sum()
}

#[inline(always)]
fn squared_l2(q: Vector<'_>, x: Vector<'_>) -> f64 {
    match (q, x) {
        (Vector::F32(a), Vector::F32(b)) => sum_f64(a, b, |a, b| {
            let d = f64::from(a) - f64::from(b);
            d * d
        }),
        (Vector::U8(a), Vector::U8(b)) => sum_i64(a, b, |a, b| (a - b) * (a - b)) as f64,
        _ => f64::NAN,
    }
}

#[inline(always)]
fn dot(q: Vector<'_>, x: Vector<'_>) -> f64 {
    match (q, x) {
        (Vector::F32(a), Vector::F32(b)) => sum_f64(a, b, |a, b| f64::from(a) * f64::from(b)),
        (Vector::U8(a), Vector::U8(b)) => sum_i64(a, b, |a, b| a * b) as f64,
        _ => f64::NAN,
    }
}

#[inline(always)]
fn distance_generic(metric: Metric, q: Vector<'_>, x: Vector<'_>) -> f64 {
    match metric {
        Metric::L2 => squared_l2(q, x),
        Metric::InnerProduct => -dot(q, x),
        Metric::Cosine => {
            let norms = dot(q, q).sqrt() * dot(x, x).sqrt();
            if norms == 0.0 {
                1.0
            } else {
                1.0 - dot(q, x) / norms
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn distance_avx2(metric: Metric, q: Vector<'_>, x: Vector<'_>) -> f64 {
    distance_generic(metric, q, x)
}

/// The reference distance D(q, x) that truth and scoring use, in f64.
///
/// L2 is squared, inner product negated, cosine 1 − cos with the norms taken in f64; a zero
/// vector has no direction and is at cosine distance 1 from everything. Bytes are summed in
/// integers, so their L2 and inner product are exact. The order of summation is the same on every
/// machine; no fused operation is used, so the value is too.
///
/// `q` and `x` must have the same element type and dimension; the result is NaN when the types
/// differ.
#[inline]
pub fn distance(metric: Metric, q: Vector<'_>, x: Vector<'_>) -> f64 {
    debug_assert_eq!(q.dim(), x.dim());
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: both features were just found on this CPU.
        return unsafe { distance_avx2(metric, q, x) };
    }
    distance_generic(metric, q, x)
}

/// The Euclidean norm |v| in f64.
pub fn norm(v: Vector<'_>) -> f64 {
    dot(v, v).sqrt()
}

/// How far apart two f64 distances may be and still be the same mathematical distance.
///
/// Integer arithmetic needs none. In f64, with u = 2^-53 and gamma_m = m u / (1 - m u) bounding
/// the error of an m-term sum in any order, the tolerance is 4 (d + 2) u D_k for squared L2,
/// 4 gamma_{d+2} |q| max|x| for inner product and 4 gamma_{d+2} for cosine, whose error is
/// absolute (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct TieTolerance {
    metric: Metric,
    exact: bool,
    dim: usize,
    max_base_norm: f64,
}

impl TieTolerance {
    /// `max_base_norm` is max |x| over the base; it is read for inner product only.
    pub fn new(metric: Metric, element: ElementType, dim: usize, max_base_norm: f64) -> Self {
        let exact = element == ElementType::U8 && metric != Metric::Cosine;
        Self {
            metric,
            exact,
            dim,
            max_base_norm,
        }
    }

    /// Whether distances are exact, so that only equal ones tie.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The half-width t of the band around the k-th true distance `d_k` in which a distance ties.
    ///
    /// `query_norm` is |q|; it is read for inner product only.
    pub fn at(&self, d_k: f64, query_norm: f64) -> f64 {
        if self.exact {
            return 0.0;
        }
        let unit_roundoff = 2f64.powi(-53);
        let terms = (self.dim + 2) as f64;
        let gamma = terms * unit_roundoff / (1.0 - terms * unit_roundoff);
        match self.metric {
            Metric::L2 => 4.0 * terms * unit_roundoff * d_k,
            Metric::InnerProduct => 4.0 * gamma * query_norm * self.max_base_norm,
            Metric::Cosine => 4.0 * gamma,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn definitions_on_a_small_pair() {
        let (q, x) = (Vector::F32(&[3.0, 4.0]), Vector::F32(&[4.0, 3.0]));
        assert_eq!(distance(Metric::L2, q, x), 2.0);
        assert_eq!(distance(Metric::InnerProduct, q, x), -24.0);
        assert!((distance(Metric::Cosine, q, x) - 0.04).abs() < 1e-15);
        assert_eq!(norm(q), 5.0);
    }

    #[test]
    fn zero_vector_is_at_cosine_distance_one() {
        let (q, x) = (Vector::U8(&[0, 0]), Vector::U8(&[1, 2]));
        assert_eq!(distance(Metric::Cosine, q, x), 1.0);
        assert_eq!(distance(Metric::Cosine, x, q), 1.0);
    }

    #[test]
    fn bytes_stay_exact_beyond_the_i32_range() {
        let (q, x) = (vec![255u8; 100_000], vec![0u8; 100_000]);
        let d = distance(Metric::L2, Vector::U8(&q), Vector::U8(&x));
        assert_eq!(d, 100_000.0 * 65_025.0);
    }

    #[test]
    fn the_band_of_integers_is_zero_and_of_cosine_absolute() {
        assert_eq!(
            TieTolerance::new(Metric::L2, ElementType::U8, 128, 0.0).at(5.0, 0.0),
            0.0
        );
        let cosine = TieTolerance::new(Metric::Cosine, ElementType::F32, 128, 0.0);
        assert_eq!(cosine.at(0.0, 0.0), cosine.at(1.0, 0.0));
        assert!(cosine.at(0.0, 0.0) > 0.0);
    }

    proptest! {
        /// The vectorised path and the portable one give the same bits on integers, and agree
        /// within the summation bound on floats.
        #[test]
        fn widened_bytes_have_the_same_l2_and_inner_product(
            pair in (1usize..300).prop_flat_map(|d| (
                prop::collection::vec(any::<u8>(), d),
                prop::collection::vec(any::<u8>(), d),
            ))
        ) {
            let (q, x) = pair;
            let qf: Vec<f32> = q.iter().map(|&v| f32::from(v)).collect();
            let xf: Vec<f32> = x.iter().map(|&v| f32::from(v)).collect();
            for metric in [Metric::L2, Metric::InnerProduct] {
                prop_assert_eq!(
                    distance(metric, Vector::U8(&q), Vector::U8(&x)),
                    distance(metric, Vector::F32(&qf), Vector::F32(&xf))
                );
                prop_assert_eq!(
                    distance(metric, Vector::U8(&q), Vector::U8(&x)),
                    distance_generic(metric, Vector::U8(&q), Vector::U8(&x))
                );
            }
        }
    }
}
