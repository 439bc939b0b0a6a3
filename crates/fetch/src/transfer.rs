use crate::part::Part;
use crate::remote::{Answer, Identity, Remote};
use crate::state::State;
use crate::{Cut, DownloadError, Event, Limits, SourceError, Trouble};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Bytes that are read, and written, at once.
const CHUNK: usize = 256 << 10;
/// How often the state is saved: what came since is lost when the process is killed.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// How often waits look whether they should end.
const LOOK: Duration = Duration::from_millis(50);

/// Why there is no file.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The source is to blame: another may do.
    Source(SourceError),
    /// All came, of this source, and has another checksum: of several times perhaps, and so of several
    /// versions.
    Joined(SourceError),
    /// No source would help.
    Here(DownloadError),
}

impl From<DownloadError> for Ended {
    fn from(error: DownloadError) -> Self {
        Self::Here(error)
    }
}

impl From<SourceError> for Ended {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

/// What is talked to, and how.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) remote: &'a dyn Remote,
    pub(crate) url: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) interrupted: &'a AtomicBool,
    pub(crate) tell: &'a (dyn Fn(Event) + Sync),
}

impl Line<'_> {
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Does `work`, while another thread ends its waits once the flag is set.
    pub(crate) fn watched<T>(&self, work: impl FnOnce() -> T) -> T {
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    if self.is_interrupted() {
                        self.remote.interrupt();
                        return;
                    }
                    thread::park_timeout(LOOK);
                }
            });
            // Also when `work` panics, or the watcher would be waited for without end.
            let _end = EndOfWatch {
                finished: &finished,
                watcher: watcher.thread().clone(),
            };
            work()
        })
    }

    /// Waits before attempt `attempt`, as long as the flag is not set.
    pub(crate) fn pause(&self, failure: &SourceError, attempt: u32) {
        let wait = self.limits.wait_before(attempt, failure.retry_after);
        (self.tell)(Event::Retrying {
            url: self.url.to_owned(),
            why: failure.to_string(),
            attempt,
            of: self.limits.tries,
            wait,
        });
        let until = Instant::now() + wait;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if self.is_interrupted() || left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }
}

/// Lets the watcher go.
struct EndOfWatch<'a> {
    finished: &'a AtomicBool,
    watcher: Thread,
}

impl Drop for EndOfWatch<'_> {
    fn drop(&mut self) {
        self.finished.store(true, Ordering::Release);
        self.watcher.unpark();
    }
}

/// The bytes of one file from one source into its part.
pub(crate) struct Transfer<'a> {
    line: Line<'a>,
    part: &'a Part,
    cut: Option<&'a Cut>,
    identity: Identity,
    total: u64,
    /// Whether a part of the file can be asked for, and so several at a time.
    ranged: bool,
    shared: Mutex<Shared>,
    /// Held while the state is saved.
    saving: Mutex<()>,
}

struct Shared {
    state: State,
    jobs: VecDeque<Range<u64>>,
    /// Connections that are still at work.
    working: usize,
    header_is_right: bool,
    /// Answers that bytes were taken from.
    answers: usize,
    saved: Instant,
    ended: Option<Ended>,
}

impl<'a> Transfer<'a> {
    /// `ranged` says whether the server gives parts of the file.
    pub(crate) fn new(
        line: Line<'a>,
        part: &'a Part,
        cut: Option<&'a Cut>,
        state: State,
        ranged: bool,
    ) -> Self {
        Self {
            line,
            part,
            cut,
            identity: state.identity.clone(),
            total: state.total,
            ranged,
            shared: Mutex::new(Shared {
                jobs: VecDeque::new(),
                working: 0,
                // Also what was there before: it may have come last, and not been compared any more.
                header_is_right: false,
                answers: 0,
                saved: Instant::now(),
                state,
                ended: None,
            }),
            saving: Mutex::new(()),
        }
    }

    /// Connections that are of use for what is missing.
    pub(crate) fn connections(&self) -> usize {
        let unit = self.unit();
        let missing = self.shared().state.done.missing(self.total, unit).len();
        missing.clamp(
            1,
            if self.ranged {
                self.line.limits.connections.max(1)
            } else {
                1
            },
        )
    }

