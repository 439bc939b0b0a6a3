//! Where the time of a run goes when it is limited: which points come first, and which are not worth
//! measuring any more.
//!
//! [`schedule`] puts builds and points in an order that gives every curve early and sharpens it,
//! [`Allowance`] deals out the time of a budget, [`Evidence`] knows when a curve has got where it
//! was to go. [`Steering`] is the three together, as the runner asks them.

mod allowance;
mod saturation;
mod schedule;

pub use allowance::{Allowance, KnownBuild};
pub use saturation::Evidence;
pub use schedule::{Expected, Turn, coarse_turns, curves, reached};

use annbench_results::{Outcome, Record, SkipCause};
use annbench_runner::{BuildShare, Next, PlannedPoint, Steer};
use std::time::{Duration, Instant};

/// Points per curve that are measured once its index is there, whatever the clock says: ends and middle.
pub const COARSE: usize = 3;

/// Steers a run by `--budget` and `--stop-at-recall`.
pub struct Steering {
    stop_at_recall: Option<f64>,
    evidence: Evidence,
    allowance: Option<Allowance>,
}

impl Steering {
    /// Measures everything but what either forbids.
    pub fn new(stop_at_recall: Option<f64>, allowance: Option<Allowance>) -> Self {
        Self {
            stop_at_recall,
            evidence: Evidence::default(),
            allowance,
        }
    }

    /// A job with `points` to measure begins, and `waiting` others wait for their first turn in this
    /// round.
    pub fn begin_job(&mut self, points: &[PlannedPoint], waiting: usize) {
        if let Some(allowance) = &mut self.allowance {
            let coarse = COARSE * curves(points);
            allowance.begin_job(Instant::now(), coarse, waiting);
        }
    }
}

impl Steer for Steering {
    fn next(&mut self, point: &PlannedPoint, records: &[Record]) -> Next {
        if let Some(target) = self.stop_at_recall {
            self.evidence.take_in(records);
            if let Some(because) = self.evidence.saturated(point, records, target) {
                let cause = SkipCause::Recall;
                return Next::Skip { cause, because };
            }
        }
        match &mut self.allowance {
            Some(allowance) => allowance.next(Instant::now(), known_build(point, records)),
            None => Next::Measure,
        }
    }

    fn build_share(&mut self) -> Option<BuildShare> {
        let allowance = self.allowance.as_mut()?;
        Some(allowance.build_share(Instant::now()))
    }

    fn measured(&mut self, _: &PlannedPoint) {
        if let Some(allowance) = &mut self.allowance {
            allowance.measured();
        }
    }
}

/// What the latest build of the point's index took, everything around it included, or how long it went on
/// before it was stopped for want of time.
fn known_build(point: &PlannedPoint, records: &[Record]) -> Option<KnownBuild> {
    records.iter().rev().find_map(|record| match record {
        Record::Build(build) if !build.loaded && build.identity == point.identity.build => {
            let time = Duration::from_nanos(build.attempt_wall_ns);
            match build.outcome {
                Outcome::Ok => Some(KnownBuild::Took(time)),
                Outcome::Skipped { .. } => Some(KnownBuild::Stopped(time)),
                _ => None,
            }
        }
        _ => None,
    })
}
