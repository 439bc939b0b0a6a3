use crate::args::{Permits, RescoreArgs};
use crate::edited::edited;
use crate::places::Places;
use crate::subject::{Asked, Opened, catalogue};
use crate::{Answer, explain, interrupt, terminal};
use annbench_results::{
    DatasetInfo, Record, RescoreSubject, Rescored, RunRecords, Store, latest_searches,
    rescore as score_again,
};
use anyhow::Context;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// `annbench rescore DIR...`
///
/// Each directory is answered for as soon as it is done: what was rewritten is told whatever becomes of
/// the next one.
pub fn rescore(places: &Places, args: &RescoreArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let scorer = Scorer {
        places,
        files: entry_files(places, &args.dataset)?,
        pool: super::scoring_pool()?,
        check: args.check,
    };
    // Before anything is rewritten; and opening for writing would create a run that is not there.
    for dir in &args.runs {
        RunRecords::open(dir)?;
    }
    let mut good = true;
    for (position, dir) in args.runs.iter().enumerate() {
        let after = &args.runs[position + 1..];
        let answer = scorer.rescore(dir).with_context(|| not_reached(after))?;
        terminal::answer(&answer.text).context("writing the answer")?;
        good &= answer.good;
    }
    Ok(Answer {
        text: String::new(),
        good,
    })
}

fn not_reached(dirs: &[PathBuf]) -> String {
    match dirs {
        [] => "not scored again".to_owned(),
        dirs => {
            let names: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
            format!("not scored again, nor looked at {}", names.join(", "))
        }
    }
}

/// Entries outside the datasets folder, by the name of their dataset.
fn entry_files(places: &Places, files: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    files
        .iter()
        .map(|file| Ok((catalogue(places).entry(file)?.name, file.clone())))
        .collect()
}

struct Scorer<'s> {
    places: &'s Places,
    files: BTreeMap<String, String>,
    pool: rayon::ThreadPool,
    check: bool,
}

impl Scorer<'_> {
    fn rescore(&self, dir: &Path) -> anyhow::Result<Answer> {
        // A comparison writes nothing, and may be of somebody else's run.
        let mut store = match self.check {
            true => None,
            false => Some(Store::create_or_open(dir)?),
        };
        let before = match &store {
            Some(store) => store.records().to_vec(),
            None => RunRecords::open(dir)?.records,
        };
        let datasets = datasets_of(&before);
        let rescored = score_again(&self.pool, dir, &before, |info: &DatasetInfo| {
            let needed = datasets.get(&info.name).ok_or("no record names it")?;
            let opened = needed.opened.get_or_init(|| self.open(&info.name, needed));
            let subject = opened.as_ref().map_err(Clone::clone)?.subject();
            Ok(RescoreSubject {
                info: subject.facts.info,
                truth: subject.facts.truth,
                scoring: subject.scoring,
            })
        });
        if interrupt::flag().load(Ordering::Relaxed) {
            anyhow::bail!(
                "{}: interrupted; its records are as they were",
                dir.display()
            );
        }
        let mut text = String::new();
        write_rescored(&mut text, dir, &before, &rescored);
        let edited = edited(&before);
        for why in &edited {
            let _ = writeln!(text, "  edited: {}, {why}", dir.display());
        }
        let same = rescored.changed.is_empty();
        let good = edited.is_empty() && rescored.unscored.is_empty() && (same || !self.check);
        if let Some(store) = &mut store
            && (!same || rescored.gained > 0)
        {
            store.replace_records(rescored.records)?;
        }
        Ok(Answer { text, good })
    }

    fn open(&self, name: &str, needed: &Needed) -> Result<Opened, String> {
        let asked = Asked::for_scoring(
            Permits {
                accept_checksum: !needed.accepted.is_empty(),
                narrow: needed.narrowed,
            },
            needed.k,
        );
        let file = self.files.get(name).map_or(name, String::as_str);
        let ks: Vec<usize> = needed.ks.iter().copied().collect();
        let opened = Opened::new(self.places, file, &asked, &self.pool)
            .and_then(|mut opened| {
                opened.stratify(&ks, false, &self.pool)?;
                Ok(opened)
            })
            .map_err(|error| explain(&error))?;
        // What was accepted is one file in place of another, not any.
        let accepted = opened.accepted_checksums();
        match accepted
            .iter()
            .find(|said| !needed.accepted.contains(*said))
        {
            None => Ok(opened),
            Some(said) => Err(format!("{said}, which no record has accepted")),
        }
    }
}

