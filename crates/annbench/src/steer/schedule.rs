//! In which order jobs and points come when time is short.

use crate::steer::{Allowance, KnownBuild};
use annbench_core::Mode;
use annbench_runner::{Next, PlannedPoint};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A number for each of `n` positions, such that taking them by that number gives the first, the middle
/// and the last, then what halves the gaps: a curve that is early there and sharpens.
pub fn coarse_first(n: usize) -> Vec<usize> {
    let mut ranks = vec![0; n];
    let Some(last) = n.checked_sub(1) else {
        return ranks;
    };
    let mut order = vec![0];
    // Gaps whose middle is still to come, the widest first.
    let mut gaps = std::collections::VecDeque::from([(0, last)]);
    let mut end_is_due = last > 0;
    while let Some((from, to)) = gaps.pop_front() {
        let middle = from + (to - from) / 2;
        if middle > from {
            order.push(middle);
            gaps.push_back((from, middle));
            gaps.push_back((middle, to));
        }
        if end_is_due {
            order.push(last);
            end_is_due = false;
        }
    }
    for (rank, position) in order.into_iter().enumerate() {
        ranks[position] = rank;
    }
    ranks
}

/// The number that [`coarse_first`] gives each of `groups` among those equal to it.
fn ranks_within<G: Ord>(groups: &[G]) -> Vec<usize> {
    let mut positions: BTreeMap<&G, Vec<usize>> = BTreeMap::new();
    for (position, group) in groups.iter().enumerate() {
        positions.entry(group).or_default().push(position);
    }
    let mut ranks = vec![0; groups.len()];
    for positions in positions.into_values() {
        for (rank, &position) in coarse_first(positions.len()).iter().zip(&positions) {
            ranks[position] = *rank;
        }
    }
    ranks
}

/// What tells the curves of a build apart.
type Curve = (usize, Mode, usize);

fn curve(point: &PlannedPoint) -> Curve {
    (point.spec.k, point.spec.mode, point.spec.threads)
}

/// How many curves `points` of one build make: one for each k, mode and number of threads.
pub fn curves(points: &[PlannedPoint]) -> usize {
    points.iter().map(curve).collect::<BTreeSet<_>>().len()
}

/// The points of a build, so that each of its curves is there early.
fn sharpening(points: Vec<PlannedPoint>) -> Vec<PlannedPoint> {
    // What the sweep refuses is no part of a curve.
    let (refused, points): (Vec<_>, Vec<_>) = points
        .into_iter()
        .partition(|point| point.refused.is_some());
    let curves: Vec<Curve> = points.iter().map(curve).collect();
    let mut ranked: Vec<(usize, PlannedPoint)> =
        ranks_within(&curves).into_iter().zip(points).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let ranked = ranked.into_iter().map(|(_, point)| point);
    refused.into_iter().chain(ranked).collect()
}

/// A job that waits for its turn.
#[derive(Clone, Debug)]
pub struct Turn<T> {
    /// Dataset and adapter.
    pub family: (String, String),
    /// Its points, in the order in which they are measured.
    pub points: Vec<PlannedPoint>,
    /// What its build takes, where that is known.
    pub expected_build: Option<Duration>,
    /// The job.
    pub job: T,
}

/// Turns in an order that gives every curve early: of each family the first build, then of each the
/// middle one, and so on; the points of each job likewise. Among those of equal rank, builds that are
/// known to be short come first.
pub fn coarse_turns<T>(turns: Vec<Turn<T>>) -> Vec<Turn<T>> {
    let families: Vec<_> = turns.iter().map(|turn| turn.family.clone()).collect();
    let mut ranked: Vec<((usize, Duration), Turn<T>)> = ranks_within(&families)
        .into_iter()
        .zip(turns)
        .map(|(rank, mut turn)| {
            turn.points = sharpening(turn.points);
            ((rank, turn.expected_build.unwrap_or(Duration::MAX)), turn)
        })
        .collect();
    ranked.sort_by_key(|(key, _)| *key);
    ranked.into_iter().map(|(_, turn)| turn).collect()
}

/// What a job is expected to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its build, with all that is around it.
    pub build: Duration,
    /// Its points, in the order in which they are measured.
    pub points: Vec<Duration>,
    /// Curves that the points make.
    pub curves: usize,
}

/// How many points are measured before `allowance` is spent, if all takes what is expected: the run's
/// own rules, tried on a clock that only the expected times move.
pub fn reached(mut allowance: Allowance, start: Instant, jobs: &[Expected]) -> usize {
    let mut now = start;
    let mut reached = 0;
    let mut round: Vec<(&Expected, usize)> = jobs.iter().map(|job| (job, 0)).collect();
    while !round.is_empty() {
        let mut left = Vec::new();
        for (turn, &(job, done)) in round.iter().enumerate() {
            allowance.begin_job(now, super::COARSE * job.curves, round.len() - turn - 1);
            let known = Some(KnownBuild::Took(job.build));
            if allowance.next(now, known) != Next::Measure {
                continue;
            }
            let share = allowance.build_share(now).time;
            now += job.build.min(share);
            if job.build > share {
                continue;
            }
            let mut at = done;
            while at < job.points.len() {
                match allowance.next(now, None) {
                    Next::Measure => {}
                    Next::Leave => {
                        left.push((job, at));
                        break;
                    }
                    Next::Skip { .. } => break,
                }
                now += job.points[at];
                allowance.measured();
                at += 1;
                reached += 1;
            }
        }
        round = left;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Budget;

    /// Positions in the order in which they come.
    fn order(n: usize) -> Vec<usize> {
        let ranks = coarse_first(n);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&position| ranks[position]);
        order
    }

    #[test]
    fn first_middle_and_last_come_first_and_gaps_are_halved() {
        assert_eq!(order(0), [] as [usize; 0]);
        assert_eq!(order(1), [0]);
        assert_eq!(order(2), [0, 1]);
        assert_eq!(order(3), [0, 1, 2]);
        assert_eq!(order(8), [0, 3, 7, 1, 5, 2, 4, 6]);
        for n in 0..40 {
            let mut all = order(n);
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_a_budget_reaches_follows_the_runs_own_rules() {
        let start = Instant::now();
        let seconds = Duration::from_secs;
        let job = |build: u64, points: usize| Expected {
            build: seconds(build),
            points: vec![seconds(1); points],
            curves: 1,
        };
        let reached = |budget: u64, jobs: &[Expected]| {
            let budget = Budget {
                time: seconds(budget),
            };
            reached(Allowance::new(budget, start), start, jobs)
        };
        assert_eq!(reached(100, &[job(10, 8), job(20, 8)]), 16);
        assert_eq!(reached(5, &[job(10, 8)]), 0);
        // 10 s each: build 4, six points; what is then left is no more than another build takes.
        assert_eq!(reached(20, &[job(4, 8), job(4, 8)]), 12);
        // A build that is known not to fit is not begun, and the other has it all.
        assert_eq!(reached(20, &[job(30, 8), job(4, 8)]), 8);
        // The second needs less than its share, so that the first gets another turn.
        assert_eq!(reached(20, &[job(4, 10), job(1, 2)]), 11);
    }
}
