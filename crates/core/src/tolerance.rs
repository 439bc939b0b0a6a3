use crate::{ElementType, Metric};

/// How far apart two f64 distances may be and still be the same mathematical distance.
///
/// Integer arithmetic needs none: it covers bytes under l2 and inner product, hamming counts, and
/// jaccard, where fractions of numbers below 2^26 are equal in f64 exactly when they are equal. In f64, with u = 2^-53 and gamma_m = m u / (1 - m u) bounding
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
        let exact = element.is_integer() && metric != Metric::Cosine;
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
            // Defined on integers only.
            Metric::Hamming | Metric::Jaccard => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_band_of_integers_is_zero_and_of_cosine_absolute() {
        for (metric, element) in [
            (Metric::L2, ElementType::U8),
            (Metric::InnerProduct, ElementType::I8),
            (Metric::Hamming, ElementType::Bits),
            (Metric::Jaccard, ElementType::Sets),
        ] {
            assert_eq!(
                TieTolerance::new(metric, element, 128, 9.0).at(5.0, 9.0),
                0.0
            );
        }
        assert!(TieTolerance::new(Metric::L2, ElementType::F16, 128, 0.0).at(5.0, 0.0) > 0.0);
        let cosine = TieTolerance::new(Metric::Cosine, ElementType::I8, 128, 0.0);
        assert_eq!(cosine.at(0.0, 0.0), cosine.at(1.0, 0.0));
        assert!(cosine.at(0.0, 0.0) > 0.0);
    }
}
