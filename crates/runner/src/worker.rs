//! One worker process: started, spoken to within limits, ended with everything it started.

use crate::hello::read_hello;
use crate::installed::Installed;
use crate::pipes::{Arrival, Replies, Requests};
use crate::process::{WorkerProcess, signal_name};
use crate::tail::Tail;
use annbench_core::wire::{Numbered, Reply, Request, Stage, Verdict, parse_frame, write_frame};
use annbench_core::{Descriptor, PointSpec};
use annbench_results::{Cause, Failure};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Memory and deadlines are looked at this often: never faster than 10 Hz, so that watching does
/// not disturb what is measured.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);
/// Longest time from the start of an executable to its first words.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Longest time for an adapter to judge a portion of points.
const CHECK_LIMIT: Duration = Duration::from_secs(600);
/// Points judged in one request.
const CHECK_PORTION: usize = 1000;
/// Longest time to the end of a process that closed its pipe.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// Longest time to end by itself when asked to: freeing a large index may take a while, but nobody
/// needs it done.
const CLOSE_LIMIT: Duration = Duration::from_millis(200);

/// How a worker is started.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// Thread variables and whatever else the environment needs.
    pub environment: BTreeMap<String, String>,
    /// Private memory of the process tree.
    pub memory_limit_bytes: u64,
}

/// Why a request brought no reply.
#[derive(Debug)]
pub enum RequestError {
    /// The worker is gone or was ended; it answers nothing more.
    Ended(Failure),
    /// The user asked to stop; the worker was ended.
    Interrupted,
}

/// A running worker.
pub struct Worker {
    process: WorkerProcess,
    /// Dropped, it closes the pipe.
    requests: Option<Requests>,
    replies: Replies,
    /// Requests sent so far, and so the number that the next reply must carry.
    number: u64,
    tail: Tail,
    memory_limit_bytes: u64,
    peak_bytes: Option<u64>,
}

impl Worker {
    /// Starts the executable and hears its first words.
    ///
    /// # Errors
    /// [`RequestError::Ended`] at [`Stage::Start`] when the executable cannot be started, speaks
    /// another protocol or nothing at all.
    pub fn start(
        installed: &Installed,
        settings: &WorkerSettings,
        interrupted: &AtomicBool,
    ) -> Result<(Self, Descriptor), RequestError> {
        let mut worker = Self::spawn(installed, settings).map_err(|error| {
            RequestError::Ended(Failure {
                stage: Stage::Start,
                cause: Cause::Io,
                message: format!("{}: {error}", installed.path.display()),
                stderr_tail: String::new(),
            })
        })?;
        let frame = worker.await_frame(Stage::Start, START_LIMIT, interrupted)?;
        match read_hello(&frame) {
            Ok(descriptor) => Ok((worker, descriptor)),
            Err(reason) => Err(worker.end_with(
                Stage::Start,
                Cause::Protocol,
                format!("{}: {reason}", installed.path.display()),
            )),
        }
    }

    fn spawn(installed: &Installed, settings: &WorkerSettings) -> io::Result<Self> {
        let memory_limit_bytes = settings.memory_limit_bytes;
        let (process, pipes) =
            WorkerProcess::spawn(installed, &settings.environment, memory_limit_bytes)?;
        Ok(Self {
            process,
            requests: Some(Requests::write(pipes.stdin)?),
            replies: Replies::read(pipes.stdout)?,
            number: 0,
            tail: Tail::follow(pipes.stderr)?,
            memory_limit_bytes,
            peak_bytes: None,
        })
    }

