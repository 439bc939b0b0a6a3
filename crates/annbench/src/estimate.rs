use annbench_config::Measure;
use annbench_results::{Outcome, Record, SearchRecord};
use annbench_runner::PlannedJob;
use std::time::Duration;

/// How much work is left, and how long it takes as far as records tell.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// Builds to make.
    pub builds: usize,
    /// Points to search.
    pub searches: usize,
    time: Duration,
    unknown: bool,
}

impl Estimate {
    /// What `left` points of `job` amount to. A build takes what the median build of the same
    /// adapter on the same base took, a search likewise.
    pub fn of(job: &PlannedJob, left: usize, records: &[Record], measure: &Measure) -> Self {
        if left == 0 {
            return Self::default();
        }
        let build = median(records.iter().filter_map(|record| match record {
            Record::Build(build)
                if build.outcome == Outcome::Ok
                    && !build.loaded
                    && build.identity.adapter == job.identity.adapter
                    && build.identity.base_fingerprint == job.identity.base_fingerprint =>
            {
                Some(build.attempt_wall_ns)
            }
            _ => None,
        }));
        let search = median(records.iter().filter_map(|record| match record {
            Record::Search(search) => wall_ns(search, job),
            _ => None,
        }));
        // What was measured with shorter passes says nothing about the time that is asked for now.
        let asked = measure.repetitions as u64 * measure.min_pass_ns + measure.warm_up_ns;
        let time = build
            .zip(search)
            .map(|(build, search)| Duration::from_nanos(build + search.max(asked) * left as u64));
        Self {
            builds: 1,
            searches: left,
            time: time.unwrap_or_default(),
            unknown: time.is_none(),
        }
    }

    /// Adds another job's work.
    pub fn add(&mut self, other: &Self) {
        self.builds += other.builds;
        self.searches += other.searches;
        self.time += other.time;
        self.unknown |= other.unknown;
    }

    /// The time, unless a part of it is unknown.
    pub fn time(&self) -> Option<Duration> {
        (!self.unknown && self.searches > 0).then_some(self.time)
    }
}

fn wall_ns(search: &SearchRecord, job: &PlannedJob) -> Option<u64> {
    let build = &search.identity.build;
    let same = build.adapter == job.identity.adapter
        && build.base_fingerprint == job.identity.base_fingerprint;
    search
        .measured
        .as_ref()
        .filter(|_| same)
        .map(|measured| measured.report.request_wall_ns)
}

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
