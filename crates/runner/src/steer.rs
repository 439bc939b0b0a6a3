//! What decides, while a job runs, which of its points are still worth their time.

use crate::planned::PlannedPoint;
use annbench_results::{Record, SkipCause};
use std::time::Duration;

/// What becomes of a point whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is measured.
    Measure,
    /// It is not, and its record says why.
    Skip {
        /// What kind of reason.
        cause: SkipCause,
        /// Why, for the record.
        because: String,
    },
    /// It and those after it are left without a record: the caller comes back to them.
    Leave,
}

/// The time that a build may take of a run whose time is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildShare {
    /// The time.
    pub time: Duration,
    /// What is said of a build that needs more, for the record.
    pub because: String,
}

/// Decides which points are measured.
pub trait Steer {
    /// Asked before a build for each of its points, and before each point again. `records` is
    /// everything in the store, in order.
    fn next(&mut self, point: &PlannedPoint, records: &[Record]) -> Next;

    /// The time of the build that is about to begin, where it is less than the campaign's limit. One
    /// that needs more ends as skipped, not as failed: the library is not to blame.
    fn build_share(&mut self) -> Option<BuildShare>;

    /// A point has been measured, or has failed.
    fn measured(&mut self, point: &PlannedPoint);
}

/// Measures everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Steer for Everything {
    fn next(&mut self, _: &PlannedPoint, _: &[Record]) -> Next {
        Next::Measure
    }

    fn build_share(&mut self) -> Option<BuildShare> {
        None
    }

    fn measured(&mut self, _: &PlannedPoint) {}
}
