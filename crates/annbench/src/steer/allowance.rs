//! The time of a budget, dealt out to jobs.

use crate::args::Budget;
use crate::progress::{duration, plural};
use annbench_results::SkipCause;
use annbench_runner::{BuildShare, Next};
use std::time::{Duration, Instant};

/// What an earlier build of an index tells of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBuild {
    /// It took so long.
    Took(Duration),
    /// It was stopped after so long, and takes longer.
    Stopped(Duration),
}

impl KnownBuild {
    /// What the next one takes at least.
    fn least(self) -> Duration {
        match self {
            Self::Took(time) | Self::Stopped(time) => time,
        }
    }
}

/// A budget that is being spent. Every method takes the time that it is, so that a plan can be tried
/// without waiting.
#[derive(Clone, Debug)]
pub struct Allowance {
    budget: Budget,
    end: Instant,
    job_end: Instant,
    coarse_end: Instant,
    known: Option<KnownBuild>,
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
            coarse_end: end,
            known: None,
            waiting: 0,
            coarse: 0,
            measured: 0,
            built: false,
        }
    }

    /// A job begins and gets an equal share of what is left, for `waiting` others wait. Once its index is
    /// there, its first `coarse` points may take it beyond that, to half of what was left, and the first
    /// to the end.
    pub fn begin_job(&mut self, now: Instant, coarse: usize, waiting: usize) {
        let left = self.left(now);
        let share = left / u32::try_from(waiting + 1).unwrap_or(u32::MAX);
        self.job_end = now + share;
        self.coarse_end = now + if waiting == 0 { left } else { left / 2 };
        self.waiting = waiting;
        self.coarse = coarse;
        self.measured = 0;
        self.built = false;
    }

    /// What becomes of the next point of the job; `known` is what is known of its build.
    pub fn next(&mut self, now: Instant, known: Option<KnownBuild>) -> Next {
        self.known = known;
        let cause = SkipCause::Budget;
        let left = self.left(now);
        if left.is_zero() {
            return Next::Skip {
                cause,
                because: format!("the budget of {} was spent before its turn", self.budget),
            };
        }
        match known {
            Some(build) if !self.built && build.least() >= left => {
                let before = match build {
                    KnownBuild::Took(time) => format!("took {} before", duration(time)),
                    KnownBuild::Stopped(time) => {
                        format!("was stopped after {} before", duration(time))
                    }
                };
                return Next::Skip {
                    cause,
                    because: format!(
                        "its build {before}, and no more was left of the budget of {}",
                        self.budget
                    ),
                };
            }
            _ => {}
        }
        // An index that was built and not searched would be time for nothing.
        let has_had_its_turn = match self.measured {
            0 => false,
            measured if measured < self.coarse => now >= self.coarse_end,
            _ => now >= self.job_end,
        };
        if self.built && has_had_its_turn {
            return Next::Leave;
        }
        Next::Measure
    }

    /// What the build that begins may take: all that is left, or half of it while others wait, so that
    /// one build of unknown cost does not take everything. One that is known to need more than half gets
    /// all: half would be time for nothing.
    pub fn build_share(&mut self, now: Instant) -> BuildShare {
        self.built = true;
        let left = self.left(now);
        let of = format!("the budget of {}", self.budget);
        let half_is_futile = self.known.is_some_and(|known| known.least() >= left / 2);
        match self.waiting {
            waiting if waiting > 0 && !half_is_futile => BuildShare {
                time: left / 2,
                because: format!(
                    "its build was stopped after {}, half of what was left of {of}, for {} waited",
                    duration(left / 2),
                    plural(waiting, "other build")
                ),
            },
            _ => BuildShare {
                time: left,
                because: format!("{of} was spent during its build"),
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
        // The other coarse points may go on to half of what was left, and no farther.
        assert_eq!(allowance.next(start + 51 * SECOND, None), Next::Leave);
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
        let Next::Skip { because, .. } = allowance.next(start + 100 * SECOND, None) else {
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
        let took = |seconds: u32| Some(KnownBuild::Took(seconds * SECOND));
        assert_eq!(allowance.next(now, took(29)), Next::Measure);
        let Next::Skip { because, .. } = allowance.next(now, took(30)) else {
            panic!("it was begun");
        };
        assert!(because.contains("took 30 s before"), "{because}");
        // Once the index is there, its build is no matter.
        allowance.build_share(now);
        assert_eq!(allowance.next(now, took(30)), Next::Measure);
    }

    #[test]
    fn a_build_that_needs_more_than_half_is_not_begun_for_half() {
        let start = Instant::now();
        let mut allowance = allowance(start);
        for (known, granted) in [
            (None, 50),
            (Some(KnownBuild::Took(40 * SECOND)), 50),
            (Some(KnownBuild::Took(60 * SECOND)), 100),
            (Some(KnownBuild::Stopped(50 * SECOND)), 100),
        ] {
            allowance.begin_job(start, 3, 2);
            assert_eq!(allowance.next(start, known), Next::Measure);
            assert_eq!(
                allowance.build_share(start).time,
                granted * SECOND,
                "{known:?}"
            );
        }
    }
}
