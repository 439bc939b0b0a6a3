use crate::Answer;
use crate::args::PlanArgs;
use crate::campaign::Loaded;
use crate::edited::refuse_edited;
use crate::estimate::Estimate;
use crate::places::Places;
use crate::progress::duration;
use crate::subject::Planned;
use crate::work::{Adapters, Work, is_finished};
use annbench_results::{Record, RunRecords, StoreError};
use annbench_runner::PlannedPoint;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// `annbench plan FILE`
pub fn plan(places: &Places, args: &PlanArgs) -> anyhow::Result<Answer> {
    let loaded = Loaded::read(&args.selection.file)?;
    let pool = super::scoring_pool()?;
    let names = loaded.datasets(&args.selection)?;
    let adapters = Adapters::find(&loaded, &args.selection)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Places::default_run(&args.selection.file));
    let records = match RunRecords::open(&out) {
        Ok(run) => run.records,
        Err(StoreError::NoRun { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    refuse_edited(&out, &records)?;
    let finished = annbench_results::finished_points(&records);
    let measured = measured_beside(&out);
    let machine = annbench_results::collect_machine();

    let mut text = String::new();
    write_settings(&mut text, &loaded);
    let mut total = Estimate::default();
    let mut finished_here = 0;
    for name in &names {
        let permits = args.selection.permits(name);
        let planned = Planned::new(places, name, permits, loaded.largest_k(), &pool)?;
        let (facts, found) = match planned {
            Planned::Opened(facts, found) => (facts, found),
            Planned::EntryOnly(facts, missing) => {
                let why = format!("planned from its entry alone: {missing:#}");
                (facts, vec![why])
            }
        };
        let work = Work::plan(&loaded, &args.selection, &facts, &adapters, &machine)?;
        let info = &facts.info;
        let _ = writeln!(
            text,
            "\n{}: {} x {} {} {}, {} queries",
            info.name, info.n, info.dim, info.element, info.metric, info.queries
        );
        for line in found {
            let _ = writeln!(text, "  {line}");
        }
        for duplicates in &work.duplicates {
            let _ = writeln!(
                text,
                "  {} points of {} group {} are also in group {}: measured once",
                duplicates.points, duplicates.adapter, duplicates.repeated, duplicates.kept
            );
        }
        for (adapter, (builds, points)) in &work.left_out {
            let _ = writeln!(
                text,
                "  {adapter}: {builds} builds with {points} points are left out, for it cannot be used"
            );
        }
        let verdicts = work.judge(|_| true)?;
        for (job, _) in &work.jobs {
            let points: Vec<(&PlannedPoint, Option<String>)> = job
                .points
                .iter()
                .map(|point| (point, verdicts.get(&point.point_id).cloned()))
                .collect();
            let refused = points.iter().filter(|(_, why)| why.is_some()).count();
            let is_done = |(point, why): &(&PlannedPoint, Option<String>)| {
                is_finished(finished.get(&point.point_id).copied(), why.is_some(), false)
            };
            let done = points.iter().filter(|point| is_done(point)).count();
            let left = points
                .iter()
                .filter(|point| point.1.is_none() && !is_done(point))
                .count();
            let estimate = Estimate::of(job, left, &measured, &loaded.campaign.settings().measure);
            total.add(&estimate);
            finished_here += done;
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
    let nothing = total.searches == 0 && finished_here == 0;
    if nothing {
        text.push_str("WARNING: nothing would be measured: every point is refused\n");
    }
    for (name, why) in &adapters.unusable {
        let _ = writeln!(
            text,
            "\nnot planned, since `run` would stop here: {name}: {why:#}"
        );
    }
    Ok(Answer {
        text,
        good: adapters.unusable.is_empty() && !nothing,
    })
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
