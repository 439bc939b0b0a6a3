use super::control::Control;
use super::guard::{guard, panic_message};
use super::vectors::Held;
use super::{clock, measure, output, process};
use crate::wire::{
    BuildReport, Fault, FaultKind, OpenReport, PROTOCOL_VERSION, REVISION, Reply, Request, Verdict,
};
use crate::{Adapter, AdapterError, BuildSpec, Index, PointSpec};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Answers requests until the runner is done.
///
/// The three functions below are the three states of a worker: nothing held, vectors held, index
/// held. Each serves what its state can and passes on to the next, so that an index never outlives
/// the vectors it borrows.
pub(super) fn serve(adapter: &dyn Adapter, mut control: Control) -> io::Result<()> {
    control.reply(&Reply::Hello {
        protocol: PROTOCOL_VERSION,
        revision: Some(REVISION.to_owned()),
        descriptor: Box::new(super::describe(adapter)),
    })?;
    while let Some(request) = next(&mut control)? {
        match request {
            Request::Check { points } => {
                let reply = check(adapter, &points);
                control.reply(&reply)?;
            }
            Request::Open {
                base,
                queries,
                copy_base,
                cpus,
            } => {
                let held = Held::open(&base, copy_base)
                    .and_then(|base| Ok((base, Held::open(&queries, true)?)));
                match held {
                    Ok((base, queries)) => {
                        // The copies are made, and the build binds its threads anew.
                        if !cpus.is_empty() {
                            let _ = process::bind_all_threads(&cpus);
                        }
                        control.reply(&Reply::Opened(OpenReport {
                            anonymous_bytes: process::anonymous_bytes(),
                        }))?;
                        return serve_opened(adapter, control, &base, &queries, &cpus);
                    }
                    Err(message) => control.reply(&failed(FaultKind::Io, message))?,
                }
            }
            Request::Close => return Ok(()),
            other => control.reply(&out_of_order(&other, "nothing is open"))?,
        }
    }
    Ok(())
}

fn serve_opened(
    adapter: &dyn Adapter,
    mut control: Control,
    base: &Held,
    queries: &Held,
    cpus: &[usize],
) -> io::Result<()> {
    while let Some(request) = next(&mut control)? {
        let made = match request {
            Request::Check { points } => {
                let reply = check(adapter, &points);
                control.reply(&reply)?;
                continue;
            }
            Request::Build { spec } => make_index(base, cpus, &spec, |base| {
                adapter.build(base.vectors(), &spec)
            }),
            Request::Load { dir, spec } => make_index(base, cpus, &spec, |base| {
                adapter.load(&dir, base.vectors(), &spec)
            }),
            Request::Close => return Ok(()),
            other => {
                control.reply(&out_of_order(&other, "no index is built"))?;
                continue;
            }
        };
        match made {
            Ok((index, report)) => {
                control.reply(&Reply::Built(Box::new(report)))?;
                return serve_built(adapter, control, index.as_ref(), queries, cpus);
            }
            Err(fault) => control.reply(&Reply::Failed(fault))?,
        }
    }
    Ok(())
}

fn serve_built(
    adapter: &dyn Adapter,
    mut control: Control,
    index: &dyn Index,
    queries: &Held,
    cpus: &[usize],
) -> io::Result<()> {
    while let Some(request) = next(&mut control)? {
        let reply = match request {
            Request::Check { points } => check(adapter, &points),
            Request::Search(request) => {
                match measure::measure(index, queries.vectors(), cpus, &request) {
                    Ok(report) => Reply::Searched(Box::new(report)),
                    Err(fault) => Reply::Failed(fault),
                }
            }
            Request::Save { dir } => match guard(|| index.save(&dir)) {
                // Synced here, so that the kernel does not write it back while something is timed.
                Ok(()) => match output::sync_directory(&dir) {
                    Ok(bytes) => Reply::Saved { bytes },
                    Err(error) => failed(FaultKind::Io, format!("{}: {error}", dir.display())),
                },
                Err(fault) => Reply::Failed(fault),
            },
            Request::Close => return Ok(()),
            other => out_of_order(&other, "the index is built"),
        };
        control.reply(&reply)?;
    }
    Ok(())
}

