/// Robustness-delta: the share of queries with a recall of at least `delta`, from the queries with 0, 1,
/// ... k hits; `None` without queries or with k = 0.
///
/// Compared in hits over k, so that a query of recall 9/10 reaches 0.9 whatever either rounds to.
pub fn robustness(queries_by_hits: &[u64], delta: f64) -> Option<f64> {
    let k = queries_by_hits.len().checked_sub(1).filter(|&k| k > 0)?;
    // A record may come from anyone: sums in f64 do not overflow, and are exact for any real one.
    let sum = |queries: f64, more: &u64| queries + *more as f64;
    let all = queries_by_hits.iter().fold(0.0, sum);
    let reach = |hits: usize| hits as f64 / k as f64 >= delta;
    let reached = queries_by_hits
        .iter()
        .enumerate()
        .filter(|&(hits, _)| reach(hits))
        .map(|(_, queries)| queries)
        .fold(0.0, sum);
    (all > 0.0).then(|| reached / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w12_robustness_is_a_share_of_queries() {
        // k = 10: one 0.2, one 0.6, eight 0.9, ten 1.0.
        let mut by_hits = [0; 11];
        (by_hits[2], by_hits[6], by_hits[9], by_hits[10]) = (1, 1, 8, 10);
        assert_eq!(robustness(&by_hits, 0.6), Some(0.95));
        assert_eq!(robustness(&by_hits, 0.9), Some(0.90));
        assert_eq!(robustness(&by_hits, 1.0), Some(0.5));
        assert_eq!(robustness(&[0, 0], 0.5), None);
        assert_eq!(robustness(&[3], 0.5), None);
    }
}
