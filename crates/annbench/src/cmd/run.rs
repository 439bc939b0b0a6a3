use crate::args::{By, PlanArgs, Retry, RunArgs};
use crate::campaign::Loaded;
use crate::edited::refuse_edited;
use crate::environment::environment;
use crate::estimate::{Estimate, measured_beside};
use crate::lost::lost_points;
use crate::places::Places;
use crate::progress::Progress;
use crate::reproduce::{as_given, command};
use crate::steer::{Allowance, Steering, Turn, coarse_turns};
use crate::subject::Opened;
use crate::terminal::say;
use crate::undeclared::undeclared;
use crate::work::{AdapterInUse, Adapters, Work, Workload};
use crate::{Answer, interrupt};
use annbench_results::{Record, RunRecord, SelfTest, Store};
use annbench_runner::{ADAPTER_PATH, Bench, SubjectFacts, preferred_cpus};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// `annbench run FILE`
pub fn run(places: &Places, args: &RunArgs) -> anyhow::Result<Answer> {
    let start = Instant::now();
    interrupt::listen()?;
    if args.dry_run {
        return super::plan::plan(places, &PlanArgs::of(args));
    }
    let loaded = Loaded::read(&args.selection.file)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Places::default_run(&args.selection.file));
    let pool = super::scoring_pool()?;
    // Everything that can be wrong with the request is looked at before anything is measured.
    let names = loaded.datasets(&args.selection)?;
    let adapters = Adapters::find(&loaded, &args.selection)?.complete()?;
    for one in undeclared(&loaded, &args.selection, &adapters)? {
        say(&format!("WARNING: {}", one.screen));
    }
    let mut opened = Opened::all(
        places,
        &names,
        &args.selection,
        &adapters.found,
        loaded.largest_k(),
        &pool,
    )?;
    let machine = annbench_results::collect_machine();
    refuse_same_vectors(&opened)?;
    for dataset in &mut opened {
        dataset.stratify(&loaded.campaign.settings().k, false, &pool)?;
    }
    let mut planned = Vec::new();
    for dataset in &opened {
        let subject = dataset.subject();
        let work = Work::plan(
            &loaded,
            &args.selection,
            &subject.facts,
            &adapters,
            &machine,
        )?;
        planned.push((subject, work));
    }
    let mut store = Store::create_or_open(&out)?;
    report_opening(&store);
    refuse_edited(&out, store.records())?;
    let mut finished = store.finished_points();
    let asked: BTreeSet<String> = planned
        .iter()
        .flat_map(|(_, work)| work.point_ids().map(str::to_owned))
        .collect();
    if args.effort.retry.contains(&Retry::Lost) {
        let lost = lost_points(&out, store.latest_searches(), |point| asked.contains(point))?;
        say(&format!("{} points have lost their raw files", lost.len()));
        for (point, why) in &lost {
            say(&format!("  {why}"));
            finished.remove(point);
        }
    }
    let retry_failed = args.effort.retry.contains(&Retry::Failed);
    let mut workloads = Vec::with_capacity(planned.len());
    for (subject, work) in planned {
        report_other_truth(&out, &store, &subject.facts);
        // What was rejected before is judged again: its sweep may have changed its mind.
        let refused =
            work.judge(|point| finished.get(&point.point_id).copied() == Some("rejected"))?;
        workloads.push(Workload::new(
            subject,
            work,
            &finished,
            &refused,
            retry_failed,
        ));
    }
    let selftest = if args.skip_selftest {
        None
    } else {
        say("calibrating the harness (--skip-selftest leaves it out)");
        let selftest = crate::selftest::run_selftest(&machine, &pool)?;
        for check in selftest.checks.iter().filter(|check| !check.passed) {
            say(&format!(
                "WARNING: self-test {}: {}; the report will say so",
                check.name, check.detail
            ));
        }
        Some(selftest)
    };
    let run_id = new_run_id();
    let record = run_record(
        &run_id,
        places,
        args,
        &loaded,
        &adapters.found,
        selftest,
        &out,
    );
    store.append(&Record::Run(Box::new(record)))?;

    let done: usize = workloads.iter().map(|w| w.finished).sum();
    let points: usize = workloads.iter().map(Workload::points).sum();
    let builds: usize = workloads.iter().map(Workload::builds).sum();
    if done > 0 {
        say(&format!(
            "{done} points are finished already; {points} remain"
        ));
    }
    let settings = loaded.campaign.settings();
    let (measure, limits) = (&settings.measure, &settings.limits);
    let allowance = args.effort.budget.map(|b| Allowance::new(b, start));
    let end = allowance.as_ref().map(Allowance::end);
    let mut steering = Steering::new(args.effort.stop_at_recall, allowance);
    let records = measured_beside(&out);
    let mut turns = Vec::new();
    for (workload, position) in workloads.iter().zip(0..) {
        for (job, adapter, todo) in &workload.jobs {
            turns.push(Turn {
                family: (
                    workload.subject.facts.info.name.clone(),
                    job.identity.adapter.clone(),
                ),
                points: todo.clone(),
                expected_build: Estimate::of(job, &[], &records, measure).build,
                job: (position, job, adapter),
            });
        }
    }
    if args.effort.budget.is_some() {
        turns = coarse_turns(turns);
    }
    let mut progress = Progress::new(builds, points, end);
    while !turns.is_empty() {
        let mut again = Vec::new();
        let waiting = (0..turns.len()).rev();
        for (turn, waiting) in turns.into_iter().zip(waiting) {
            let (position, job, adapter) = turn.job;
            let subject = &workloads[position].subject;
            let mut observe = |event| progress.observe(event);
            steering.begin_job(&turn.points, waiting);
            let left = Bench {
                run_id: run_id.clone(),
                measure,
                limits,
                cpus: preferred_cpus(),
                pool: &pool,
                store: &mut store,
                steer: &mut steering,
                observe: &mut observe,
                interrupted: interrupt::flag(),
            }
            .run_job(job, &turn.points, &adapter.installed, subject)
            .inspect_err(|_| say(&format!("stopped; go on with: {}", as_given())))?;
            if !left.is_empty() {
                let points = left.into_iter().cloned().collect();
                again.push(Turn { points, ..turn });
            }
        }
        turns = again;
    }
    drop(progress);
    let outcomes = store.finished_points();
    let mut asked = asked.iter().map(|point| outcomes.get(point).copied());
    let nothing = asked.all(|outcome| outcome == Some("rejected"));
    drop(store);
    if nothing {
        say("WARNING: nothing was measured: every point was refused; the reasons are above");
    }
    let mut answer = super::report::answer(
        std::slice::from_ref(&out),
        &out.join("report"),
        super::report::More::default(),
        By::Library,
    )?;
    answer.good &= !nothing;
    Ok(answer)
}

