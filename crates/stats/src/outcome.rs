//! Whether every stratum reaches a bar, when none is known exactly.

use crate::proportion::upper_quantile;

/// What is known of a stratum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StratumMean {
    /// Its mean.
    pub mean: f64,
    /// The mean's standard error.
    pub standard_error: f64,
    /// Units that it is a mean over, each between 0 and 1.
    pub units: u64,
}

/// What can be said. An empty or abstaining stratum is never a number and never a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every eligible stratum reaches the bar, and no required one abstained.
    Pass,
    /// Some stratum does not.
    Fail,
    /// Neither is shown.
    Inconclusive,
}

/// A stratum's bounds against the bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StratumVerdict {
    /// One-sided lower bound.
    pub lower: f64,
    /// One-sided upper bound.
    pub upper: f64,
}

impl StratumMean {
    fn verdict(&self, z: f64, level: f64) -> StratumVerdict {
        if self.standard_error > 0.0 {
            return StratumVerdict {
                lower: self.mean - z * self.standard_error,
                upper: self.mean + z * self.standard_error,
            };
        }
        // All units alike: that others are not has a share of at most 1 - level^(1 / units).
        let others = 1.0 - level.powf(1.0 / self.units.max(1) as f64);
        StratumVerdict {
            lower: self.mean * (1.0 - others),
            upper: self.mean * (1.0 - others) + others,
        }
    }
}

/// Judges the strata that did not abstain, each with one-sided bounds at level 1 − alpha / (2 S) over the S
/// of them (Bonferroni): pass when every lower bound reaches `bar` and `required_abstained` is false, fail
/// when an upper bound is below it. With no stratum left nothing is shown.
///
/// Where all units of a stratum are alike its standard error is 0, and its bounds are those of the share of
/// units that may be otherwise (for 0 of m seen, 1 - level^(1/m)).
///
/// Never the minimum of point estimates: it is biased down by chance, the more the more strata there are.
/// `None` unless 0 < alpha < 1.
pub fn min_over_strata(
    strata: &[StratumMean],
    required_abstained: bool,
    bar: f64,
    alpha: f64,
) -> Option<(Outcome, Vec<StratumVerdict>)> {
    if !(0.0 < alpha && alpha < 1.0) {
        return None;
    }
    if strata.is_empty() {
        return Some((Outcome::Inconclusive, Vec::new()));
    }
    let level = alpha / (2.0 * strata.len() as f64);
    let z = upper_quantile(level)?;
    let verdicts: Vec<StratumVerdict> = strata
        .iter()
        .map(|stratum| stratum.verdict(z, level))
        .collect();
    let outcome = if verdicts.iter().any(|verdict| verdict.upper < bar) {
        Outcome::Fail
    } else if !required_abstained && verdicts.iter().all(|verdict| verdict.lower >= bar) {
        Outcome::Pass
    } else {
        Outcome::Inconclusive
    };
    Some((outcome, verdicts))
}
