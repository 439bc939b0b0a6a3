//! What a budget reaches.

use crate::args::Budget;
use crate::estimate::Estimate;
use crate::steer::{Allowance, Expected, reached};
use std::fmt;
use std::time::Instant;

/// How far a budget goes.
#[derive(Clone, Copy)]
pub struct Reach {
    /// The budget.
    pub budget: Budget,
    /// Points; `None` when the time of a part of them is unknown.
    pub points: Option<usize>,
}

impl Reach {
    /// How far `budget` goes with builds of which each is expected to take so long, and makes so many
    /// curves.
    pub fn of(budget: Budget, estimates: &[(Estimate, usize)]) -> Self {
        let expected: Option<Vec<Expected>> = estimates
            .iter()
            .map(|(estimate, curves)| {
                Some(Expected {
                    build: estimate.build?,
                    points: estimate.points.iter().copied().collect::<Option<_>>()?,
                    curves: *curves,
                })
            })
            .collect();
        let start = Instant::now();
        let points =
            expected.map(|expected| reached(Allowance::new(budget, start), start, &expected));
        Self { budget, points }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a budget of {} reaches ", self.budget)?;
        match self.points {
            Some(points) => write!(
                f,
                "about {points} of the searches, self-test and opening of datasets aside"
            ),
            None => f.write_str("an unknown part of them"),
        }
    }
}