    /// Brings what is missing, beginning with the body of `answer`; gives the number of answers that it
    /// came in.
    pub(crate) fn run(
        &self,
        answer: Option<Answer<'_>>,
        connections: usize,
    ) -> Result<usize, Ended> {
        let first = {
            let mut shared = self.shared();
            let mut jobs: VecDeque<_> = shared.state.done.missing(self.total, self.unit()).into();
            let first = answer.and_then(|answer| Some((jobs.pop_front()?, answer)));
            shared.jobs = jobs;
            shared.working = connections.max(1);
            first
        };
        self.line.watched(|| {
            thread::scope(|scope| {
                for _ in 1..connections {
                    scope.spawn(|| self.work(None));
                }
                self.work(first);
            });
        });
        let mut shared = self.shared();
        let saved = self.part.save(&shared.state);
        // What was found before the flag was set has to be told: it may be that this is another file.
        if let Some(ended) = shared.ended.take() {
            return Err(ended);
        }
        if self.line.is_interrupted() {
            return Err(Ended::Here(DownloadError::Interrupted {
                file: self.part.path().to_owned(),
                done: shared.state.done.len(),
                total: self.total,
            }));
        }
        saved?;
        Ok(shared.answers)
    }

    /// Bytes that one request is for.
    fn unit(&self) -> u64 {
        if self.ranged && self.line.remote.in_parallel() {
            self.line.limits.piece
        } else {
            u64::MAX
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is no use in going on.
    fn is_over(&self) -> bool {
        self.line.is_interrupted() || self.shared().ended.is_some()
    }

    fn end(&self, ended: Ended) {
        self.shared().ended.get_or_insert(ended);
    }

    /// Takes one job after another, and those again that failed for a passing reason.
    fn work(&self, mut first: Option<(Range<u64>, Answer<'_>)>) {
        let limits = self.line.limits;
        let mut attempt = 1;
        let mut brought = 0;
        while !self.is_over() {
            let (job, answer) = match first.take() {
                Some((job, answer)) => (job, Some(answer)),
                None => {
                    let mut shared = self.shared();
                    let Some(job) = shared.jobs.pop_front() else {
                        shared.working -= 1;
                        return;
                    };
                    (job, None)
                }
            };
            let mut at = job.start;
            let result = self.bring(&mut at, job.end, answer);
            brought += at - job.start;
            if brought >= limits.headway {
                (attempt, brought) = (1, 0);
            }
            let mut failure = match result {
                Ok(()) => continue,
                Err(Ended::Source(failure)) => failure,
                Err(here) => return self.end(here),
            };
            failure.attempts = attempt;
            // The server has answered before, so that being out of reach may pass, too.
            let may_pass = failure.trouble.may_pass() || failure.trouble == Trouble::Unreachable;
            let exhausted = attempt >= limits.tries;
            {
                let mut shared = self.shared();
                if at < job.end {
                    shared.jobs.push_front(at..job.end);
                }
                // A server that takes fewer connections than these leaves the work to the others.
                if may_pass && exhausted && shared.working > 1 {
                    shared.working -= 1;
                    return;
                }
            }
            if self.is_over() {
                return;
            }
            if !may_pass || exhausted {
                return self.end(Ended::Source(failure));
            }
            attempt += 1;
            brought = 0;
            self.line.pause(&failure, attempt);
        }
    }

    /// Brings the bytes from `at` to `end`; `at` tells how far it came.
    fn bring(&self, at: &mut u64, end: u64, answer: Option<Answer<'_>>) -> Result<(), Ended> {
        let wrong = |trouble, expected: String, found: String| {
            Ended::Source(SourceError::new(self.line.url, trouble, expected, found))
        };
        let mut answer = match answer {
            Some(answer) => answer,
            None => self.line.remote.open(&(*at..end), Some(&self.identity))?,
        };
        if let Some((then, now)) = self.identity.difference(&answer.identity) {
            return Err(wrong(Trouble::Changed, format!("{then}, as before"), now));
        }
        // A server that gives nothing but whole files: what is there is read over.
        let mut over = 0;
        if answer.range.start != *at {
            if self.ranged || answer.range.start > *at {
                let expected = format!("bytes from {at} on");
                let found = format!("the file from byte {} on", answer.range.start);
                return Err(wrong(Trouble::NoRanges, expected, found));
            }
            over = *at - answer.range.start;
        }
        self.shared().answers += 1;
        let begun = *at;
        let given = end.min(answer.range.end);
        let mut pace = Pace::new(self.line.limits);
        let mut chunk = vec![0; CHUNK];
        while *at < given {
            if self.is_over() {
                return Ok(());
            }
            let left = if over > 0 { over } else { given - *at };
            let want = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let n = answer.body.read(&mut chunk[..want])?;
            if n == 0 {
                let expected = format!("bytes up to {end}");
                return Err(wrong(Trouble::Cut, expected, format!("an end after {at}")));
            }
            if over > 0 {
                over -= n as u64;
            } else {
                self.part.write(&chunk[..n], *at)?;
                self.arrived(*at..*at + n as u64)?;
                *at += n as u64;
            }
            if let Err(found) = pace.bytes(n as u64) {
                return Err(wrong(Trouble::Stalled, "bytes to come".to_owned(), found));
            }
        }
        if *at < end {
            let expected = format!("{} bytes", end - begun);
            return Err(wrong(
                Trouble::Cut,
                expected,
                format!("a range of {}", *at - begun),
            ));
        }
        // Nobody but the entry said how long the file is.
        if *at == self.total
            && self.identity.total.is_none()
            && self.cut.is_none()
            && answer.body.read(&mut chunk[..1])? > 0
        {
            let expected = format!("{} bytes", self.total);
            return Err(wrong(Trouble::OtherSize, expected, "more".to_owned()));
        }
        Ok(())
    }

    /// Notes that `range` was written.
    fn arrived(&self, range: Range<u64>) -> Result<(), Ended> {
        let mut shared = self.shared();
        shared.state.done.insert(range);
        let done = shared.state.done.len();
        if let Some(cut) = self.cut
            && !shared.header_is_right
            && shared
                .state
                .done
                .covers(&(0..cut.header_there.len() as u64))
        {
            compare_header(self.part, cut, self.line.url)?;
            shared.header_is_right = true;
        }
        let to_save = (shared.saved.elapsed() >= SAVE_EVERY).then(|| {
            shared.saved = Instant::now();
            shared.state.clone()
        });
        drop(shared);
        (self.line.tell)(Event::Progress {
            done,
            total: self.total,
        });
        if let Some(state) = to_save
            && let Ok(_saving) = self.saving.try_lock()
        {
            self.part.save(&state)?;
        }
        Ok(())
    }
}

/// Compares the first bytes of `part`, which have come from `url`, with those that the file must have, or
/// has once it was given its own.
pub(crate) fn compare_header(part: &Part, cut: &Cut, url: &str) -> Result<(), Ended> {
    let mut found = vec![0; cut.header_there.len()];
    part.read(&mut found, 0)?;
    if found == cut.header_there || found == cut.header_here {
        return Ok(());
    }
    let hex = |bytes: &[u8]| -> String {
        let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    };
    Err(Ended::Source(SourceError::new(
        url,
        Trouble::OtherHeader,
        format!(
            "a file that begins with the bytes {}",
            hex(&cut.header_there)
        ),
        hex(&found),
    )))
}

/// Whether enough comes in time.
struct Pace<'a> {
    limits: &'a Limits,
    since: Instant,
    bytes: u64,
}

impl<'a> Pace<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            since: Instant::now(),
            bytes: 0,
        }
    }

    fn bytes(&mut self, n: u64) -> Result<(), String> {
        self.bytes += n;
        let passed = self.since.elapsed();
        if passed < self.limits.stall {
            return Ok(());
        }
        if self.bytes < self.limits.slowest {
            let seconds = passed.as_secs_f64();
            return Err(format!("{} in {seconds:.1} s", self.bytes));
        }
        (self.since, self.bytes) = (Instant::now(), 0);
        Ok(())
    }
}
