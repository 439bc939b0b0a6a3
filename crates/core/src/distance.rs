use crate::{Bits, Metric, Set, Vector};
use half::f16;

/// Accumulators kept apart so that the compiler may vectorise; the rounding bounds used by
/// [`crate::TieTolerance`] hold for any order of summation.
const LANES: usize = 16;

/// A component as the f64 that it is.
trait Widen: Copy {
    fn widen(self) -> f64;
}

impl Widen for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
}

impl Widen for f16 {
    /// Exact for every finite value, without a branch, so that the compiler may vectorise: the bits
    /// moved into an f32 are the value times 2^-112, subnormal ones included.
    #[inline(always)]
    fn widen(self) -> f64 {
        const TWO_TO_112: f32 = f32::from_bits(0x7780_0000);
        let bits = u32::from(self.to_bits());
        let magnitude = f32::from_bits((bits & 0x7fff) << 13) * TWO_TO_112;
        f64::from(f32::from_bits(
            magnitude.to_bits() | ((bits & 0x8000) << 16),
        ))
    }
}

#[inline(always)]
fn sum_f64<T: Widen>(q: &[T], x: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0f64; LANES];
    let (q_head, q_tail) = q.as_chunks::<LANES>();
    let (x_head, x_tail) = x.as_chunks::<LANES>();
    for (a, b) in q_head.iter().zip(x_head) {
        for lane in 0..LANES {
            lanes[lane] += term(a[lane].widen(), b[lane].widen());
        }
    }
    let mut sum: f64 = lanes.iter().sum();
    for (&a, &b) in q_tail.iter().zip(x_tail) {
        sum += term(a.widen(), b.widen());
    }
    sum
}

/// Exact for up to 2^15 components a block: 255^2 * 2^15 < 2^31.
#[inline(always)]
fn sum_i64<T: Copy + Into<i32>>(q: &[T], x: &[T], term: impl Fn(i32, i32) -> i32) -> i64 {
    q.chunks(1 << 15)
        .zip(x.chunks(1 << 15))
        .map(|(qs, xs)| {
            let terms = qs.iter().zip(xs).map(|(&a, &b)| term(a.into(), b.into()));
            i64::from(terms.sum::<i32>())
        })
        .sum()
}

/// Bits that are one in `combine(q, x)`.
#[inline(always)]
fn count_bits(q: Bits<'_>, x: Bits<'_>, combine: impl Fn(u64, u64) -> u64) -> u64 {
    let (q_head, q_tail) = q.bytes.as_chunks::<8>();
    let (x_head, x_tail) = x.bytes.as_chunks::<8>();
    let mut count = 0;
    for (&a, &b) in q_head.iter().zip(x_head) {
        count += u64::from(combine(u64::from_le_bytes(a), u64::from_le_bytes(b)).count_ones());
    }
    for (&a, &b) in q_tail.iter().zip(x_tail) {
        count += u64::from(combine(u64::from(a), u64::from(b)).count_ones());
    }
    count
}

/// Members that two sets have in common.
fn count_common(q: Set<'_>, x: Set<'_>) -> u64 {
    let (mut q, mut x) = (q.ids, x.ids);
    let mut count = 0;
    while let ([a, q_rest @ ..], [b, x_rest @ ..]) = (q, x) {
        count += u64::from(a == b);
        if a <= b {
            q = q_rest;
        }
        if b <= a {
            x = x_rest;
        }
    }
    count
}

#[inline(always)]
fn squared_l2(q: Vector<'_>, x: Vector<'_>) -> f64 {
    let square = |a: f64, b: f64| (a - b) * (a - b);
    let square_int = |a: i32, b: i32| (a - b) * (a - b);
    match (q, x) {
        (Vector::F32(a), Vector::F32(b)) => sum_f64(a, b, square),
        (Vector::F16(a), Vector::F16(b)) => sum_f64(a, b, square),
        (Vector::I8(a), Vector::I8(b)) => sum_i64(a, b, square_int) as f64,
        (Vector::U8(a), Vector::U8(b)) => sum_i64(a, b, square_int) as f64,
        _ => f64::NAN,
    }
}

/// The inner product of numbers; of bits and sets, what they have in common.
#[inline(always)]
fn dot(q: Vector<'_>, x: Vector<'_>) -> f64 {
    match (q, x) {
        (Vector::F32(a), Vector::F32(b)) => sum_f64(a, b, |a, b| a * b),
        (Vector::F16(a), Vector::F16(b)) => sum_f64(a, b, |a, b| a * b),
        (Vector::I8(a), Vector::I8(b)) => sum_i64(a, b, |a, b| a * b) as f64,
        (Vector::U8(a), Vector::U8(b)) => sum_i64(a, b, |a, b| a * b) as f64,
        (Vector::Bits(a), Vector::Bits(b)) => count_bits(a, b, |a, b| a & b) as f64,
        (Vector::Set(a), Vector::Set(b)) => count_common(a, b) as f64,
        _ => f64::NAN,
    }
}

