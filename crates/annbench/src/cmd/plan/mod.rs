mod document;
mod reach;

use crate::args::{PlanArgs, Retry};
use crate::campaign::Loaded;
use crate::edited::refuse_edited;
use crate::estimate::{Estimate, Total, measured_beside};
use crate::judged::{JudgedBuild, Unusable, grouped};
use crate::lost::lost_points;
use crate::places::Places;
use crate::progress::{duration, plural};
use crate::steer::{Evidence, Turn, coarse_turns, curves};
use crate::subject::Planned;
use crate::undeclared::{UndeclaredParam, screens, undeclared};
use crate::work::{Adapters, Work, is_finished};
use crate::{Answer, json};
use annbench_results::{RunRecords, StoreError, latest_searches};
use annbench_runner::{PlannedJob, PlannedPoint};
use document::{Document, LeftOut, NamedTwice, PlannedDataset, settings};
use reach::Reach;
use std::collections::BTreeSet;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// `annbench plan FILE`
pub fn plan(places: &Places, args: &PlanArgs) -> anyhow::Result<Answer> {
    let loaded = Loaded::read(&args.selection.file)?;
    let pool = super::scoring_pool()?;
    let names = loaded.datasets(&args.selection)?;
    let adapters = Adapters::find(&loaded, &args.selection)?;
    let undeclared = undeclared(&loaded, &args.selection, &adapters)?;
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
    let mut finished = annbench_results::finished_points(&records);
    if args.effort.retry.contains(&Retry::Lost) {
        let searches = latest_searches(&records);
        for (point, _) in lost_points(&out, searches, |_| true)? {
            finished.remove(&point);
        }
    }
    let measured = measured_beside(&out);
    let evidence = Evidence::of(&records);
    let machine = annbench_results::collect_machine();
    let measure = &loaded.campaign.settings().measure;
    let retry_failed = args.effort.retry.contains(&Retry::Failed);

    let mut text = String::new();
    write_settings(&mut text, &loaded);
    let mut total = Total::default();
    let mut turns: Vec<Turn<PlannedJob>> = Vec::new();
    let mut finished_here = 0;
    let mut refused_here = 0;
    let mut datasets = Vec::with_capacity(names.len());
    for name in &names {
        let permits = args.selection.permits(name);
        let planned = Planned::new(places, name, permits, loaded.largest_k(), &pool)?;
        let (facts, found, identified) = match planned {
            Planned::Opened(facts, found) => (facts, found, true),
            Planned::EntryOnly(facts, missing) => {
                let why = format!("planned from its entry alone: {missing:#}");
                (facts, vec![why], false)
            }
        };
        let work = Work::plan(&loaded, &args.selection, &facts, &adapters, &machine)?;
        let info = &facts.info;
        let _ = writeln!(
            text,
            "\n{}: {} x {} {} {}, {} queries",
            info.name, info.n, info.dim, info.element, info.metric, info.queries
        );
        for line in &found {
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
                "  {adapter}: {} with {} are left out, for it cannot be used",
                plural(*builds, "build"),
                plural(*points, "point")
            );
        }
        let verdicts = work.judge(|_| true)?;
        let mut builds = Vec::new();
        let labels = work.jobs.iter().map(|(job, _)| job.label().width());
        let width = labels.max().unwrap_or(0);
        for (job, _) in &work.jobs {
            let points: Vec<(&PlannedPoint, Option<String>)> = job
                .points
                .iter()
                .map(|point| (point, verdicts.get(&point.point_id).cloned()))
                .collect();
            let refused = points.iter().filter(|(_, why)| why.is_some()).count();
            let is_done = |(point, why): &(&PlannedPoint, Option<String>)| {
                let outcome = finished.get(&point.point_id).copied();
                is_finished(outcome, why.is_some(), retry_failed)
            };
            let is_finished =
                |point: &&(&PlannedPoint, Option<String>)| point.1.is_none() && is_done(point);
            let done = points.iter().filter(is_finished).count();
            let (saturated, left): (Vec<_>, Vec<_>) = points
                .iter()
                .filter(|point| point.1.is_none() && !is_done(point))
                .map(|(point, _)| *point)
                .partition(|point| {
                    let target = args.effort.stop_at_recall;
                    target
                        .is_some_and(|target| evidence.saturated(point, &records, target).is_some())
                });
            let saturated: BTreeSet<&str> = saturated.iter().map(|p| p.point_id.as_str()).collect();
            // As in a run: a build with nothing left takes no turn.
            if !left.is_empty() {
                turns.push(Turn {
                    family: (info.name.clone(), job.identity.adapter.clone()),
                    points: left.iter().map(|point| (*point).clone()).collect(),
                    expected_build: Estimate::of(job, &[], &measured, measure).build,
                    job: job.clone(),
                });
            }
            finished_here += done + saturated.len();
            refused_here += refused;
            let _ = writeln!(
                text,
                "  {:width$} {:3} to search, {refused} refused, {done} finished{}{}",
                job.label(),
                left.len(),
                match saturated.len() {
                    0 => String::new(),
                    beyond => format!(", {beyond} beyond --stop-at-recall"),
                },
                if job.given.as_ref().is_ok_and(|g| g.element != info.element) {
                    format!(", given as {}", job.spec.element)
                } else {
                    String::new()
                }
            );
            if args.points {
                for judged in &points {
                    let (point, refused) = judged;
                    let word = match finished.get(&point.point_id) {
                        _ if refused.is_some() => "refused",
                        Some(word) if is_done(judged) => word,
                        _ if saturated.contains(point.point_id.as_str()) => "skip",
                        _ => "search",
                    };
                    let why = refused
                        .as_ref()
                        .map_or(String::new(), |why| format!(": {why}"));
                    let _ = writeln!(text, "    {word:8} {}{why}", point.label());
                }
            } else {
                let reasons = points.iter().filter_map(|(_, refused)| refused.as_deref());
                for (reason, times) in grouped(reasons) {
                    let _ = writeln!(text, "    {times} refused: {reason}");
                }
            }
            if args.form.json {
                let judged = points.iter().map(|(point, refused)| {
                    let word = match (refused, finished.get(&point.point_id)) {
                        (Some(_), _) => "rejected",
                        (None, outcome) if is_done(&(*point, None)) => outcome.unwrap_or(&""),
                        _ if saturated.contains(point.point_id.as_str()) => "skipped",
                        (None, _) => "to_search",
                    };
                    (*point, word, refused.as_deref())
                });
                builds.push(JudgedBuild::new(job, judged, identified));
            }
        }
        if args.form.json {
            datasets.push(PlannedDataset {
                dataset: facts.info.clone(),
                entry_only: !identified,
                found,
                builds,
                duplicates: work.duplicates.iter().map(NamedTwice::new).collect(),
                left_out: work.left_out.iter().map(LeftOut::new).collect(),
            });
        }
    }
    if args.effort.budget.is_some() {
        turns = coarse_turns(turns);
    }
    let mut estimates = Vec::with_capacity(turns.len());
    for turn in &turns {
        let points: Vec<&PlannedPoint> = turn.points.iter().collect();
        let estimate = Estimate::of(&turn.job, &points, &measured, measure);
        total.add(&estimate);
        estimates.push((estimate, curves(&turn.points)));
    }
    let budget = args.effort.budget;
    let reach = budget.map(|budget| Reach::of(budget, &estimates));
    let nothing = total.searches == 0 && finished_here == 0;
    if args.form.json {
        text = json::document(&Document {
            file: loaded.campaign.file(),
            settings: settings(&loaded),
            datasets,
            builds: total.builds,
            searches: total.searches,
            estimated_wall_ns: total.time().map(|time| time.as_nanos() as u64),
            least_wall_ns: total.least.as_nanos() as u64,
            budget_ns: reach.map(|reach| reach.budget.time.as_nanos() as u64),
            reached_by_budget: reach.and_then(|reach| reach.points),
            undeclared_parameters: UndeclaredParam::all(&undeclared),
            unusable_adapters: Unusable::all(&adapters.unusable),
        })?;
        return Ok(Answer {
            text,
            good: adapters.unusable.is_empty() && !nothing,
        });
    }
    let _ = writeln!(
        text,
        "\n{}, {} of {} repetitions{}",
        plural(total.builds, "build"),
        match total.searches {
            1 => "1 search".to_owned(),
            searches => format!("{searches} searches"),
        },
        loaded.campaign.settings().measure.repetitions,
        match total.time() {
            Some(time) => format!(", about {}", duration(time)),
            None if total.searches == 0 => String::new(),
            None => format!(
                ", at least {}: how long {} of the builds take, or their searches, is unknown until one \
                 like them was measured here",
                duration(total.least),
                total.unknown
            ),
        }
    );
    if let Some(reach) = reach {
        let _ = writeln!(text, "{reach}");
    }
    if nothing {
        text.push_str(match refused_here {
            0 => "WARNING: nothing would be measured\n",
            _ => "WARNING: nothing would be measured: every point is refused\n",
        });
    }
    text.push_str(&screens(&undeclared));
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