/// The next request that could be understood; what could not be is answered here.
fn next(control: &mut Control) -> io::Result<Option<Request>> {
    loop {
        match control.next() {
            None => return Ok(None),
            Some(Ok(request)) => return Ok(Some(request)),
            Some(Err(error)) => {
                control.reply(&failed(FaultKind::Protocol, error.to_string()))?;
            }
        }
    }
}

fn check(adapter: &dyn Adapter, points: &[PointSpec]) -> Reply {
    let descriptor = adapter.descriptor();
    let mut verdicts = Vec::with_capacity(points.len());
    for point in points {
        let supported = descriptor
            .supports
            .iter()
            .any(|s| s.metric == point.build.metric && s.element == point.build.element);
        let verdict = if !supported {
            Err(AdapterError::Rejected(format!(
                "{} {} does not take metric {} on {} vectors",
                descriptor.library,
                descriptor.library_version,
                point.build.metric,
                point.build.element
            )))
        } else if !descriptor.modes.contains(&point.search.mode) {
            Err(AdapterError::Rejected(format!(
                "the adapter has no {} mode",
                point.search.mode
            )))
        } else {
            match catch_unwind(AssertUnwindSafe(|| adapter.check(point))) {
                Ok(verdict) => verdict,
                Err(payload) => {
                    return failed(FaultKind::Panic, panic_message(payload.as_ref()));
                }
            }
        };
        verdicts.push(match verdict {
            Ok(()) => Verdict::Accepted,
            Err(error) => Verdict::Rejected(error.to_string()),
        });
    }
    Reply::Checked { verdicts }
}

type Made<'b> = (Box<dyn Index + 'b>, BuildReport);

fn make_index<'b>(
    base: &'b Held,
    cpus: &[usize],
    spec: &BuildSpec,
    make: impl FnOnce(&'b Held) -> Result<Box<dyn Index + 'b>, AdapterError>,
) -> Result<Made<'b>, Fault> {
    let vectors = base.vectors();
    if (vectors.n(), vectors.dim(), vectors.element()) != (spec.n, spec.dim, spec.element) {
        return Err(Fault {
            kind: FaultKind::Protocol,
            message: format!(
                "the build is for {} x {} {}, the open base is {} x {} {}",
                spec.n,
                spec.dim,
                spec.element,
                vectors.n(),
                vectors.dim(),
                vectors.element()
            ),
        });
    }
    let affinity = if cpus.is_empty() {
        Err("not asked for".to_owned())
    } else {
        process::bind_all_threads(&cpus[..spec.threads.clamp(1, cpus.len())])
    };
    let memory_before = process::anonymous_bytes();
    let cpu_before = process::cpu_time_ns();
    let start = Instant::now();
    let index = guard(|| make(base))?;
    let wall_ns = clock::nanoseconds(start, Instant::now());
    let cpu_after = process::cpu_time_ns();
    let memory = index.memory();
    let private_growth_bytes = match (process::anonymous_bytes(), memory_before) {
        (Some(after), Some(before)) => Some(after as i64 - before as i64),
        _ => None,
    };
    let report = BuildReport {
        wall_ns,
        cpu_ns: cpu_after
            .zip(cpu_before)
            .map(|(after, before)| after - before),
        private_growth_bytes,
        peak_resident_bytes: process::peak_resident_bytes(),
        borrowed_base_bytes: if memory.borrows_base {
            base.byte_len() as u64
        } else {
            0
        },
        memory,
        threads_seen: process::thread_count(),
        affinity,
    };
    Ok((index, report))
}

fn failed(kind: FaultKind, message: String) -> Reply {
    Reply::Failed(Fault { kind, message })
}

fn out_of_order(request: &Request, state: &str) -> Reply {
    failed(
        FaultKind::Protocol,
        format!("request `{}` came when {state}", request.name()),
    )
}
