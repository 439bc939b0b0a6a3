use crate::chart::Chart;
use crate::facts::facts;
use crate::figures::{printable, short_hash};
use crate::palette::{Look, looks};
use crate::point::{Point, Unplaced};
use crate::series::{Series, SeriesBy, SeriesKey, labels};
use annbench_results::{BuildRecord, Outcome, Record, Refutations, RunRecord, SearchRecord};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The records of one run directory.
#[derive(Clone, Copy, Debug)]
pub struct LabelledRun<'r> {
    /// What to call the run: the directory's name.
    pub label: &'r str,
    /// Its records, in the order they were written.
    pub records: &'r [Record],
    /// Why not to trust it, such as records that contradict themselves: shown in red on each chart.
    pub doubts: &'r [String],
}

/// A search record in its place.
#[derive(Clone, Debug)]
pub(crate) struct Row<'r> {
    pub run: usize,
    pub record: &'r SearchRecord,
    /// The build that was searched. After a crash the index may have been loaded instead: then the
    /// one it was saved from, since loading is no build time; none where the records lack that one.
    pub build: Option<&'r BuildRecord>,
    /// Whether the index that was searched had been loaded; `None` where its record is missing.
    pub loaded: Option<bool>,
    /// A later record of the same run measures the same point.
    pub superseded: bool,
    /// The truth it was scored against has been beaten by an answer of any record.
    pub refuted: bool,
    pub on_front: bool,
}

/// The records of any number of runs, laid over one another.
#[derive(Clone, Debug)]
pub struct Overlay<'r> {
    charts: Vec<Chart<'r>>,
    pub(crate) runs: Vec<String>,
    pub(crate) rows: Vec<Row<'r>>,
    pub(crate) overview_stem: String,
}