    /// Sends a request and waits for its reply, for at most `limit`.
    ///
    /// # Errors
    /// [`RequestError`]; the worker and all it started are gone then.
    pub fn request(
        &mut self,
        stage: Stage,
        request: &Request,
        limit: Duration,
        interrupted: &AtomicBool,
    ) -> Result<Reply, RequestError> {
        self.number += 1;
        let mut frame = Vec::new();
        let numbered = Numbered {
            number: self.number,
            message: request,
        };
        if let Err(error) = write_frame(&mut frame, &numbered) {
            return Err(self.end_with(stage, Cause::Protocol, error.to_string()));
        }
        // What it says from here on is about this request.
        self.tail.begin();
        if let Some(requests) = &self.requests {
            requests.send(frame);
        }
        self.await_reply(stage, limit, interrupted)
    }

    /// Has the adapter judge points without building anything: a verdict each, in order. Asked in
    /// portions, since a plan may be large.
    ///
    /// # Errors
    /// The reply that was no verdict, or the worker's end.
    pub fn check(
        &mut self,
        points: &[PointSpec],
        interrupted: &AtomicBool,
    ) -> Result<Result<Vec<Verdict>, Reply>, RequestError> {
        let mut all = Vec::with_capacity(points.len());
        for portion in points.chunks(CHECK_PORTION) {
            let request = Request::Check {
                points: portion.to_vec(),
            };
            match self.request(Stage::Check, &request, CHECK_LIMIT, interrupted)? {
                Reply::Checked { verdicts } if verdicts.len() == portion.len() => {
                    all.extend(verdicts);
                }
                other => return Ok(Err(other)),
            }
        }
        Ok(Ok(all))
    }

    /// The limit it runs under.
    pub fn memory_limit_bytes(&self) -> u64 {
        self.memory_limit_bytes
    }

    /// Highest private memory of the tree seen so far.
    pub fn peak_bytes(&self) -> Option<u64> {
        self.peak_bytes
    }

    /// Last 4 KiB of standard error so far.
    pub fn stderr_tail(&self) -> String {
        self.tail.text()
    }

    fn await_reply(
        &mut self,
        stage: Stage,
        limit: Duration,
        interrupted: &AtomicBool,
    ) -> Result<Reply, RequestError> {
        let frame = self.await_frame(stage, limit, interrupted)?;
        match parse_frame::<Numbered<Reply>>(&frame) {
            Ok(reply) if reply.number == self.number => Ok(reply.message),
            Ok(reply) => {
                let message = format!(
                    "expected the reply to request {}, found one to request {}",
                    self.number, reply.number
                );
                Err(self.end_with(stage, Cause::Protocol, message))
            }
            Err(error) => Err(self.end_with(stage, Cause::Protocol, error.to_string())),
        }
    }

    /// Whether it has said something that it was not asked for: the next reply could not be trusted.
    pub(crate) fn has_stray_reply(&mut self) -> bool {
        self.replies.has_frame()
    }

    fn await_frame(
        &mut self,
        stage: Stage,
        limit: Duration,
        interrupted: &AtomicBool,
    ) -> Result<Vec<u8>, RequestError> {
        let deadline = Instant::now() + limit;
        loop {
            match self.replies.next(WATCH_INTERVAL) {
                Arrival::Frame(frame) => {
                    // What was quick would otherwise never be looked at.
                    self.watch_memory(stage)?;
                    return Ok(frame);
                }
                Arrival::Closed => return Err(self.end_because_closed(stage)),
                Arrival::Garbled(error) => {
                    return Err(self.end_with(stage, Cause::Protocol, error.to_string()));
                }
                Arrival::Nothing => {}
            }
            if interrupted.load(Ordering::Relaxed) {
                self.end();
                return Err(RequestError::Interrupted);
            }
            self.watch_memory(stage)?;
            if Instant::now() >= deadline {
                return Err(self.end_with(
                    stage,
                    Cause::Timeout {
                        limit_ns: limit.as_nanos() as u64,
                    },
                    format!(
                        "no reply within {:.1} s; {}",
                        limit.as_secs_f64(),
                        advice(stage)
                    ),
                ));
            }
            // A process left behind may hold the pipe open, so its end is not the only sign.
            if self.process.has_exited() && self.replies.are_dry(WATCH_INTERVAL) {
                return Err(self.end_because_closed(stage));
            }
        }
    }

