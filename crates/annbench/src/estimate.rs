//! How long work takes, as far as what was measured here tells.

use annbench_config::Measure;
use annbench_core::ParamValue;
use annbench_results::{BuildIdentity, Measured, Outcome, Record, RunRecords, SearchRecord};
use annbench_runner::{PlannedJob, PlannedPoint};
use std::path::Path;
use std::time::Duration;

/// What one build with the points that are left of it takes.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// The build with all that is around it; `None` when none like it was measured.
    pub build: Option<Duration>,
    /// Each point; `None` when none like it was measured.
    pub points: Vec<Option<Duration>>,
    /// What each point takes at least, by what is asked for.
    least: Duration,
}

/// How much one measured thing says of another: the same adapter, kind of index, build, search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    Adapter,
    Kind,
    Build,
    Search,
}

impl Estimate {
    /// What `points` of `job` take: the median of what is most like each among `records`, on the same
    /// base with the same adapter.
    pub fn of(
        job: &PlannedJob,
        points: &[&PlannedPoint],
        records: &[Record],
        measure: &Measure,
    ) -> Self {
        let builds = records.iter().filter_map(|record| match record {
            Record::Build(build) if build.outcome == Outcome::Ok && !build.loaded => {
                likeness(&job.identity, &build.identity)
                    .map(|like| (like, Duration::from_nanos(build.attempt_wall_ns)))
            }
            _ => None,
        });
        let searches: Vec<(Likeness, &SearchRecord, Duration)> = records
            .iter()
            .filter_map(|record| match record {
                Record::Search(search) => {
                    let measured = search.measured.as_ref()?;
                    let like = likeness(&job.identity, &search.identity.build)?;
                    Some((like, &**search, measured_again(measured, search, measure)?))
                }
                _ => None,
            })
            .collect();
        let least = measure.repetitions as u64 * measure.min_pass_ns + measure.warm_up_ns;
        let points = points.iter().map(|point| {
            let times = searches.iter().map(|&(like, search, time)| {
                let (own, other) = (&point.identity, &search.identity);
                let same = like == Likeness::Build
                    && own.search_params == other.search_params
                    && (own.k, own.mode, own.threads) == (other.k, other.mode, other.threads);
                (if same { Likeness::Search } else { like }, time)
            });
            median_of_likest(times)
        });
        Self {
            points: points.collect(),
            build: median_of_likest(builds),
            least: Duration::from_nanos(least),
        }
    }

    /// All of it; `None` when a part is unknown.
    pub fn time(&self) -> Option<Duration> {
        let points: Option<Duration> = self.points.iter().copied().sum();
        Some(self.build? + points?)
    }

    /// What it takes at least.
    fn least(&self) -> Duration {
        let points = self.points.iter().map(|time| time.unwrap_or(self.least));
        self.build.unwrap_or_default() + points.sum::<Duration>()
    }
}

/// The work of a whole plan.
#[derive(Clone, Debug, Default)]
pub struct Total {
    /// Builds to make.
    pub builds: usize,
    /// Points to search.
    pub searches: usize,
    /// Builds of which, or of whose points, none like it was measured here.
    pub unknown: usize,
    /// What all of it takes at least; without `unknown` builds, about what it takes.
    pub least: Duration,
}

impl Total {
    /// Adds the work of a job, unless there is none.
    pub fn add(&mut self, estimate: &Estimate) {
        if estimate.points.is_empty() {
            return;
        }
        self.builds += 1;
        self.searches += estimate.points.len();
        self.unknown += usize::from(estimate.time().is_none());
        self.least += estimate.least();
    }

    /// The time, unless a part of it is unknown or there is none to spend.
    pub fn time(&self) -> Option<Duration> {
        (self.unknown == 0 && self.searches > 0).then_some(self.least)
    }
}

