//! Whether every stratum reaches a recall.

use annbench_stats::{Outcome, StratumMean, min_over_strata};
use serde::{Deserialize, Serialize};

/// Recalls at which the outcome over all strata is told.
pub const BARS: [f64; 3] = [0.90, 0.95, 0.99];
/// One-sided error over all strata together, and on either side.
const ALPHA: f64 = 0.05;

/// Whether every stratum reaches a recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The recall.
    pub recall: f64,
    /// What is shown.
    pub outcome: StratumOutcome,
    /// What it is shown by; absent where an earlier version scored, which passed without strata that
    /// abstained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<BarStrata>,
}

/// The strata of an outcome: those that must reach the recall, and all queries where no thirds of them do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarStrata {
    /// Those with bounds; as many share the error.
    pub judged: Vec<Stratum>,
    /// Those that have too few queries or pairs for bounds, or cannot be told at all.
    pub abstained: Vec<Stratum>,
}

/// A part of the queries, or of the pairs of a query and a true neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stratum {
    /// The third of the queries that is easiest.
    EasyThird,
    /// The third between.
    MiddleThird,
    /// The third that is hardest.
    HardThird,
    /// All scored queries, in the place of thirds that do not have bounds.
    AllQueries,
    /// The pairs whose row is rarely among the nearest of others.
    AntiHubs,
}

impl Stratum {
    /// The thirds, from easy to hard.
    pub const THIRDS: [Self; 3] = [Self::EasyThird, Self::MiddleThird, Self::HardThird];

    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::EasyThird => "easy third",
            Self::MiddleThird => "middle third",
            Self::HardThird => "hard third",
            Self::AllQueries => "all queries",
            Self::AntiHubs => "anti-hubs",
        }
    }
}

/// What is shown of all strata together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StratumOutcome {
    /// Every stratum's lower bound reaches it, and none abstained.
    Pass,
    /// A stratum's upper bound is below it.
    Fail,
    /// Neither.
    Inconclusive,
}

impl StratumOutcome {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The outcomes over `strata`, each with its mean, or nothing where it abstains. All are required: one that
/// abstains keeps the others from passing.
pub(super) fn bars(strata: Vec<(Stratum, Option<StratumMean>)>) -> Vec<Bar> {
    let (mut judged, mut means, mut abstained) = (Vec::new(), Vec::new(), Vec::new());
    for (stratum, mean) in strata {
        match mean {
            Some(mean) => {
                judged.push(stratum);
                means.push(mean);
            }
            None => abstained.push(stratum),
        }
    }
    let strata = BarStrata { judged, abstained };
    BARS.into_iter()
        .filter_map(|recall| {
            let outcome = outcome(&means, &strata, recall)?;
            Some(Bar {
                recall,
                outcome,
                strata: Some(strata.clone()),
            })
        })
        .collect()
}

fn outcome(means: &[StratumMean], strata: &BarStrata, recall: f64) -> Option<StratumOutcome> {
    let (outcome, _) = min_over_strata(means, !strata.abstained.is_empty(), recall, ALPHA)?;
    Some(match outcome {
        Outcome::Pass => StratumOutcome::Pass,
        Outcome::Fail => StratumOutcome::Fail,
        Outcome::Inconclusive => StratumOutcome::Inconclusive,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_stats::Units;

    fn mean(mean: f64, sd: f64, m: u64) -> Option<StratumMean> {
        Some(StratumMean {
            mean,
            standard_error: sd / (m as f64).sqrt(),
            units: Units::Alike(m),
        })
    }

    fn outcomes(strata: Vec<(Stratum, Option<StratumMean>)>) -> Vec<StratumOutcome> {
        bars(strata).iter().map(|bar| bar.outcome).collect()
    }

    /// A: 400 queries, 0.97; B: 150, 0.91; C: 60, which are too few.
    #[test]
    fn w15_bounds_that_hold_the_recall_decide_nothing() {
        use StratumOutcome::{Fail, Inconclusive, Pass};
        let (a, b) = (mean(0.97, 0.06, 400), mean(0.91, 0.15, 150));
        let of = |third, anti_hubs| {
            vec![
                (Stratum::EasyThird, a.clone()),
                (Stratum::HardThird, third),
                (Stratum::AntiHubs, anti_hubs),
            ]
        };
        // B lies in [0.8825, 0.9375]: by point estimates all would pass at 0.90.
        let found = bars(of(b.clone(), None));
        assert_eq!(found[0].outcome, Inconclusive);
        let strata = found[0].strata.as_ref().unwrap();
        assert_eq!(strata.judged, [Stratum::EasyThird, Stratum::HardThird]);
        assert_eq!(strata.abstained, [Stratum::AntiHubs]);
        assert_eq!(outcomes(of(b, None)), [Inconclusive, Fail, Fail]);
        // A alone passes; with C beside it nothing does, and A still fails where it fails.
        let alone = vec![(Stratum::EasyThird, a.clone())];
        assert_eq!(outcomes(alone), [Pass, Pass, Fail]);
        assert_eq!(outcomes(of(None, None)), [Inconclusive, Inconclusive, Fail]);
        assert_eq!(
            outcomes(of(a.clone(), None)),
            [Inconclusive, Inconclusive, Fail]
        );
        assert_eq!(outcomes(of(a.clone(), a.clone())), [Pass, Pass, Fail]);
        assert_eq!(outcomes(Vec::new()), [Inconclusive; 3]);
    }
}
