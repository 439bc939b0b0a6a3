use crate::args::{By, Retry, RunArgs};
use crate::campaign::Loaded;
use crate::places::Places;
use crate::progress::{Progress, say};
use crate::subject::Opened;
use crate::work::{AdapterInUse, Work, Workload};
use crate::{Answer, interrupt};
use annbench_results::{Fact, Record, RunRecord, SelfTest, Store};
use annbench_runner::{Bench, preferred_cpus};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// `annbench run FILE`
pub fn run(places: &Places, args: &RunArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let loaded = Loaded::read(&args.selection.file)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Places::default_run(&args.selection.file));
    let pool = super::scoring_pool()?;
    // Everything that can be wrong with the request is looked at before anything is measured.
    let names = loaded.datasets(&args.selection)?;
    let adapters = AdapterInUse::all(&loaded, &args.selection)?;
    let opened = Opened::all(
        places,
        &names,
        &args.selection,
        &adapters,
        loaded.largest_k(),
        &pool,
    )?;
    let machine = annbench_results::collect_machine();
    refuse_same_vectors(&opened)?;
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
    let finished = store.finished_points();
    let retry = args.retry == Some(Retry::Failed);
    let mut workloads = Vec::with_capacity(planned.len());
    for (subject, work) in planned {
        // What was rejected before is judged again: its sweep may have changed its mind.
        let refused =
            work.judge(|point| finished.get(&point.point_id).copied() == Some("rejected"))?;
        workloads.push(Workload::new(subject, work, &finished, &refused, retry));
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
    let record = run_record(&run_id, places, args, &loaded, &adapters, selftest, &out);
    store.append(&Record::Run(Box::new(record)))?;

    let done: usize = workloads.iter().map(|w| w.finished).sum();
    let points: usize = workloads.iter().map(Workload::points).sum();
    let builds: usize = workloads.iter().map(Workload::builds).sum();
    if done > 0 {
        say(&format!(
            "{done} points are finished already; {points} remain"
        ));
    }
    let mut progress = Progress::new(builds, points);
    for workload in &workloads {
        for (job, adapter, todo) in &workload.jobs {
            let settings = loaded.campaign.settings();
            let mut observe = |event| progress.observe(event);
            Bench {
                run_id: run_id.clone(),
                measure: &settings.measure,
                limits: &settings.limits,
                cpus: preferred_cpus(),
                pool: &pool,
                store: &mut store,
                observe: &mut observe,
                interrupted: interrupt::flag(),
            }
            .run_job(job, todo, &adapter.installed, &workload.subject)
            .inspect_err(|_| say(&format!("stopped; go on with: {}", command_line())))?;
        }
    }
    progress.finish();
    drop(store);
    super::report::answer(
        std::slice::from_ref(&out),
        &out.join("report"),
        false,
        By::Library,
    )
}

/// What the machine tells, what limits it can keep, and what the workers inherit from whoever started
/// the run.
fn environment() -> BTreeMap<String, Fact> {
    let mut facts = annbench_results::collect_environment(annbench_core::wire::COMPILER);
    let linux = |what: &str| {
        if cfg!(target_os = "linux") {
            Fact::Known(what.to_owned())
        } else {
            Fact::Unavailable("only Linux tells".to_owned())
        }
    };
    let memory = "RssAnon + RssShmem of the process tree at 10 Hz; RLIMIT_DATA 2 GiB above";
    facts.insert("memory_limit".to_owned(), linux(memory));
    facts.insert(
        "affinity".to_owned(),
        linux("every task of a worker, physical cores first"),
    );
    let prefixes = [
        "BLIS_",
        "GLIBC_",
        "GOMP_",
        "KMP_",
        "LD_",
        "MALLOC_",
        "MKL_",
        "OMP_",
        "OPENBLAS_",
        "RAYON_",
    ];
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            facts.insert(format!("inherited {name}"), Fact::Known(value.into_owned()));
        }
    }
    facts
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

fn new_run_id() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", since.as_nanos(), std::process::id())
}

/// The command line as it was given, quoted for a shell.
fn command_line() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| quoted(word.to_string_lossy().into_owned()))
        .collect();
    format!("annbench {}", words.join(" "))
}

/// The command line that gives this run again. The run directory is named as the user named it,
/// unless that would tell about this machine.
fn command(places: &Places, args: &RunArgs, out: &std::path::Path) -> String {
    let shown = |path: &std::path::Path| -> String {
        let path = if path.is_absolute() {
            PathBuf::from(path.file_name().unwrap_or(path.as_os_str()))
        } else {
            path.to_owned()
        };
        path.display().to_string()
    };
    let mut words = vec!["annbench run".to_owned(), shown(&args.selection.file)];
    let mut add = |flag: &str, values: &[String]| {
        for value in values {
            words.push(format!("{flag} {value}"));
        }
    };
    add("--dataset", &args.selection.dataset);
    add("--group", &args.selection.group);
    add("--adapter", &args.selection.adapter);
    add("--without-adapter", &args.selection.without_adapter);
    add("--accept-checksum", &args.selection.accept_checksum);
    for (flag, path) in &places.flags {
        words.push(format!("{flag} {}", shown(path)));
    }
    words.push(format!("--out {}", shown(out)));
    words.join(" ")
}

fn run_record(
    run_id: &str,
    places: &Places,
    args: &RunArgs,
    loaded: &Loaded,
    adapters: &BTreeMap<String, AdapterInUse>,
    selftest: Option<SelfTest>,
    out: &std::path::Path,
) -> RunRecord {
    RunRecord {
        run_id: run_id.to_owned(),
        started_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs(),
        annbench_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command(places, args, out),
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
    }
}