    fn watch_memory(&mut self, stage: Stage) -> Result<(), RequestError> {
        if let Some(observed) = self.process.private_bytes() {
            self.peak_bytes = self.peak_bytes.max(Some(observed));
            if observed > self.memory_limit_bytes {
                return Err(self.end_with(
                    stage,
                    Cause::OutOfMemory {
                        limit_bytes: self.memory_limit_bytes,
                        observed_bytes: Some(observed),
                    },
                    format!(
                        "{observed} bytes of private memory exceed the limit of {}; raise \
                         limits.memory to let it go on",
                        self.memory_limit_bytes
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The worker closed its pipe: what its process came to is the cause.
    fn end_because_closed(&mut self, stage: Stage) -> RequestError {
        let exited = self.process.exits_within(EXIT_LIMIT);
        self.tail.settle();
        let status = self.end();
        let stderr_tail = self.tail.text();
        let (cause, message) = match status {
            Some(status) if exited => self.cause_of(status, &stderr_tail),
            _ => (
                Cause::Protocol,
                "the worker closed its pipe but went on running".to_owned(),
            ),
        };
        RequestError::Ended(Failure {
            stage,
            cause,
            message,
            stderr_tail,
        })
    }

    fn end_with(&mut self, stage: Stage, cause: Cause, message: String) -> RequestError {
        self.end();
        self.tail.settle();
        RequestError::Ended(Failure {
            stage,
            cause,
            message,
            stderr_tail: self.tail.text(),
        })
    }

    fn cause_of(&self, status: ExitStatus, stderr_tail: &str) -> (Cause, String) {
        // Under RLIMIT_DATA an allocation may fail before the sampled limit is seen.
        if says_out_of_memory(stderr_tail) && !status.success() {
            return (
                Cause::OutOfMemory {
                    limit_bytes: self.memory_limit_bytes,
                    observed_bytes: self.peak_bytes,
                },
                format!("an allocation failed under the memory limit; the process {status}"),
            );
        }
        match (status.signal(), status.code()) {
            (Some(signal), _) => (
                Cause::Signal {
                    signal,
                    name: signal_name(signal).to_owned(),
                },
                format!("the process was ended by {}", signal_name(signal)),
            ),
            (None, code) => {
                let code = code.unwrap_or(-1);
                (
                    Cause::Exit { code },
                    format!("the process exited with code {code} instead of replying"),
                )
            }
        }
    }

    fn end(&mut self) -> Option<ExitStatus> {
        self.requests = None;
        self.process.end()
    }

    /// Lets the worker end by itself, then clears away what it left.
    pub fn close(mut self) {
        let mut frame = Vec::new();
        let close = Numbered {
            number: self.number + 1,
            message: Request::Close,
        };
        if let (Some(requests), Ok(())) = (self.requests.take(), write_frame(&mut frame, &close)) {
            requests.send(frame);
        }
        self.process.exits_within(CLOSE_LIMIT);
        self.end();
    }
}

/// What to do about a stage that takes too long.
fn advice(stage: Stage) -> &'static str {
    match stage {
        Stage::Search => "raise limits.search to let it go on",
        Stage::Build | Stage::Save | Stage::Load => "raise limits.build to let it go on",
        Stage::Start => "try the executable by hand with --describe",
        Stage::Check => "ask for fewer points at once",
        Stage::Open => "look whether the disk that holds the vectors answers",
    }
}

/// Whether a message has the words of Rust, C++, the C library or an adapter of ours for an
/// allocation that failed.
pub(crate) fn says_out_of_memory(message: &str) -> bool {
    [
        "memory allocation of",
        "std::bad_alloc",
        "Cannot allocate memory",
        "out of memory: ",
    ]
    .iter()
    .any(|words| message.contains(words))
}
