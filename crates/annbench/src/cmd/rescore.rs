use crate::args::RescoreArgs;
use crate::places::Places;
use crate::subject::{Asked, Opened, catalogue};
use crate::{Answer, interrupt};
use annbench_results::{
    DatasetInfo, Record, RescoreSubject, RunRecords, Store, rescore as score_again,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// `annbench rescore DIR...`
pub fn rescore(places: &Places, args: &RescoreArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let mut text = String::new();
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
        let changed = rescored.changed.len();
        store.replace_records(rescored.records)?;
        let _ = writeln!(
            text,
            "{}: {} points scored again, {changed} changed",
            dir.display(),
            rescored.points
        );
        for point in &rescored.changed {
            let _ = writeln!(text, "  {point}");
        }
    }
    Ok(Answer::good(text))
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