/// How much `other` says of `own`; nothing across adapters and bases.
fn likeness(own: &BuildIdentity, other: &BuildIdentity) -> Option<Likeness> {
    if own.adapter != other.adapter || own.base_fingerprint != other.base_fingerprint {
        return None;
    }
    // Text names the kind of an index, numbers its size.
    let text = |(_, value): &(&String, &ParamValue)| matches!(value, ParamValue::Text(_));
    let same_kind = own.build_params.0.iter().filter(text).eq(other
        .build_params
        .0
        .iter()
        .filter(text));
    Some(match own.build_params == other.build_params {
        true => Likeness::Build,
        false if same_kind => Likeness::Kind,
        false => Likeness::Adapter,
    })
}

/// What a point that was measured would take with the repetitions and passes that are asked for now.
fn measured_again(
    measured: &Measured,
    search: &SearchRecord,
    measure: &Measure,
) -> Option<Duration> {
    let repetitions = &measured.report.repetitions;
    let passes: u64 = repetitions.iter().map(|r| r.passes).sum();
    let wall_ns: u64 = repetitions.iter().map(|r| r.wall_ns).sum();
    let pass_ns = wall_ns.checked_div(passes)?.max(1);
    // Whole passes, at least one.
    let rounds = |least_ns: u64| least_ns.div_ceil(pass_ns).max(1) * pass_ns;
    let of = |repetitions: u64, least_ns: u64, warm_up_ns: u64| {
        repetitions * rounds(least_ns) + rounds(warm_up_ns)
    };
    let then = &search.identity;
    let around = measured.report.request_wall_ns.saturating_sub(of(
        then.repetitions,
        then.min_pass_ns,
        then.warm_up_ns,
    ));
    let now = of(
        measure.repetitions as u64,
        measure.min_pass_ns,
        measure.warm_up_ns,
    );
    Some(Duration::from_nanos(now + around))
}

fn median_of_likest(measured: impl Iterator<Item = (Likeness, Duration)>) -> Option<Duration> {
    let measured: Vec<(Likeness, Duration)> = measured.collect();
    let likest = measured.iter().map(|(like, _)| *like).max()?;
    let mut values: Vec<Duration> = measured
        .into_iter()
        .filter(|(like, _)| *like == likest)
        .map(|(_, value)| value)
        .collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Records of the run directory and of those beside it: what was measured once tells how long it
/// takes, whichever run it was.
pub fn measured_beside(out: &Path) -> Vec<Record> {
    let folder = match out.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| RunRecords::open(&entry.path()).ok())
        .flat_map(|run| run.records)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_likest_counts_alone() {
        let of = |measured: &[(Likeness, u64)]| {
            let measured = measured.iter().copied();
            let found = median_of_likest(measured.map(|(l, s)| (l, Duration::from_secs(s))));
            found.map(|found| found.as_secs())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&[(Likeness::Adapter, 9), (Likeness::Adapter, 1)]),
            Some(9)
        );
        assert_eq!(
            of(&[
                (Likeness::Adapter, 900),
                (Likeness::Kind, 3),
                (Likeness::Kind, 1),
                (Likeness::Kind, 2),
            ]),
            Some(2)
        );
        assert_eq!(of(&[(Likeness::Search, 5), (Likeness::Build, 7)]), Some(5));
    }

    #[test]
    fn a_plan_with_an_unknown_part_is_told_as_at_least() {
        let seconds = Duration::from_secs;
        let known = Estimate {
            build: Some(seconds(4)),
            points: vec![Some(seconds(2)), Some(seconds(3))],
            least: seconds(1),
        };
        let unknown = Estimate {
            build: None,
            points: vec![None, None],
            least: seconds(1),
        };
        let mut total = Total::default();
        total.add(&known);
        assert_eq!(total.time(), Some(seconds(9)));
        total.add(&unknown);
        assert_eq!(total.time(), None);
        assert_eq!((total.least, total.unknown), (seconds(11), 1));
        assert_eq!((total.builds, total.searches), (2, 4));
        total.add(&Estimate::default());
        assert_eq!(total.builds, 2);
    }
}