#[inline(always)]
fn distance_generic(metric: Metric, q: Vector<'_>, x: Vector<'_>) -> f64 {
    if !metric.is_defined_on(q.element()) {
        return f64::NAN;
    }
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
        Metric::Hamming => match (q, x) {
            (Vector::Bits(a), Vector::Bits(b)) => count_bits(a, b, |a, b| a ^ b) as f64,
            _ => f64::NAN,
        },
        Metric::Jaccard => {
            let common = dot(q, x);
            let all = dot(q, q) + dot(x, x) - common;
            if all == 0.0 {
                1.0
            } else {
                (all - common) / all
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt")]
fn distance_avx2(metric: Metric, q: Vector<'_>, x: Vector<'_>) -> f64 {
    distance_generic(metric, q, x)
}

/// The reference distance D(q, x) that truth and scoring use, in f64.
///
/// L2 is squared, inner product negated, cosine 1 − cos with the norms taken in f64, hamming a count,
/// jaccard 1 − |common| / |all|; a zero vector has no direction and an empty set shares nothing: they
/// are at cosine and jaccard distance 1 from everything. Bytes, bits and sets are summed in integers,
/// so that all but their cosine is exact. Half precision is widened first. The order of summation is
/// the same on every machine; no fused operation is used, so the value is too.
///
/// `q` and `x` must have the same element type and dimension, and finite components; the result is NaN
/// when the types differ, or when they cannot have the metric.
#[inline]
pub fn distance(metric: Metric, q: Vector<'_>, x: Vector<'_>) -> f64 {
    debug_assert_eq!(q.dim(), x.dim());
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("fma")
        && std::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the features were just found on this CPU.
        return unsafe { distance_avx2(metric, q, x) };
    }
    distance_generic(metric, q, x)
}

/// The Euclidean norm |v| in f64; of a set, the root of its size.
pub fn norm(v: Vector<'_>) -> f64 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;
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
    fn half_precision_is_widened_exactly() {
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            if value.is_finite() {
                assert_eq!(
                    value.widen().to_bits(),
                    value.to_f64().to_bits(),
                    "{bits:#06x}"
                );
            }
        }
    }

    #[test]
    fn hamming_counts_bits_that_differ() {
        let bits = |bytes| Vector::Bits(Bits { bytes, dim: 75 });
        let (q, x) = ([0u8; 10], [0xff, 0, 1, 0, 0, 0, 0, 0x80, 3, 0x20]);
        assert_eq!(distance(Metric::Hamming, bits(&q), bits(&x)), 13.0);
        assert_eq!(distance(Metric::Hamming, bits(&x), bits(&x)), 0.0);
    }

    #[test]
    fn jaccard_of_sets_and_of_their_bits_is_one_value() {
        let set = |ids| Vector::Set(Set { ids, dim: 16 });
        let bits = |bytes| Vector::Bits(Bits { bytes, dim: 16 });
        let d = |q, x| distance(Metric::Jaccard, q, x);
        // 2 of 5 are common.
        assert_eq!(d(set(&[0, 3, 9]), set(&[3, 4, 9, 15])), 0.6);
        assert_eq!(d(bits(&[0x90, 0x40]), bits(&[0x18, 0x41])), 0.6);
        assert_eq!(d(set(&[]), set(&[])), 1.0, "an empty set shares nothing");
        assert_eq!(d(bits(&[0, 0]), bits(&[0, 1])), 1.0);
        assert_eq!(d(set(&[7]), set(&[7])), 0.0);
        assert_eq!(norm(set(&[1, 2, 3, 4])), 2.0);
    }

    #[test]
    fn metrics_are_undefined_on_types_that_they_cannot_have() {
        assert!(distance(Metric::L2, Vector::U8(&[1]), Vector::I8(&[1])).is_nan());
        let set = Vector::Set(Set { ids: &[1], dim: 2 });
        for metric in Metric::ALL {
            let defined = metric.is_defined_on(ElementType::Sets);
            assert_eq!(distance(metric, set, set).is_nan(), !defined, "{metric}");
        }
    }

    proptest! {
        #[test]
        fn signed_bytes_agree_with_floats(
            pair in (1usize..300).prop_flat_map(|d| (
                prop::collection::vec(any::<i8>(), d),
                prop::collection::vec(any::<i8>(), d),
            ))
        ) {
            let (q, x) = pair;
            let wide = |v: &[i8]| -> Vec<f32> { v.iter().map(|&v| f32::from(v)).collect() };
            let half = |v: &[i8]| -> Vec<f16> { v.iter().map(|&v| f16::from(v)).collect() };
            for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
                let expected = distance(metric, Vector::I8(&q), Vector::I8(&x));
                let (qf, xf) = (wide(&q), wide(&x));
                prop_assert_eq!(expected, distance(metric, Vector::F32(&qf), Vector::F32(&xf)));
                let (qh, xh) = (half(&q), half(&x));
                prop_assert_eq!(expected, distance(metric, Vector::F16(&qh), Vector::F16(&xh)));
            }
        }

        #[test]
        fn sets_agree_with_their_bits(
            (dim, q, x) in (1usize..200).prop_flat_map(|d| (
                Just(d),
                prop::collection::btree_set(0..d as u32, 0..=d.min(30)),
                prop::collection::btree_set(0..d as u32, 0..=d.min(30)),
            ))
        ) {
            let ids = [q, x].map(|set| set.into_iter().collect::<Vec<u32>>());
            let packed = ids.clone().map(|ids| {
                let mut bytes = vec![0u8; dim.div_ceil(8)];
                for id in ids {
                    bytes[id as usize / 8] |= 0x80 >> (id % 8);
                }
                bytes
            });
            let [q, x] = [&ids[0], &ids[1]].map(|ids| Vector::Set(Set { ids, dim }));
            let [qb, xb] = [&packed[0], &packed[1]].map(|bytes| Vector::Bits(Bits { bytes, dim }));
            prop_assert_eq!(
                distance(Metric::Jaccard, q, x).to_bits(),
                distance(Metric::Jaccard, qb, xb).to_bits()
            );
            prop_assert_eq!(norm(q), norm(qb));
        }

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
