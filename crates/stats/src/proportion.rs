//! Intervals of proportions.

use statrs::distribution::{Beta, ContinuousCDF, DiscreteCDF, Hypergeometric, Normal};

/// Wilson's interval of `hits` of `trials` at two-sided `confidence`. `None` without trials, with more
/// hits than trials, or unless 0 < confidence < 1.
pub fn wilson(hits: f64, trials: f64, confidence: f64) -> Option<(f64, f64)> {
    let proper = trials > 0.0 && (0.0..=trials).contains(&hits);
    let z = upper_quantile((1.0 - confidence) / 2.0).filter(|_| proper)?;
    let p = hits / trials;
    let zz = z * z / trials;
    let centre = p + zz / 2.0;
    let half = z * (p * (1.0 - p) / trials + zz / (4.0 * trials)).sqrt();
    let scale = 1.0 + zz;
    Some((
        ((centre - half) / scale).max(0.0),
        ((centre + half) / scale).min(1.0),
    ))
}

/// z with P(Z > z) = `tail` for a standard normal Z.
pub(crate) fn upper_quantile(tail: f64) -> Option<f64> {
    let normal = Normal::new(0.0, 1.0).ok()?;
    (0.0 < tail && tail < 1.0).then(|| -normal.inverse_cdf(tail))
}

/// Clopper and Pearson's exact interval of `hits` of `trials` at two-sided `confidence`. `None` as for
/// [`wilson`].
pub fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> Option<(f64, f64)> {
    let alpha = 1.0 - confidence;
    let upper = clopper_pearson_upper(hits, trials, 1.0 - alpha / 2.0)?;
    // The lower end is the mirror image of the other outcome's upper one.
    let lower = 1.0 - clopper_pearson_upper(trials - hits, trials, 1.0 - alpha / 2.0)?;
    Some((lower, upper))
}

/// Clopper and Pearson's one-sided upper bound of a proportion of which `hits` of `trials` were seen, at
/// `confidence`: BetaInv(confidence; hits + 1, trials − hits). `None` as for [`wilson`].
pub fn clopper_pearson_upper(hits: u64, trials: u64, confidence: f64) -> Option<f64> {
    if trials == 0 || hits > trials || !(0.0 < confidence && confidence < 1.0) {
        return None;
    }
    if hits == trials {
        return Some(1.0);
    }
    if hits == 0 {
        // In closed form: 1 − (1 − confidence)^(1 / trials).
        return Some(-(((1.0 - confidence).ln() / trials as f64).exp_m1()));
    }
    let (a, b) = (hits as f64 + 1.0, (trials - hits) as f64);
    let beta = Beta::new(a, b).ok()?;
    // Bisected here: the distribution function falls short of nothing that its inverse would give.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        match beta.cdf(middle) < confidence {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high)
}

/// The most wrong ones there may be among `all`, when a sample of `sampled` without replacement showed
/// none, at `confidence`: the largest number with P(none seen) ≥ 1 − confidence. `None` when more were
/// sampled than there are, or none.
pub fn most_wrong(all: u64, sampled: u64, confidence: f64) -> Option<u64> {
    if sampled == 0 || sampled > all || !(0.0 < confidence && confidence < 1.0) {
        return None;
    }
    let unseen = |wrong: u64| {
        Hypergeometric::new(all, wrong, sampled).map_or(0.0, |seen| seen.cdf(0)) >= 1.0 - confidence
    };
    let (mut low, mut high) = (0, all - sampled);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match unseen(middle) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    Some(low)
}
