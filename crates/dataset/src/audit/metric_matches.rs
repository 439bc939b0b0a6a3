use super::agreement::{COMPARED, SAME, agreement};
use super::probe::Probe;
use super::subject::Subject;
use super::{Finding, Rule};
use crate::DatasetError;
use annbench_core::Metric;

/// How well the truth fits each metric that its vectors have.
pub(super) struct Fits {
    /// The queries that were looked at.
    pub(super) asked: Vec<u32>,
    own: Metric,
    /// The share of true neighbours under each metric; the entry's first.
    pub(super) shares: Vec<(Metric, f64)>,
}

/// From this share on, it is needless to ask whether another metric fits better.
const SETTLED: f64 = 0.9999;

impl Fits {
    /// Compares the truth of some of the probe's queries; `None` where there is no truth. Other
    /// metrics are left out where the entry's fits and nobody wants to know.
    pub(super) fn new(
        subject: &Subject<'_>,
        probe: &Probe,
        all: bool,
    ) -> Result<Option<Self>, DatasetError> {
        let Ok(claimed) = subject.claimed() else {
            return Ok(None);
        };
        let step = probe.asked.len().div_ceil(COMPARED).max(1);
        let asked: Vec<u32> = probe.asked.iter().copied().step_by(step).collect();
        let claims = |q: usize| claimed.row(q).to_vec();
        let mut shares = Vec::new();
        let own = subject.metric;
        let others = subject.metrics().filter(|&metric| metric != own);
        for metric in std::iter::once(own).chain(others) {
            let share = agreement(subject, &claims, &asked, subject.base, metric, 0)?;
            shares.push((metric, share));
            if share >= SETTLED && !all {
                break;
            }
        }
        Ok(Some(Self { asked, own, shares }))
    }

    /// None: nothing was compared.
    pub(super) fn none(own: Metric) -> Self {
        Self {
            asked: Vec::new(),
            own,
            shares: Vec::new(),
        }
    }

    fn own_share(&self) -> f64 {
        self.shares.first().map_or(0.0, |&(_, share)| share)
    }

    /// The metric that fits best; of equal ones the entry's.
    pub(super) fn best(&self) -> (Metric, f64) {
        let mut best = (self.own, self.own_share());
        for &(metric, share) in &self.shares {
            if share > best.1 {
                best = (metric, share);
            }
        }
        best
    }

    /// Whether the truth is that of the entry's metric and of `metric`, one as much as the other.
    pub(super) fn is_alike(&self, metric: Metric) -> bool {
        let own = self.own_share();
        let share = self.shares.iter().find(|(other, _)| *other == metric);
        own >= SAME && share.is_some_and(|&(_, share)| (share - own).abs() <= 0.001)
    }

    pub(super) fn in_words(&self) -> String {
        let shares = self.shares.iter();
        let shares: Vec<String> = shares
            .map(|(metric, share)| format!("{share:.4} by {metric}"))
            .collect();
        shares.join(", ")
    }
}

/// That the truth is that of the entry's metric.
pub(super) fn metric_matches(subject: &Subject<'_>, fits: Option<&Fits>) -> Finding {
    let rule = Rule::MetricMatches;
    let fits = match (subject.claimed(), fits) {
        (Ok(_), Some(fits)) => fits,
        (Err(why), _) => return Finding::cannot_tell(rule, why),
        (Ok(_), None) => return Finding::cannot_tell(rule, super::TOO_LARGE),
    };
    let (best, share) = fits.best();
    let own = fits.own_share();
    let said = format!(
        "share of the truth of {} queries that is true: {}",
        fits.asked.len(),
        fits.in_words()
    );
    // What is wrong under the better metric is far less than what is wrong under the entry's.
    let better = best != subject.metric && share >= SAME && 1.0 - own > 2.0 * (1.0 - share) + 0.001;
    let finding = if better {
        Finding::violated(
            rule,
            format!(
                "the truth is that of {best}, not of {}; {said}",
                subject.metric
            ),
            format!(
                "write `metric: {best}` in the entry, or use truth of {}",
                subject.metric
            ),
        )
    } else if own >= SAME {
        Finding::holds(rule, said)
    } else {
        Finding::cannot_tell(rule, format!("it is the truth of none; {said}"))
            .next("see corpus_matches")
    };
    let shares = fits.shares.iter();
    shares.fold(finding, |finding, (metric, share)| {
        finding.with(metric.name(), *share)
    })
}
