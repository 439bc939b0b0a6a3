//! Which of two rows is nearer, exactly: components are whole multiples of 2^-149, so that sums of
//! their products are integers of some hundred bits.

use annbench_core::{Metric, Vector};
use std::cmp::Ordering;

/// The exponent of the least product of two f32.
const LEAST_EXPONENT: i32 = -298;

/// Bits from there to the greatest sum: 24 + 24 bits at most 2^208 times, of 2^60 products, and a sign.
const LIMBS: usize = 10;

/// A sum of products of f32, in two's complement, in units of 2^-298.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exact([u64; LIMBS]);

impl Exact {
    fn zero() -> Self {
        Self([0; LIMBS])
    }

    /// Adds `factor` a b.
    fn add_product(&mut self, a: f32, b: f32, factor: i32) {
        let ((a, ea), (b, eb)) = (parts(a), parts(b));
        let product = a * b * i64::from(factor);
        if product == 0 {
            return;
        }
        let shift = (ea + eb - LEAST_EXPONENT) as usize;
        let (limb, bit) = (shift / 64, shift % 64);
        let magnitude = u128::from(product.unsigned_abs()) << bit;
        let mut carry = [magnitude as u64, (magnitude >> 64) as u64].into_iter();
        let mut over = false;
        for at in limb..LIMBS {
            let part = carry.next().unwrap_or(0);
            let (sum, o1, o2);
            if product > 0 {
                (sum, o1) = self.0[at].overflowing_add(part);
                (self.0[at], o2) = sum.overflowing_add(u64::from(over));
            } else {
                (sum, o1) = self.0[at].overflowing_sub(part);
                (self.0[at], o2) = sum.overflowing_sub(u64::from(over));
            }
            over = o1 || o2;
        }
    }

    fn sign(&self) -> Ordering {
        if self.0[LIMBS - 1] >> 63 == 1 {
            Ordering::Less
        } else if self.0.iter().any(|&limb| limb != 0) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    fn magnitude(&self) -> [u64; LIMBS] {
        let mut limbs = self.0;
        if self.sign() == Ordering::Less {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        limbs
    }
}

/// Mantissa and exponent of a finite f32.
fn parts(value: f32) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32;
    let fraction = i64::from(bits & 0x7f_ffff);
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -149),
        _ => (fraction | 1 << 23, exponent - 150),
    };
    (
        if value.is_sign_negative() {
            -mantissa
        } else {
            mantissa
        },
        exponent,
    )
}

/// The product of two natural numbers, least limbs first.
fn multiply(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0u64; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (j, &y) in b.iter().enumerate() {
            let sum = u128::from(x) * u128::from(y) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        product[i + b.len()] = carry as u64;
    }
    product
}

/// The components of a vector of numbers; none of anything else.
fn components(vector: Vector<'_>) -> Vec<f32> {
    match vector {
        Vector::F32(v) => v.to_vec(),
        Vector::F16(v) => v.iter().map(|&v| f32::from(v)).collect(),
        Vector::I8(v) => v.iter().map(|&v| f32::from(v)).collect(),
        Vector::U8(v) => v.iter().map(|&v| f32::from(v)).collect(),
        _ => Vec::new(),
    }
}

fn sum(a: &[f32], b: &[f32]) -> Exact {
    let mut total = Exact::zero();
    for (&a, &b) in a.iter().zip(b) {
        total.add_product(a, b, 1);
    }
    total
}

/// How the true distances from `q` to `a` and to `b` compare: l2, inner product or cosine of finite
/// vectors of numbers.
pub(crate) fn compare(metric: Metric, q: Vector<'_>, a: Vector<'_>, b: Vector<'_>) -> Ordering {
    let (q, a, b) = (components(q), components(a), components(b));
    if metric == Metric::Cosine {
        return compare_cosines(&q, &a, &b).reverse();
    }
    let mut difference = Exact::zero();
    for ((&q, &a), &b) in q.iter().zip(&a).zip(&b) {
        if metric == Metric::L2 {
            difference.add_product(a, a, 1);
            difference.add_product(q, a, -2);
            difference.add_product(b, b, -1);
            difference.add_product(q, b, 2);
        } else {
            difference.add_product(q, a, -1);
            difference.add_product(q, b, 1);
        }
    }
    difference.sign()
}