/// Records as facts of a chart are drawn from them.
pub(crate) struct Source<'a, 'r> {
    pub runs: &'a [String],
    pub rows: Vec<&'a Row<'r>>,
    /// Run records whose invocation made one of the rows, with the run's number.
    pub invocations: Vec<(usize, &'r RunRecord)>,
    /// Last attempts of builds on the chart's dataset that did not succeed.
    pub failed_builds: Vec<(usize, &'r BuildRecord)>,
    pub refutations: &'a Refutations,
    /// Why not to trust a run, with its number.
    pub doubts: Vec<(usize, &'r str)>,
}

type ChartKey<'r> = (&'r str, &'r str, &'r str, annbench_core::Metric, u64);

impl<'r> Overlay<'r> {
    /// Groups the records, a series per library. Within a run the last record of a point counts;
    /// the same point in two runs is two points. A truth that any record refutes is refuted for
    /// all.
    pub fn new(runs: &[LabelledRun<'r>]) -> Self {
        Self::with_series(runs, SeriesBy::Library)
    }

    /// Like [`Overlay::new`], with a choice of what makes a series.
    pub fn with_series(runs: &[LabelledRun<'r>], by: SeriesBy) -> Self {
        let labels = distinct_labels(runs);
        let refutations = Refutations::gather(runs.iter().flat_map(|run| run.records));
        let mut rows = rows(runs, &refutations);
        let mut groups: BTreeMap<ChartKey<'r>, BTreeMap<SeriesKey<'r>, Vec<usize>>> =
            BTreeMap::new();
        for (index, row) in rows.iter().enumerate().filter(|(_, r)| !r.superseded) {
            let d = &row.record.dataset;
            let key = (
                // Charts follow one another by name; the content decides what shares one.
                first_name(&rows, &d.base_fingerprint, &d.queries_fingerprint),
                d.base_fingerprint.as_str(),
                d.queries_fingerprint.as_str(),
                d.metric,
                row.record.identity.k,
            );
            let series = SeriesKey::of(row.run, row.record, by);
            let group = groups.entry(key).or_default();
            group.entry(series).or_default().push(index);
        }
        let drawings = drawings(&groups, &labels);
        // A report by group does not replace the one by library.
        let suffix = match by {
            SeriesBy::Library => "",
            SeriesBy::Group => "-by-group",
        };
        let mut stems = HashMap::new();
        let mut charts = Vec::new();
        for (key, group) in &groups {
            let mut chart = self::chart(key, group, &rows, &labels, runs, &refutations, &drawings);
            chart.file_stem.push_str(suffix);
            let uses: &mut u32 = stems.entry(chart.file_stem.clone()).or_default();
            *uses += 1;
            if *uses > 1 {
                chart.file_stem = format!("{}-{uses}", chart.file_stem);
            }
            charts.push(chart);
        }
        tell_apart(&mut charts);
        for point in charts
            .iter()
            .flat_map(|c| &c.series)
            .flat_map(|s| &s.points)
        {
            rows[point.row].on_front = point.on_front;
        }
        Self {
            charts,
            runs: labels,
            rows,
            overview_stem: format!("overview{suffix}"),
        }
    }

    /// One chart per dataset content, metric and k, by dataset name.
    pub fn charts(&self) -> &[Chart<'r>] {
        &self.charts
    }
}

/// How each series looks and what it is called, over all charts: the same curve is the same on each.
type Drawings<'r> = BTreeMap<SeriesKey<'r>, (Look, String)>;

fn drawings<'r>(
    groups: &BTreeMap<ChartKey<'r>, BTreeMap<SeriesKey<'r>, Vec<usize>>>,
    labels_of_runs: &[String],
) -> Drawings<'r> {
    let keys: BTreeSet<&SeriesKey<'r>> = groups.values().flat_map(|group| group.keys()).collect();
    let keys: Vec<&SeriesKey<'r>> = keys.into_iter().collect();
    let adapters: Vec<&str> = keys.iter().map(|key| key.adapter).collect();
    let labels = labels(&keys, labels_of_runs);
    keys.iter()
        .zip(looks(&adapters))
        .zip(labels)
        .map(|((key, look), (_, label))| ((*key).clone(), (look, label)))
        .collect()
}

/// Two datasets of one name, as when its files were replaced, are titled by their fingerprints too.
fn tell_apart(charts: &mut [Chart<'_>]) {
    let mut contents: HashMap<String, BTreeSet<(&str, &str)>> = HashMap::new();
    for chart in charts.iter() {
        let d = chart.dataset;
        let content = (d.base_fingerprint.as_str(), d.queries_fingerprint.as_str());
        let known = contents.entry(chart.name.clone()).or_default();
        known.insert(content);
    }
    for chart in charts {
        if contents
            .get(&chart.name)
            .is_some_and(|known| known.len() > 1)
        {
            let d = chart.dataset;
            chart.name = format!(
                "{} (base {}, queries {})",
                chart.name,
                short_hash(&d.base_fingerprint),
                short_hash(&d.queries_fingerprint)
            );
        }
    }
}

fn distinct_labels(runs: &[LabelledRun<'_>]) -> Vec<String> {
    let mut seen: HashMap<&str, u32> = HashMap::new();
    runs.iter()
        .map(|run| {
            let uses = seen.entry(run.label).or_default();
            *uses += 1;
            match uses {
                1 => run.label.to_owned(),
                n => format!("{} #{n}", run.label),
            }
        })
        .collect()
}

/// What the points of a build record searched.
#[derive(Clone, Copy)]
struct Searched<'r> {
    loaded: bool,
    built: Option<&'r BuildRecord>,
}

fn rows<'r>(runs: &[LabelledRun<'r>], refutations: &Refutations) -> Vec<Row<'r>> {
    let mut rows: Vec<Row<'r>> = Vec::new();
    for (run, records) in runs.iter().enumerate() {
        let mut builds: HashMap<&str, Searched<'r>> = HashMap::new();
        let mut built: HashMap<&str, &BuildRecord> = HashMap::new();
        let mut last: HashMap<&str, usize> = HashMap::new();
        for record in records.records {
            match record {
                Record::Build(build) => {
                    if !build.loaded && build.outcome == Outcome::Ok {
                        built.insert(&build.build_key, build);
                    }
                    let searched = Searched {
                        loaded: build.loaded,
                        // What is loaded was saved by the last build before it that succeeded.
                        built: match build.loaded {
                            true => built.get(build.build_key.as_str()).copied(),
                            false => Some(build),
                        },
                    };
                    builds.insert(&build.build_id, searched);
                }
                Record::Search(search) => {
                    if let Some(earlier) = last.insert(&search.point_id, rows.len()) {
                        rows[earlier].superseded = true;
                    }
                    rows.push(Row {
                        run,
                        record: search,
                        build: None,
                        loaded: None,
                        superseded: false,
                        refuted: search
                            .truth
                            .as_ref()
                            .is_some_and(|t| refutations.status(t).is_refuted()),
                        on_front: false,
                    });
                }
                Record::Run(_) => {}
            }
        }
        // A build's record may follow those of its points: linked when all are known.
        for row in rows.iter_mut().filter(|row| row.run == run) {
            let id = row.record.build_id.as_deref();
            let searched = id.and_then(|id| builds.get(id).copied());
            row.build = searched.and_then(|searched| searched.built);
            row.loaded = searched.map(|searched| searched.loaded);
        }
    }
    rows
}