/// Points are identified by content, never by name: under two names they would be one.
fn refuse_same_vectors(opened: &[Opened]) -> anyhow::Result<()> {
    let facts: Vec<_> = opened.iter().map(|o| o.subject().facts.info).collect();
    for (position, one) in facts.iter().enumerate() {
        let twin = facts[..position].iter().find(|other| {
            (
                &other.base_fingerprint,
                &other.queries_fingerprint,
                other.metric,
            ) == (&one.base_fingerprint, &one.queries_fingerprint, one.metric)
        });
        if let Some(twin) = twin {
            anyhow::bail!(
                "{} and {} are the same vectors under the same metric: run each in a folder of its \
                 own, with --dataset and --out, and overlay the reports",
                twin.name,
                one.name
            );
        }
    }
    Ok(())
}

fn report_opening(store: &Store) {
    let opening = store.opening();
    if let Some(torn) = &opening.torn_line {
        say(&format!(
            "an interruption had torn the last record; it was moved to {}",
            torn.display()
        ));
    }
    if !opening.removed.is_empty() {
        say(&format!(
            "{} half-written items of an interrupted run were removed",
            opening.removed.len()
        ));
    }
}

/// A truth that was corrected since does not change what is measured, only its scores.
fn report_other_truth(out: &Path, store: &Store, facts: &SubjectFacts) {
    let others = store
        .latest_searches()
        .into_iter()
        .filter(|search| search.dataset == facts.info)
        .filter(|search| {
            let truth = search.truth.as_ref().filter(|_| search.quality.is_some());
            truth.is_some_and(|truth| truth.fingerprint != facts.truth.fingerprint)
        })
        .count();
    if others > 0 {
        say(&format!(
            "WARNING: {}: {others} finished points were scored against another truth than today's; \
             score them again with: annbench rescore {}",
            facts.info.name,
            out.display()
        ));
    }
}

fn new_run_id() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", since.as_nanos(), std::process::id())
}

fn run_record(
    run_id: &str,
    places: &Places,
    args: &RunArgs,
    loaded: &Loaded,
    adapters: &BTreeMap<String, AdapterInUse>,
    selftest: Option<SelfTest>,
    out: &Path,
) -> RunRecord {
    RunRecord {
        run_id: run_id.to_owned(),
        started_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs(),
        annbench_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command(places, args, out, std::env::var_os(ADAPTER_PATH).as_deref()),
        config_texts: loaded.texts.clone(),
        config_hash: loaded.hash(),
        machine: annbench_results::collect_machine(),
        environment: environment(),
        adapters: adapters
            .iter()
            .map(|(name, adapter)| (name.clone(), adapter.info.clone()))
            .collect(),
        selftest,
        accepted_checksums: args.selection.accept_checksum.clone(),
        accepted_violations: (args.selection.accept_violation.iter())
            .map(ToString::to_string)
            .collect(),
        budget_ns: (args.effort.budget).map(|budget| budget.time.as_nanos() as u64),
        stop_at_recall: args.effort.stop_at_recall,
    }
}
