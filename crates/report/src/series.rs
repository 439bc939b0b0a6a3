use crate::counts::Counts;
use crate::front::{fastest_at, front};
use crate::point::{Point, Unplaced};
use annbench_core::Mode;
use annbench_results::{Machine, SearchRecord};

/// What separates one curve from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeriesKey<'r> {
    pub mode: Mode,
    pub threads: u64,
    pub library: &'r str,
    pub adapter: &'r str,
    pub version: &'r str,
    pub executable: &'r str,
    pub machine: (&'r str, u64, u64),
    pub run: usize,
}

impl<'r> SeriesKey<'r> {
    pub(crate) fn of(run: usize, record: &'r SearchRecord) -> Self {
        let identity = &record.identity;
        let Machine {
            cpu_model,
            cpus,
            memory_bytes,
        } = &identity.build.machine;
        Self {
            mode: identity.mode,
            threads: identity.threads,
            library: &record.library,
            adapter: &identity.build.adapter,
            version: &identity.build.library_version,
            executable: &identity.build.executable_sha256,
            machine: (cpu_model, *cpus, *memory_bytes),
            run,
        }
    }
}

/// One curve: a library in one exact version, searched in one mode with one number of threads,
/// over all its builds and search parameters.
#[derive(Clone, Debug)]
pub struct Series<'r> {
    /// Library and exact version, then whatever else tells it from the chart's other series.
    pub label: String,
    /// Adapter name.
    pub adapter: &'r str,
    /// Mode.
    pub mode: Mode,
    /// Search threads.
    pub threads: u64,
    /// Label of the run.
    pub run: String,
    /// Measured points, in the order of the records.
    pub points: Vec<Point<'r>>,
    /// Points that cannot be placed.
    pub unplaced: Vec<Unplaced<'r>>,
    /// How its points ended.
    pub counts: Counts,
}

impl<'r> Series<'r> {
    /// Marks the Pareto front and counts.
    pub(crate) fn settle(&mut self) {
        let positions: Vec<(f64, f64)> = self.points.iter().map(Point::position).collect();
        for index in front(&positions) {
            self.points[index].on_front = true;
        }
        self.counts.ok = self.points.len() as u64;
        for unplaced in &self.unplaced {
            self.counts.add_unplaced(&unplaced.record.outcome);
        }
    }

    /// The points of the front by ascending recall.
    pub fn front(&self) -> Vec<&Point<'r>> {
        let mut points: Vec<&Point<'r>> = self.points.iter().filter(|p| p.on_front).collect();
        points.sort_by(|a, b| a.quality.recall_mean.total_cmp(&b.quality.recall_mean));
        points
    }

    /// The fastest measured point whose recall is at least `recall`: the step rule.
    pub fn fastest_at(&self, recall: f64) -> Option<&Point<'r>> {
        let positions: Vec<(f64, f64)> = self.points.iter().map(Point::position).collect();
        fastest_at(&positions, recall).map(|index| &self.points[index])
    }

    /// The highest recall measured.
    pub fn best_recall(&self) -> Option<f64> {
        self.points
            .iter()
            .map(|p| p.quality.recall_mean)
            .max_by(f64::total_cmp)
    }
}

/// Labels for `keys`, in their order: each names library and version, and adds adapter, mode,
/// threads, run, machine or executable only where that differs between the chart's series.
pub(crate) fn labels(keys: &[&SeriesKey<'_>], runs: &[String]) -> Vec<String> {
    let varies = |differs: &dyn Fn(&SeriesKey<'_>, &SeriesKey<'_>) -> bool| {
        keys.windows(2).any(|pair| differs(pair[0], pair[1]))
    };
    let many_modes = varies(&|a, b| a.mode != b.mode || a.threads != b.threads);
    keys.iter()
        .map(|key| {
            let mut label = name(key);
            let same_name = |other: &&&SeriesKey<'_>| name(other) == name(key);
            let twins: Vec<&&SeriesKey<'_>> = keys
                .iter()
                .filter(same_name)
                .filter(|o| o.mode == key.mode && o.threads == key.threads)
                .collect();
            if many_modes {
                label += &format!(", {}, {}", key.mode, threads(key.threads));
            }
            if twins.iter().any(|o| o.machine != key.machine) {
                let (model, cpus, _) = key.machine;
                label += &format!(", on {model} ({cpus} CPUs)");
            }
            if twins.iter().any(|o| o.run != key.run) {
                label += &format!(", run {}", runs[key.run]);
            }
            if twins
                .iter()
                .any(|o| o.run == key.run && o.executable != key.executable)
            {
                label += &format!(
                    ", executable {}",
                    crate::figures::short_hash(key.executable)
                );
            }
            crate::figures::printable(&label)
        })
        .collect()
}

/// Library and version, and the adapter where its name does not say the same.
fn name(key: &SeriesKey<'_>) -> String {
    let plain = |text: &str| {
        text.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase()
    };
    let mut name = if key.library.contains(key.version) {
        key.library.to_owned()
    } else {
        format!("{} {}", key.library, key.version)
    };
    if !plain(key.library).contains(&plain(key.adapter)) {
        name += &format!(" ({})", key.adapter);
    }
    name
}

fn threads(n: u64) -> String {
    crate::figures::plural(n, "thread")
}
