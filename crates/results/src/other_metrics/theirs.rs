//! The recalls of two other suites, as their code computes them, so that figures can be compared with
//! theirs. Both give more than a true top-k set has in common with the answer where rows tie.

use annbench_core::Metric;

/// ann-benchmarks' slack, absolute, whatever the scale (`plotting/metrics.py`, `knn_threshold`).
pub(super) const ANN_BENCHMARKS_SLACK: f64 = 1e-3;
/// big-ann-benchmarks' width of a tie, absolute (`benchmark/plotting/metrics.py`).
pub(super) const BIG_ANN_TIE: f64 = 1e-6;

/// Entries at most `bound` far, repeats counted each time: the numerator of a recall by a threshold of
/// distance.
pub fn slots_within(distances: impl IntoIterator<Item = f64>, bound: f64) -> usize {
    distances.into_iter().filter(|&d| d <= bound).count()
}

/// Columns of a truth row, ascending, that are the first `k` or less than `tie` from the k-th. Rows
/// that tie beyond the last column are not seen. `None` where there are fewer than `k` or `k` is 0.
pub fn extended_truth_width(distances: &[f64], k: usize, tie: f64) -> Option<usize> {
    let kth = *distances.get(k.checked_sub(1)?)?;
    let beyond = distances[k..].iter();
    Some(k + beyond.take_while(|&&d| (d - kth).abs() < tie).count())
}

/// How a value of `metric` becomes the distance of ann-benchmarks (`ann_benchmarks/distance.py`):
/// Euclidean, not squared; 1 - cos; share of differing bits; 1 - Jaccard similarity.
///
/// # Errors
/// For a metric that it does not have.
pub(super) fn ann_benchmarks_distance(
    metric: Metric,
    dim: usize,
) -> Result<impl Fn(f64) -> f64 + Copy, String> {
    let (root, scale) = match metric {
        Metric::L2 => (true, 1.0),
        Metric::Cosine | Metric::Jaccard => (false, 1.0),
        Metric::Hamming => (false, dim as f64),
        other => return Err(format!("ann-benchmarks has no {other}")),
    };
    Ok(move |d: f64| match root {
        true => d.sqrt(),
        false => d / scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_ann_benchmarks() {
        for (metric, d, theirs) in [
            (Metric::L2, 9.0, 3.0),
            (Metric::Cosine, 0.25, 0.25),
            (Metric::Hamming, 16.0, 0.25),
            (Metric::Jaccard, 0.5, 0.5),
        ] {
            let distance = ann_benchmarks_distance(metric, 64).expect("it has this one");
            assert_eq!(distance(d), theirs, "{metric}");
        }
        assert!(ann_benchmarks_distance(Metric::InnerProduct, 64).is_err());
    }

    #[test]
    fn a_truth_row_is_extended_as_far_as_it_is_wide() {
        assert_eq!(
            extended_truth_width(&[1.0, 2.0, 2.0, 2.0], 2, 1e-6),
            Some(4)
        );
        assert_eq!(
            extended_truth_width(&[1.0, 2.0, 2.1, 2.0], 2, 1e-6),
            Some(2)
        );
        assert_eq!(extended_truth_width(&[1.0, 2.0], 2, 1e-6), Some(2));
        assert_eq!(extended_truth_width(&[1.0], 2, 1e-6), None);
        assert_eq!(extended_truth_width(&[1.0], 0, 1e-6), None);
    }
}
