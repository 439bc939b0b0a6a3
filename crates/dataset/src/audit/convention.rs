use annbench_core::{Metric, Vector, distance, norm};

/// What is written into files as a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convention {
    Euclidean,
    SquaredEuclidean,
    CosineSimilarity,
    OneMinusCosine,
    InnerProduct,
    NegatedInnerProduct,
    OneMinusInnerProduct,
    HammingCount,
    HammingFraction,
    JaccardDistance,
    JaccardSimilarity,
}

impl Convention {
    pub(super) const ALL: [Convention; 11] = [
        Convention::Euclidean,
        Convention::SquaredEuclidean,
        Convention::CosineSimilarity,
        Convention::OneMinusCosine,
        Convention::InnerProduct,
        Convention::NegatedInnerProduct,
        Convention::OneMinusInnerProduct,
        Convention::HammingCount,
        Convention::HammingFraction,
        Convention::JaccardDistance,
        Convention::JaccardSimilarity,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Convention::Euclidean => "l2",
            Convention::SquaredEuclidean => "squared_l2",
            Convention::CosineSimilarity => "cosine_similarity",
            Convention::OneMinusCosine => "one_minus_cosine",
            Convention::InnerProduct => "inner_product",
            Convention::NegatedInnerProduct => "negated_inner_product",
            Convention::OneMinusInnerProduct => "one_minus_inner_product",
            Convention::HammingCount => "hamming_count",
            Convention::HammingFraction => "hamming_fraction",
            Convention::JaccardDistance => "jaccard_distance",
            Convention::JaccardSimilarity => "jaccard_similarity",
        }
    }

    /// The metric that it is one of.
    pub(super) fn metric(self) -> Metric {
        match self {
            Convention::Euclidean | Convention::SquaredEuclidean => Metric::L2,
            Convention::CosineSimilarity | Convention::OneMinusCosine => Metric::Cosine,
            Convention::InnerProduct
            | Convention::NegatedInnerProduct
            | Convention::OneMinusInnerProduct => Metric::InnerProduct,
            Convention::HammingCount | Convention::HammingFraction => Metric::Hamming,
            Convention::JaccardDistance | Convention::JaccardSimilarity => Metric::Jaccard,
        }
    }

    /// The value of `q` and `x`, and how far from it one that was computed in f32 may be: a part of
    /// the value, and of the sums that it was made of, whose rounding a difference does not lose.
    pub(super) fn value(self, q: Vector<'_>, x: Vector<'_>) -> (f64, f64) {
        let d = distance(self.metric(), q, x);
        let (a, b) = (norm(q), norm(x));
        let (value, scale) = match self {
            Convention::Euclidean => (d.sqrt(), a + b),
            Convention::SquaredEuclidean => (d, a * a + b * b),
            Convention::CosineSimilarity | Convention::JaccardSimilarity => (1.0 - d, 1.0),
            Convention::OneMinusCosine | Convention::JaccardDistance => (d, 1.0),
            Convention::InnerProduct => (-d, a * b),
            Convention::NegatedInnerProduct => (d, a * b),
            Convention::OneMinusInnerProduct => (1.0 + d, 1.0 + a * b),
            Convention::HammingCount => (d, 0.0),
            Convention::HammingFraction => (d / q.dim() as f64, 0.0),
        };
        (value, 1e-4 * value.abs() + 1e-5 * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::Bits;

    #[test]
    fn values_of_a_small_pair() {
        let (q, x) = (Vector::F32(&[3.0, 4.0]), Vector::F32(&[0.0, 2.0]));
        for (convention, value) in [
            (Convention::Euclidean, 13f64.sqrt()),
            (Convention::SquaredEuclidean, 13.0),
            (Convention::CosineSimilarity, 0.8),
            (Convention::OneMinusCosine, 0.2),
            (Convention::InnerProduct, 8.0),
            (Convention::NegatedInnerProduct, -8.0),
            (Convention::OneMinusInnerProduct, -7.0),
        ] {
            let found = convention.value(q, x).0;
            assert!((found - value).abs() < 1e-12, "{convention:?}: {found}");
        }
        let bits = |bytes| Vector::Bits(Bits { bytes, dim: 8 });
        let (q, x) = (bits(&[0b1100_0000]), bits(&[0b1010_0000]));
        for (convention, value) in [
            (Convention::HammingCount, 2.0),
            (Convention::HammingFraction, 0.25),
            (Convention::JaccardDistance, 2.0 / 3.0),
            (Convention::JaccardSimilarity, 1.0 / 3.0),
        ] {
            let found = convention.value(q, x).0;
            assert!((found - value).abs() < 1e-12, "{convention:?}: {found}");
        }
    }

    #[test]
    fn every_convention_has_a_name_of_its_own() {
        let mut names = Convention::ALL.map(Convention::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Convention::ALL.len());
    }
}