/// q a / |a| against q b / |b|; zero where there is no direction.
fn compare_cosines(q: &[f32], a: &[f32], b: &[f32]) -> Ordering {
    let (to_a, to_b) = (sum(q, a), sum(q, b));
    let signs = to_a.sign().cmp(&to_b.sign());
    if signs != Ordering::Equal || to_a.sign() == Ordering::Equal {
        return signs;
    }
    // Squared, and multiplied by both squared norms.
    let squared = |dot: &Exact, other: &[f32]| {
        let dot = dot.magnitude();
        multiply(&multiply(&dot, &dot), &sum(other, other).magnitude())
    };
    let (a, b) = (squared(&to_a, b), squared(&to_b, a));
    let order = a.iter().rev().cmp(b.iter().rev());
    if to_a.sign() == Ordering::Less {
        order.reverse()
    } else {
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(metric: Metric, q: &[f32], a: &[f32], b: &[f32]) -> Ordering {
        compare(metric, Vector::F32(q), Vector::F32(a), Vector::F32(b))
    }

    #[test]
    fn what_f64_cannot_tell_apart_is_told_apart() {
        // 1 + 2^-60 and 1 are one number in f64.
        let tiny = 2f32.powi(-30);
        let (q, a, b) = ([0.0, 0.0], [1.0, tiny], [1.0, 0.0]);
        assert_eq!(order(Metric::L2, &q, &a, &b), Ordering::Greater);
        assert_eq!(order(Metric::L2, &q, &b, &a), Ordering::Less);
        assert_eq!(order(Metric::L2, &q, &a, &a), Ordering::Equal);
        let q = [1.0, f32::from_bits(1)];
        let (a, b) = ([1.0, f32::from_bits(1)], [1.0, 0.0]);
        assert_eq!(order(Metric::InnerProduct, &q, &a, &b), Ordering::Less);
        let (a, b) = ([f32::MAX, -f32::MAX], [f32::MAX, f32::MAX]);
        assert_eq!(order(Metric::L2, &[0.0, 0.0], &a, &b), Ordering::Equal);
        assert_eq!(
            order(Metric::L2, &[0.0, f32::from_bits(1)], &a, &b),
            Ordering::Greater
        );
    }

    #[test]
    fn cosines_ignore_lengths() {
        let q = [1.0, 2.0];
        assert_eq!(
            order(Metric::Cosine, &q, &[2.0, 2.0], &[3.0, 3.0]),
            Ordering::Equal
        );
        assert_eq!(
            order(Metric::Cosine, &q, &[1.0, 2.0], &[2.0, 4.000001]),
            Ordering::Less
        );
        assert_eq!(
            order(Metric::Cosine, &q, &[-1.0, -2.0], &[-1.0, 0.0]),
            Ordering::Greater
        );
        assert_eq!(
            order(Metric::Cosine, &q, &[0.0, 0.0], &[-1.0, 0.0]),
            Ordering::Less
        );
        assert_eq!(
            order(Metric::Cosine, &q, &[0.0, 0.0], &[2.0, -1.0]),
            Ordering::Equal
        );
        assert_eq!(
            order(Metric::Cosine, &[0.0, 0.0], &q, &[2.0, -1.0]),
            Ordering::Equal
        );
    }

    proptest! {
        #[test]
        fn small_integers_agree_with_integer_arithmetic(
            rows in (1usize..20).prop_flat_map(|d| prop::collection::vec((-9i32..9, -9i32..9, -9i32..9), d))
        ) {
            let pick = |f: fn(&(i32, i32, i32)) -> i32| rows.iter().map(|r| f(r) as f32).collect::<Vec<_>>();
            let (q, a, b) = (pick(|r| r.0), pick(|r| r.1), pick(|r| r.2));
            let total = |f: &dyn Fn(&(i32, i32, i32)) -> i32| rows.iter().map(f).sum::<i32>();
            let l2 = total(&|r| (r.0 - r.1).pow(2)).cmp(&total(&|r| (r.0 - r.2).pow(2)));
            prop_assert_eq!(order(Metric::L2, &q, &a, &b), l2);
            let ip = total(&|r| -r.0 * r.1).cmp(&total(&|r| -r.0 * r.2));
            prop_assert_eq!(order(Metric::InnerProduct, &q, &a, &b), ip);
            let signed = |dot: i32, other: i32| i64::from(dot) * i64::from(dot.abs()) * i64::from(other);
            let (dot_a, dot_b) = (total(&|r| r.0 * r.1), total(&|r| r.0 * r.2));
            let (norm_a, norm_b) = (total(&|r| r.1 * r.1), total(&|r| r.2 * r.2));
            if norm_a > 0 && norm_b > 0 {
                let cosine = signed(dot_b, norm_a).cmp(&signed(dot_a, norm_b));
                prop_assert_eq!(order(Metric::Cosine, &q, &a, &b), cosine);
            }
        }

        #[test]
        fn what_f64_tells_apart_is_told_the_same(
            rows in (1usize..40).prop_flat_map(|d| prop::collection::vec((-1e6f32..1e6, -1e3f32..1e3, -1e-3f32..1e-3), d))
        ) {
            let (q, (a, b)): (Vec<f32>, (Vec<f32>, Vec<f32>)) =
                rows.iter().map(|&(q, a, b)| (q, (a, b))).unzip();
            for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
                let d = |x: &[f32]| annbench_core::distance(metric, Vector::F32(&q), Vector::F32(x));
                let (da, db) = (d(&a), d(&b));
                if (da - db).abs() > 1e-9 * (da.abs() + db.abs()) {
                    prop_assert_eq!(order(metric, &q, &a, &b), da.partial_cmp(&db).unwrap());
                }
            }
        }
    }
}
