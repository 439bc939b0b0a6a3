use crate::args::Permits;
use crate::interrupt;
use crate::terminal::say;
use annbench_dataset::{Activity, OpenOptions, Progress};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Says what takes long: a line when a step has gone on for a while, then every few seconds.
struct Watcher {
    name: String,
    last: Mutex<Instant>,
}

/// Steps shorter than this are not worth a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// Does `work` on the dataset `name` with what it may use, saying what takes long.
pub fn watched<T>(
    name: &str,
    permits: Permits,
    pool: &rayon::ThreadPool,
    work: impl FnOnce(&OpenOptions<'_>) -> T,
) -> T {
    let watcher = Watcher::new(name);
    let watch = |progress: Progress<'_>| watcher.watch(progress);
    work(&OpenOptions {
        accept_checksum: permits.accept_checksum,
        narrow: permits.narrow,
        pool,
        watch: &watch,
    })
}

impl Watcher {
    /// For the dataset `name`.
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            last: Mutex::new(Instant::now()),
        }
    }

    /// Hears of progress; cancels after an interrupt.
    fn watch(&self, progress: Progress<'_>) -> ControlFlow<()> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= PATIENCE {
            *last = Instant::now();
            let doing = match progress.activity {
                Activity::Checksum => "checking the checksum of",
                Activity::Convert => "converting",
                Activity::Write => "writing",
                Activity::Fingerprint => "fingerprinting",
                Activity::Truth => "computing exact neighbours over",
                Activity::Occurrences => "counting near neighbours among the rows of",
                Activity::Audit => "reading for the audit",
                Activity::Waiting => "waiting for another annbench, which searches the same in",
            };
            let file = progress.path.file_name().unwrap_or_default();
            say(&format!(
                "{}: {doing} {}: {} %",
                self.name,
                file.display(),
                progress.done * 100 / progress.total.max(1)
            ));
        }
        if interrupt::flag().load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
