use crate::counts::Counts;
use crate::figures::{plural, printable, short_hash};
use crate::palette::Look;
use crate::point::{Point, Unplaced};
use annbench_core::Mode;
use annbench_results::{CurvePoint, Machine, SearchRecord, fastest_at_recall, pareto_front};

/// Which points make one curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesBy {
    /// All builds of a library in one version.
    #[default]
    Library,
    /// Those of one group of its sweep, such as HNSW and IVF of one library.
    Group,
}

/// What separates one curve from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeriesKey<'r> {
    pub mode: Mode,
    pub threads: u64,
    pub library: &'r str,
    pub adapter: &'r str,
    pub version: &'r str,
    pub executable: &'r str,
    /// The sweep's group, where groups are told apart.
    pub group: Option<&'r str>,
    pub machine: (&'r str, u64, u64),
    pub run: usize,
}

impl<'r> SeriesKey<'r> {
    pub(crate) fn of(run: usize, record: &'r SearchRecord, by: SeriesBy) -> Self {
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
            group: (by == SeriesBy::Group).then_some(record.group.as_str()),
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
    /// The label without mode and threads, for where these are told already.
    pub name: String,
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
    /// How it is drawn, on every plot of the overlay.
    pub(crate) look: Look,
    /// The label among all series of the overlay.
    pub(crate) overlay_label: String,
}

impl<'r> Series<'r> {
    /// Marks the Pareto front and counts.
    pub(crate) fn settle(&mut self) {
        for index in pareto_front(&self.curve_points()) {
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
        fastest_at_recall(&self.curve_points(), recall).map(|index| &self.points[index])
    }

    /// The point of the highest recall, the fastest of these.
    pub fn best(&self) -> Option<&Point<'r>> {
        self.best_recall().and_then(|best| self.fastest_at(best))
    }

    fn curve_points(&self) -> Vec<CurvePoint> {
        self.points.iter().map(|p| p.curve_point).collect()
    }

    /// The highest recall measured.
    pub fn best_recall(&self) -> Option<f64> {
        self.points
            .iter()
            .map(|p| p.quality.recall_mean)
            .max_by(f64::total_cmp)
    }
}

/// Name and label for `keys`, in their order: each tells library, version and group, and adds
/// adapter, mode, threads, run, machine or executable only where that differs between the chart's
/// series. The name lacks mode and threads.
pub(crate) fn labels(keys: &[&SeriesKey<'_>], runs: &[String]) -> Vec<(String, String)> {
    let varies = |differs: &dyn Fn(&SeriesKey<'_>, &SeriesKey<'_>) -> bool| {
        keys.windows(2).any(|pair| differs(pair[0], pair[1]))
    };
    let many_modes = varies(&|a, b| a.mode != b.mode || a.threads != b.threads);
    keys.iter()
        .map(|key| {
            let library = name(key);
            let mut rest = String::new();
            let same_name = |other: &&&SeriesKey<'_>| name(other) == name(key);
            let twins: Vec<&&SeriesKey<'_>> = keys
                .iter()
                .filter(same_name)
                .filter(|o| o.mode == key.mode && o.threads == key.threads)
                .collect();
            let search = match many_modes {
                true => format!(", {}, {}", key.mode, threads(key.threads)),
                false => String::new(),
            };
            if twins.iter().any(|o| o.machine != key.machine) {
                let (model, cpus, _) = key.machine;
                rest += &format!(", on {model} ({cpus} CPUs)");
            }
            if twins.iter().any(|o| o.run != key.run) {
                rest += &format!(", run {}", runs[key.run]);
            }
            if twins
                .iter()
                .any(|o| o.run == key.run && o.executable != key.executable)
            {
                rest += &format!(", executable {}", short_hash(key.executable));
            }
            (
                printable(&format!("{library}{rest}")),
                printable(&format!("{library}{search}{rest}")),
            )
        })
        .collect()
}

/// Library, version and group, and the adapter where the library's name does not tell it.
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
    if let Some(group) = key.group {
        name += &format!(", {group}");
    }
    name
}

fn threads(n: u64) -> String {
    plural(n, "thread")
}
