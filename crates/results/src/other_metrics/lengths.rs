use annbench_core::Metric;

/// How a value of `metric` becomes a distance whose ratios mean something.
///
/// # Errors
/// Why it does not: values that may be negative have no ratios.
pub fn length(metric: Metric) -> Result<fn(f64) -> f64, String> {
    match metric {
        Metric::L2 => Ok(f64::sqrt),
        // Between unit vectors |q - x|² = 2 (1 - cos).
        Metric::Cosine => Ok(|d| (2.0 * d).max(0.0).sqrt()),
        Metric::Hamming | Metric::Jaccard => Ok(|d| d),
        Metric::InnerProduct => Err("inner products are no distances".to_owned()),
        other => Err(format!("{other} is not known to be a distance")),
    }
}
