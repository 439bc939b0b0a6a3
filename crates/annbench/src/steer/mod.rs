//! Where the time of a run goes when it is limited: which points come first, and which are not worth
//! measuring any more.
//!
//! [`schedule`] puts builds and points in an order that gives every curve early and sharpens it,
//! [`Allowance`] deals out the time of a budget, [`saturated`] knows when a curve has got where it
//! was to go. [`Steering`] is the three together, as the runner asks them.

mod allowance;
mod saturation;
mod schedule;

pub use allowance::Allowance;
pub use saturation::saturated;
pub use schedule::{Expected, Turn, coarse_turns, curves, reached};

use annbench_results::Record;
use annbench_runner::{BuildShare, Next, PlannedPoint, Steer};
use std::time::Instant;

/// Points per curve that are measured once its index is there, whatever the clock says: ends and middle.
pub const COARSE: usize = 3;

/// Steers a run by `--budget` and `--stop-at-recall`.
pub struct Steering {
    stop_at_recall: Option<f64>,
    allowance: Option<Allowance>,
}

impl Steering {
    /// Measures everything but what either forbids.
    pub fn new(stop_at_recall: Option<f64>, allowance: Option<Allowance>) -> Self {
        Self {
            stop_at_recall,
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
        let saturated = self
            .stop_at_recall
            .and_then(|target| saturated(point, records, target));
        if let Some(because) = saturated {
            return Next::Skip { because };
        }
        match &self.allowance {
            Some(allowance) => allowance.next(Instant::now(), rebuild_ns(point, records)),
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

/// What the latest build of the point's index took, everything around it included.
fn rebuild_ns(point: &PlannedPoint, records: &[Record]) -> Option<u64> {
    records.iter().rev().find_map(|record| match record {
        Record::Build(build)
            if build.report.is_some()
                && !build.loaded
                && build.identity == point.identity.build =>
        {
            Some(build.attempt_wall_ns)
        }
        _ => None,
    })
}