/// What the measured points of one dataset need.
#[derive(Default)]
struct Needed {
    /// What their records say of checksums.
    accepted: BTreeSet<String>,
    /// Whether they say that values were rounded.
    narrowed: bool,
    /// The largest k.
    k: usize,
    /// All of them.
    ks: BTreeSet<usize>,
    /// The dataset or why it is not there, once the first point asks for it.
    opened: OnceCell<Result<Opened, String>>,
}

/// Datasets that have measured points, by name.
fn datasets_of(records: &[Record]) -> BTreeMap<String, Needed> {
    let mut datasets: BTreeMap<String, Needed> = BTreeMap::new();
    for record in records {
        if let Record::Search(search) = record
            && search.measured.is_some()
        {
            let needed = datasets.entry(search.dataset.name.clone()).or_default();
            let accepted = search.accepted_checksums.iter().cloned();
            needed.accepted.extend(accepted);
            needed.narrowed |= !search.narrowed.is_empty();
            needed.k = needed.k.max(search.identity.k as usize);
            needed.ks.insert(search.identity.k as usize);
        }
    }
    datasets
}

fn write_rescored(text: &mut String, dir: &Path, before: &[Record], rescored: &Rescored) {
    let _ = writeln!(
        text,
        "{}: {} points scored again, {} changed",
        dir.display(),
        rescored.points,
        rescored.changed.len()
    );
    if rescored.gained > 0 {
        let _ = writeln!(
            text,
            "  {} have figures now that an earlier version did not know",
            rescored.gained
        );
    }
    for point in &rescored.changed {
        let old = figures(before, point);
        let _ = writeln!(
            text,
            "  {old}\n    -> {}",
            figures(&rescored.records, point)
        );
    }
    if !rescored.unscored.is_empty() {
        let _ = writeln!(
            text,
            "  {} points could not be scored again and are as they were:",
            rescored.unscored.len()
        );
    }
    // One cause may be that of many points, such as a dataset that is not there.
    let mut causes: Vec<(String, Vec<&str>)> = Vec::new();
    for (point, cause) in &rescored.unscored {
        let cause = cause.to_string();
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, points)) => points.push(point),
            None => causes.push((cause, vec![point])),
        }
    }
    for (cause, points) in causes {
        for point in points {
            let _ = writeln!(text, "  {}", figures(before, point));
        }
        let _ = writeln!(text, "    {cause}");
    }
}

/// A point's parameters and what its latest record says of it.
fn figures(records: &[Record], point_id: &str) -> String {
    let latest = latest_searches(records);
    let Some(search) = latest.iter().find(|search| search.point_id == point_id) else {
        return point_id.to_owned();
    };
    let identity = &search.identity;
    let mut text = format!(
        "{} {} {} k={} {}: {}",
        search.library,
        identity.build.build_params,
        identity.search_params,
        identity.k,
        identity.mode,
        search.outcome.word()
    );
    if let Some(quality) = &search.quality {
        let _ = write!(
            text,
            ", hits {}, recall {:.6}",
            quality.hits, quality.recall_mean
        );
    }
    if let Some(speed) = &search.speed {
        let _ = write!(text, ", {:.1} QPS", speed.qps_median);
        let latencies = speed.service_latency.iter();
        let p50: Vec<String> = latencies.clone().map(|l| l.p50_ns.to_string()).collect();
        let p99: Vec<String> = latencies.map(|l| l.p99_ns.to_string()).collect();
        if !p50.is_empty() {
            let _ = write!(text, ", p50 {} ns, p99 {} ns", p50.join("/"), p99.join("/"));
        }
    }
    if let Some(truth) = &search.truth {
        let _ = write!(text, ", truth {:.12}", truth.fingerprint);
    }
    text
}
