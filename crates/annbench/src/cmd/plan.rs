use crate::args::PlanArgs;
use crate::campaign::Loaded;
use crate::estimate::Estimate;
use crate::places::Places;
use crate::progress::duration;
use crate::subject::{Opened, catalogue, unopened};
use crate::work::{AdapterInUse, Work};
use crate::{Answer, interrupt};
use annbench_core::wire::Verdict;
use annbench_dataset::DatasetError;
use annbench_results::{Record, RunRecords};
use annbench_runner::{PlannedPoint, check_points};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// `annbench plan FILE`
pub fn plan(places: &Places, args: &PlanArgs) -> anyhow::Result<Answer> {
    let loaded = Loaded::read(&args.selection.file)?;
    let pool = super::scoring_pool()?;
    let names = loaded.datasets(&args.selection)?;
    let adapters = AdapterInUse::all(&loaded, &args.selection)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Places::default_run(&args.selection.file));
    let records = RunRecords::open(&out)
        .map(|run| run.records)
        .unwrap_or_default();
    let finished = annbench_results::finished_points(&records);
    let measured = measured_beside(&out);
    let machine = annbench_results::collect_machine();

    let mut text = String::new();
    write_settings(&mut text, &loaded);
    let mut total = Estimate::default();
    for name in &names {
        let one = std::slice::from_ref(name);
        let k = loaded.largest_k();
        let opened = Opened::all(places, one, &args.selection, &adapters, k, &pool);
        let (facts, missing) = match opened {
            Ok(opened) => (opened.first().map(|o| o.subject().facts), None),
            // Files that are not here can still be planned for; files that are wrong can not.
            Err(error) if is_missing(&error) => {
                (Some(unopened(&catalogue(places).entry(name)?)), Some(error))
            }
            Err(error) => return Err(error),
        };
        let Some(facts) = facts else { continue };
        let work = Work::plan(&loaded, &args.selection, &facts, &adapters, &machine)?;
        let info = &facts.info;
        let _ = writeln!(
            text,
            "\n{}: {} x {} {} {}, {} queries",
            info.name, info.n, info.dim, info.element, info.metric, info.queries
        );
        if let Some(missing) = missing {
            let _ = writeln!(text, "  planned from its entry alone: {missing:#}");
        }
        for duplicates in &work.duplicates {
            let _ = writeln!(
                text,
                "  {} points of {} group {} are also in group {}: measured once",
                duplicates.points, duplicates.adapter, duplicates.repeated, duplicates.kept
            );
        }
        let mut verdicts = judge(&work, &mut BTreeMap::new())?;
        for (number, (job, _)) in work.jobs.iter().enumerate() {
            let points: Vec<(&PlannedPoint, Option<String>)> = job
                .points
                .iter()
                .zip(verdicts.remove(&number).unwrap_or_default())
                .collect();
            let refused = points.iter().filter(|(_, why)| why.is_some()).count();
            let done = points
                .iter()
                .filter(|(point, _)| finished.contains_key(&point.point_id))
                .count();
            let left = points
                .iter()
                .filter(|(p, why)| why.is_none() && !finished.contains_key(&p.point_id))
                .count();
            let estimate = Estimate::of(job, left, &measured);
            total.add(&estimate);
            let _ = writeln!(
                text,
                "  {:52} {left:3} to search, {refused} refused, {done} finished{}",
                job.label(),
                if job.given.as_ref().is_ok_and(|g| g.element != info.element) {
                    format!(", given as {}", job.spec.element)
                } else {
                    String::new()
                }
            );
            write_points(&mut text, &points, &finished, args.points);
        }
    }
    let _ = writeln!(
        text,
        "\n{} builds, {} searches of {} repetitions{}",
        total.builds,
        total.searches,
        loaded.campaign.settings().measure.repetitions,
        match total.time() {
            Some(time) => format!(", about {}", duration(time)),
            None if total.searches == 0 => String::new(),
            None => ", time unknown until each adapter was measured here once".to_owned(),
        }
    );
    Ok(Answer::good(text))
}

/// Records of the run directory and of those beside it: what was measured once tells how long it
/// takes, whichever run it was.
fn measured_beside(out: &Path) -> Vec<Record> {
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

fn is_missing(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<DatasetError>(),
        Some(DatasetError::Missing { .. })
    )
}

fn write_settings(text: &mut String, loaded: &Loaded) {
    let settings = loaded.campaign.settings();
    let _ = writeln!(text, "{}", loaded.campaign.file());
    for line in settings.lines() {
        let _ = writeln!(
            text,
            "  {:22} {}{}",
            line.key,
            line.value,
            if line.is_default { "  (default)" } else { "" }
        );
    }
}

/// Refused points, those with the same reason together; every point when asked for.
fn write_points(
    text: &mut String,
    points: &[(&PlannedPoint, Option<String>)],
    finished: &BTreeMap<String, &'static str>,
    all: bool,
) {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (point, refused) in points {
        let word = match (refused, finished.get(&point.point_id)) {
            (Some(_), _) => "refused",
            (None, Some(word)) => word,
            (None, None) => "search",
        };
        if all {
            let why = refused
                .as_ref()
                .map_or(String::new(), |why| format!(": {why}"));
            let _ = writeln!(text, "    {word:8} {}{why}", point.label());
        } else if let Some(reason) = refused {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, times)) => *times += 1,
                None => reasons.push((reason, 1)),
            }
        }
    }
    for (reason, times) in reasons {
        let _ = writeln!(text, "    {times} refused: {reason}");
    }
}

type Verdicts = BTreeMap<usize, Vec<Option<String>>>;

/// Why each point of each job is refused, by its sweep, its element type or its adapter. Each
/// adapter is asked once.
fn judge(work: &Work, verdicts: &mut Verdicts) -> anyhow::Result<Verdicts> {
    let mut asked: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (number, (job, adapter)) in work.jobs.iter().enumerate() {
        let given = job.given.as_ref().err();
        let refused: Vec<Option<String>> = job
            .points
            .iter()
            .map(|point| point.refused.clone().or_else(|| given.cloned()))
            .collect();
        for (position, refused) in refused.iter().enumerate() {
            if refused.is_none() {
                let adapter = adapter.installed.adapter.as_str();
                asked.entry(adapter).or_default().push((number, position));
            }
        }
        verdicts.insert(number, refused);
    }
    for places in asked.values() {
        let Some(&(first, _)) = places.first() else {
            continue;
        };
        let installed = &work.jobs[first].1.installed;
        let specs: Vec<_> = places
            .iter()
            .map(|&(number, position)| {
                let job = &work.jobs[number].0;
                job.point_spec(&job.points[position])
            })
            .collect();
        let answers = check_points(installed, &specs, interrupt::flag())?;
        for (&(number, position), answer) in places.iter().zip(answers) {
            if let (Verdict::Rejected(reason), Some(refused)) = (answer, verdicts.get_mut(&number))
            {
                refused[position] = Some(reason);
            }
        }
    }
    Ok(std::mem::take(verdicts))
}
