//! Whether every stratum reaches a bar, when none is known exactly.

use crate::proportion::upper_quantile;

/// What is known of a stratum.
#[derive(Clone, Debug, PartialEq)]
pub struct StratumMean {
    /// Its mean: of a value between 0 and 1 over units, or over what units hold, as the share found of all
    /// pairs is.
    pub mean: f64,
    /// The mean's standard error over units.
    pub standard_error: f64,
    /// What it is a mean over.
    pub units: Units,
}

/// Units drawn independently of one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Units {
    /// So many, each of which counts as much as any other.
    Alike(u64),
    /// How much each counts: of how many pairs a query is. Units of weight 0 are none.
    Weighing(Vec<u32>),
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
        let hidden = self.units.hidden_share(level);
        let (lower, upper) = match self.standard_error > 0.0 {
            true => (
                self.mean - z * self.standard_error,
                self.mean + z * self.standard_error,
            ),
            // What was seen is alike: all else is hidden.
            false => (
                self.mean * (1.0 - hidden),
                self.mean * (1.0 - hidden) + hidden,
            ),
        };
        // A worse sample shows no more than one without a fault, nor a better one than one without a hit.
        StratumVerdict {
            lower: lower.min(1.0 - hidden),
            upper: upper.max(hidden),
        }
    }
}

impl Units {
    /// The largest share of the weight that may be otherwise where nothing was otherwise in this sample,
    /// at the one-sided `level`; 1 of no units.
    ///
    /// With f_i the chance that unit i is otherwise, none being so has the chance prod (1 − f_i), which is
    /// below `level` unless sum −ln(1 − f_i) ≤ ln(1 / level). Under this bound sum w_i f_i is largest, by
    /// Lagrange, where 1 − f_i = min(1, c / w_i), with c such that sum ln(w_i / c) over w_i > c is
    /// ln(1 / level): the share is then sum (w_i − c) over these, over sum w_i. Of m equal weights it is
    /// 1 − level^(1/m), and never more than that times the largest over the mean weight.
    fn hidden_share(&self, level: f64) -> f64 {
        let weights = match self {
            Self::Alike(units) => return 1.0 - level.powf(1.0 / (*units).max(1) as f64),
            Self::Weighing(weights) => weights,
        };
        let mut heaviest_first: Vec<u32> = weights.iter().copied().filter(|&w| w > 0).collect();
        heaviest_first.sort_unstable_by(|a, b| b.cmp(a));
        let total: f64 = heaviest_first.iter().map(|&w| f64::from(w)).sum();
        let allowed = -level.ln();
        let (mut heavier, mut sum, mut logarithms) = (0.0, 0.0, 0.0);
        for (number, &weight) in heaviest_first.iter().enumerate() {
            let weight = f64::from(weight);
            heavier += 1.0;
            sum += weight;
            logarithms += weight.ln();
            let c = ((logarithms - allowed) / heavier).exp();
            // The units above c are these when the next is not above it.
            let next = heaviest_first
                .get(number + 1)
                .map_or(0.0, |&w| f64::from(w));
            if next <= c {
                return (sum - heavier * c) / total;
            }
        }
        1.0
    }
}

/// Judges the strata that did not abstain, each with one-sided bounds at level 1 − alpha / (2 S) over the S
/// of them (Bonferroni): pass when every lower bound reaches `bar` and `required_abstained` is false, fail
/// when an upper bound is below it. With no stratum left nothing is shown.
///
/// A bound is the mean and as many standard errors as a normal distribution asks for. Where the standard error
/// is 0 all that was seen is alike, and the bounds are those of the share that may be otherwise all the same:
/// of m units 1 - level^(1/m), of units that weigh differently as much as the heaviest of them may hide,
/// given their weights. No lower bound is above, and no upper one below, what a sample of these units
/// without a fault, and without a hit, has.
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
