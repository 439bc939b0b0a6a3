use crate::args::RescoreArgs;
use crate::places::Places;
use crate::subject::{Asked, Opened, catalogue};
use crate::{Answer, interrupt};
use annbench_results::{
    DatasetInfo, Record, RescoreSubject, RunRecords, Store, latest_searches, rescore as score_again,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// `annbench rescore DIR...`
pub fn rescore(places: &Places, args: &RescoreArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let mut text = String::new();
    let mut good = true;
    let mut files = BTreeMap::new();
    for file in &args.dataset {
        files.insert(catalogue(places).entry(file)?.name, file.clone());
    }
    for dir in &args.runs {
        // Opening for writing would create a run that is not there.
        RunRecords::open(dir)?;
        let mut store = Store::create_or_open(dir)?;
        let mut opened: BTreeMap<String, Opened> = BTreeMap::new();
        for (name, (accepted, k)) in datasets_of(store.records()) {
            opened.insert(
                name.clone(),
                Opened::new(
                    places,
                    files.get(&name).unwrap_or(&name),
                    &Asked::for_scoring(accepted, k),
                    &pool,
                )?,
            );
        }
        let rescored = score_again(&pool, dir, store.records(), |info: &DatasetInfo| {
            let dataset = opened
                .get(&info.name)
                .ok_or_else(|| format!("dataset {} was not opened", info.name))?;
            let subject = dataset.subject();
            Ok(RescoreSubject {
                info: subject.facts.info,
                truth: subject.facts.truth,
                scoring: subject.scoring,
            })
        })?;
        let before = store.records().to_vec();
        let _ = writeln!(
            text,
            "{}: {} points scored again, {} changed",
            dir.display(),
            rescored.points,
            rescored.changed.len()
        );
        for point in &rescored.changed {
            let old = figures(&before, point);
            let _ = writeln!(
                text,
                "  {old}\n    -> {}",
                figures(&rescored.records, point)
            );
        }
        if !rescored.unscored.is_empty() {
            good = false;
            let _ = writeln!(
                text,
                "  {} points could not be scored again and are as they were:",
                rescored.unscored.len()
            );
        }
        for (point, cause) in &rescored.unscored {
            let next = cause.next_step();
            let _ = writeln!(text, "  {}\n    {cause}; {next}", figures(&before, point));
        }
        good &= rescored.changed.is_empty() || !args.check;
        if !args.check && !rescored.changed.is_empty() {
            store.replace_records(rescored.records)?;
        }
    }
    Ok(Answer { text, good })
}

/// Datasets that have measured points, whether a checksum was overridden for them, and the largest
/// k they were asked for.
fn datasets_of(records: &[Record]) -> BTreeMap<String, (bool, usize)> {
    let mut datasets = BTreeMap::new();
    for record in records {
        if let Record::Search(search) = record
            && search.measured.is_some()
        {
            let name = search.dataset.name.clone();
            let (accepted, k): &mut (bool, usize) = datasets.entry(name).or_default();
            *accepted |= !search.accepted_checksums.is_empty();
            *k = (*k).max(search.identity.k as usize);
        }
    }
    datasets
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
    }
    if let Some(truth) = &search.truth {
        let _ = write!(text, ", truth {:.12}", truth.fingerprint);
    }
    text
}