fn first_name<'r>(rows: &[Row<'r>], base: &str, queries: &str) -> &'r str {
    rows.iter()
        .map(|row| &row.record.dataset)
        .find(|d| d.base_fingerprint == base && d.queries_fingerprint == queries)
        .map_or("", |d| d.name.as_str())
}

fn chart<'r>(
    &(name, base, _, metric, k): &ChartKey<'r>,
    group: &BTreeMap<SeriesKey<'r>, Vec<usize>>,
    rows: &[Row<'r>],
    labels_of_runs: &[String],
    runs: &[LabelledRun<'r>],
    refutations: &Refutations,
    drawings: &Drawings<'r>,
) -> Chart<'r> {
    let keys: Vec<&SeriesKey<'r>> = group.keys().collect();
    let series: Vec<Series<'r>> = group
        .iter()
        .zip(labels(&keys, labels_of_runs))
        .map(|((key, indices), (name, label))| {
            let (look, overlay_label) = &drawings[key];
            let mut series = Series {
                label,
                name,
                adapter: key.adapter,
                mode: key.mode,
                threads: key.threads,
                run: labels_of_runs[key.run].clone(),
                points: Vec::new(),
                unplaced: Vec::new(),
                counts: Default::default(),
                look: *look,
                overlay_label: overlay_label.clone(),
            };
            for &index in indices {
                let row = &rows[index];
                match Point::new(index, row) {
                    Ok(point) => series.points.push(point),
                    Err(why) => series.unplaced.push(Unplaced {
                        record: row.record,
                        build: row.build,
                        loaded: row.loaded,
                        why,
                    }),
                }
            }
            series.settle();
            series
        })
        .collect();
    let members: Vec<&Row<'r>> = group.values().flatten().map(|&i| &rows[i]).collect();
    let made_by: BTreeSet<(usize, &str)> = members
        .iter()
        .map(|row| (row.run, row.record.run_id.as_str()))
        .collect();
    let mut invocations = Vec::new();
    let mut attempts: BTreeMap<(usize, &str), &BuildRecord> = BTreeMap::new();
    for (run, records) in runs.iter().enumerate() {
        for record in records.records {
            match record {
                Record::Run(r) if made_by.contains(&(run, r.run_id.as_str())) => {
                    invocations.push((run, &**r));
                }
                Record::Build(b)
                    if b.dataset.base_fingerprint == base && b.dataset.metric == metric =>
                {
                    attempts.insert((run, &b.build_key), b);
                }
                _ => {}
            }
        }
    }
    let source = Source {
        runs: labels_of_runs,
        invocations,
        failed_builds: attempts
            .into_iter()
            .filter(|(_, b)| matches!(b.outcome, Outcome::Failed(_)))
            .map(|((run, _), b)| (run, b))
            .collect(),
        refutations,
        doubts: runs
            .iter()
            .enumerate()
            .filter(|(run, _)| members.iter().any(|row| row.run == *run))
            .flat_map(|(run, of)| of.doubts.iter().map(move |doubt| (run, doubt.as_str())))
            .collect(),
        rows: members,
    };
    // Every group was made by a row, so that there is a first one.
    let dataset = &source.rows[0].record.dataset;
    let names: BTreeSet<&str> = source
        .rows
        .iter()
        .map(|row| row.record.dataset.name.as_str())
        .collect();
    Chart {
        dataset,
        name: printable(&names.into_iter().collect::<Vec<_>>().join(" = ")),
        k,
        refuted: source.rows.iter().any(|row| row.refuted),
        facts: facts(&source),
        series,
        file_stem: format!("{}-k{k}", file_name(name, base)),
    }
}

/// The dataset's name as a file name; its fingerprint when nothing of the name is left.
fn file_name(name: &str, fingerprint: &str) -> String {
    let keep = |text: &str| -> String {
        text.chars()
            .map(|c| match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
                _ => '_',
            })
            .take(120)
            .collect()
    };
    let name = keep(name);
    let name = name.trim_matches(['.', '_']);
    if name.is_empty() {
        keep(short_hash(fingerprint))
    } else {
        name.to_owned()
    }
}
