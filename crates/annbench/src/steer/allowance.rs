//! The time of a budget, dealt out to jobs.

use crate::args::Budget;
use crate::progress::duration;
use annbench_runner::{BuildShare, Next};
use std::time::{Duration, Instant};

/// A budget that is being spent. Every method takes the time that it is, so that a plan can be tried
/// without waiting.
#[derive(Clone, Debug)]
pub struct Allowance {
    budget: Budget,
    end: Instant,
    job_end: Instant,
    waiting: usize,
    coarse: usize,
    measured: usize,
    built: bool,
}

impl Allowance {
    /// `budget`, counted from `start`.
    pub fn new(budget: Budget, start: Instant) -> Self {
        // What no clock can hold has no end to come to.
        let far = Duration::from_secs(u32::MAX.into());
        let end = start + budget.time.min(far);
        Self {
            budget,
            end,
            job_end: end,
            waiting: 0,
            coarse: 0,
            measured: 0,
            built: false,
        }
    }

    /// A job begins and gets an equal share of what is left, for `waiting` others wait. Its first
    /// `coarse` points are measured beyond that, once their index is there.
    pub fn begin_job(&mut self, now: Instant, coarse: usize, waiting: usize) {
        let share = self.left(now) / u32::try_from(waiting + 1).unwrap_or(u32::MAX);
        self.job_end = now + share;
        self.waiting = waiting;
        self.coarse = coarse;
        self.measured = 0;
        self.built = false;
    }

    /// What becomes of the next point of the job; `rebuild_ns` is what its build took before, if there
    /// was one.
    pub fn next(&self, now: Instant, rebuild_ns: Option<u64>) -> Next {
        let left = self.left(now);
        if left.is_zero() {
            return Next::Skip {
                because: format!("the budget of {} was spent before its turn", self.budget),
            };
        }
        match rebuild_ns.map(Duration::from_nanos) {
            Some(build) if !self.built && build >= left => {
                return Next::Skip {
                    because: format!(
                        "its build took {} before, more than was left of the budget of {}",
                        duration(build),
                        self.budget
                    ),
                };
            }
            _ => {}
        }
        // An index that was built and not searched would be time for nothing.
        if self.built && self.measured >= self.coarse.max(1) && now >= self.job_end {
            return Next::Leave;
        }
        Next::Measure
    }

    /// What the build that begins may take: all that is left, or half of it while others wait, so that
    /// one build of unknown cost does not take everything.
    pub fn build_share(&mut self, now: Instant) -> BuildShare {
        self.built = true;
        let left = self.left(now);
        let of = format!("the budget of {}", self.budget);
        match self.waiting {
            0 => BuildShare {
                time: left,
                because: format!("{of} was spent during its build"),
            },
            waiting => BuildShare {
                time: left / 2,
                because: format!(
                    "its build was stopped after {}, half of what was left of {of}, for {waiting} \
                     other builds waited",
                    duration(left / 2)
                ),
            },
        }
    }

    /// A point of the job was measured.
    pub fn measured(&mut self) {
        self.measured += 1;
    }

    /// When the budget is spent.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// What is left of the budget.
    pub fn left(&self, now: Instant) -> Duration {
        self.end.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn allowance(start: Instant) -> Allowance {
        let time = 100 * SECOND;
        Allowance::new(Budget { time }, start)
    }

    #[test]
    fn a_job_gets_an_equal_share_and_its_coarse_points_beyond_it() {
        let start = Instant::now();
        let mut allowance = allowance(start);
        allowance.begin_job(start, 2, 3);
        assert_eq!(allowance.next(start, None), Next::Measure);
        assert_eq!(allowance.build_share(start).time, 50 * SECOND);
        let late = start + 30 * SECOND;
        assert_eq!(allowance.next(late, None), Next::Measure);
        allowance.measured();
        assert_eq!(allowance.next(late, None), Next::Measure);
        allowance.measured();
        assert_eq!(allowance.next(late, None), Next::Leave);
        assert_eq!(allowance.next(start + 24 * SECOND, None), Next::Measure);
    }

    #[test]
    fn the_last_build_may_take_all_that_is_left() {
        let start = Instant::now();
        let mut allowance = allowance(start);
        allowance.begin_job(start + 40 * SECOND, 1, 0);
        assert_eq!(allowance.build_share(start + 40 * SECOND).time, 60 * SECOND);
    }

    #[test]
    fn after_the_budget_nothing_begins() {
        let start = Instant::now();
        let mut allowance = allowance(start);
        allowance.begin_job(start, 3, 0);
        let Next::Skip { because } = allowance.next(start + 100 * SECOND, None) else {
            panic!("it went on");
        };
        assert_eq!(because, "the budget of 100s was spent before its turn");
    }

    #[test]
    fn a_build_that_is_known_not_to_fit_is_not_begun() {
        let start = Instant::now();
        let mut allowance = allowance(start);
        allowance.begin_job(start, 3, 0);
        let now = start + 70 * SECOND;
        assert_eq!(allowance.next(now, Some(29_000_000_000)), Next::Measure);
        let Next::Skip { because } = allowance.next(now, Some(30_000_000_000)) else {
            panic!("it was begun");
        };
        assert!(because.contains("took 30 s before"), "{because}");
        // Once the index is there, its build is no matter.
        allowance.build_share(now);
        assert_eq!(allowance.next(now, Some(30_000_000_000)), Next::Measure);
    }
}
