//! One worker process: started, spoken to within limits, ended with everything it started.

use crate::installed::Installed;
use crate::tail::Tail;
use crate::tree;
use annbench_core::wire::{
    FrameError, MARK, Numbered, PROTOCOL_VERSION, REVISION, Reply, Request, Stage, Verdict,
    read_frame, write_frame,
};
use annbench_core::{Descriptor, PointSpec};
use annbench_results::{Cause, Failure};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
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
/// Room above the memory limit before the kernel itself refuses: RLIMIT_DATA counts reserved,
/// untouched memory such as thread stacks, so it may only be a backstop.
const BACKSTOP_BYTES: u64 = 2 << 30;

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
    child: Child,
    /// Frames for the writing thread; dropped, it closes the pipe.
    requests: Option<mpsc::Sender<Vec<u8>>>,
    replies: mpsc::Receiver<Result<Numbered<Reply>, FrameError>>,
    /// Requests sent so far, and so the number that the next reply must carry.
    number: u64,
    tail: Tail,
    mark: String,
    memory_limit_bytes: u64,
    peak_bytes: Option<u64>,
    ended: bool,
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
        match worker.await_reply(Stage::Start, START_LIMIT, interrupted)? {
            Reply::Hello {
                protocol: PROTOCOL_VERSION,
                revision,
                descriptor,
            } => match revision {
                Some(other) if other != REVISION => Err(worker.end_with(
                    Stage::Start,
                    Cause::Protocol,
                    format!(
                        "{}: built from another revision of annbench-core, so it may measure in \
                         another way: expected {REVISION}, found {other}; rebuild it with \
                         scripts/build-adapters",
                        installed.path.display()
                    ),
                )),
                _ => Ok((worker, *descriptor)),
            },
            Reply::Hello { protocol, .. } => Err(worker.end_with(
                Stage::Start,
                Cause::Protocol,
                format!(
                    "{}: expected protocol {PROTOCOL_VERSION}, found {protocol}; rebuild it with \
                     scripts/build-adapters",
                    installed.path.display()
                ),
            )),
            other => Err(worker.end_with(
                Stage::Start,
                Cause::Protocol,
                format!("expected a hello, found {}", name_of(&other)),
            )),
        }
    }

    fn spawn(installed: &Installed, settings: &WorkerSettings) -> io::Result<Self> {
        become_subreaper();
        let mark = unique_mark();
        let mut command = Command::new(&installed.path);
        command
            .envs(&settings.environment)
            .env(MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let data_limit = settings.memory_limit_bytes.saturating_add(BACKSTOP_BYTES);
        // SAFETY: the closure makes async-signal-safe system calls only and touches no memory of
        // the parent's other threads.
        unsafe {
            command.pre_exec(move || {
                limit_resources(data_limit);
                Ok(())
            });
        }
        let mut child = command.spawn()?;
        let (Some(stdin), Some(mut stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the pipes were not made"));
        };
        let tail = Tail::follow(stderr)?;
        let requests = write_requests(stdin)?;
        let (sender, replies) = mpsc::channel();
        std::thread::Builder::new()
            .name("replies".to_owned())
            .spawn(move || {
                loop {
                    let reply = read_frame::<Numbered<Reply>>(&mut stdout);
                    let last = reply.is_err();
                    if sender.send(reply).is_err() || last {
                        return;
                    }
                }
            })?;
        Ok(Self {
            child,
            requests: Some(requests),
            replies,
            number: 0,
            tail,
            mark,
            memory_limit_bytes: settings.memory_limit_bytes,
            peak_bytes: None,
            ended: false,
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
        // A worker that is gone shows at the reply, with its own end as the cause.
        if let Some(requests) = &self.requests {
            let _ = requests.send(frame);
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
        let deadline = Instant::now() + limit;
        loop {
            match self.replies.recv_timeout(WATCH_INTERVAL) {
                Ok(Ok(reply)) if reply.number != self.number => {
                    let message = format!(
                        "expected the reply to request {}, found one to request {}",
                        self.number, reply.number
                    );
                    return Err(self.end_with(stage, Cause::Protocol, message));
                }
                Ok(Ok(reply)) => {
                    // What was quick would otherwise never be looked at.
                    self.watch_memory(stage)?;
                    return Ok(reply.message);
                }
                Ok(Err(FrameError::Closed)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.end_because_closed(stage));
                }
                Ok(Err(error)) => return Err(self.end_because_garbled(stage, &error)),
                Err(RecvTimeoutError::Timeout) => {}
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
            if self.has_exited() && self.replies_are_dry() {
                return Err(self.end_because_closed(stage));
            }
        }
    }

    /// Private memory of the worker and of all it started, those included that left its tree.
    fn private_bytes(&self) -> Option<u64> {
        let mut roots = tree::adopted(&self.mark);
        roots.push(self.child.id());
        tree::private_bytes(&tree::processes_under(roots))
    }

    fn watch_memory(&mut self, stage: Stage) -> Result<(), RequestError> {
        if let Some(observed) = self.private_bytes() {
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

    /// After the process ended: whether nothing more came within a moment.
    fn replies_are_dry(&mut self) -> bool {
        match self.replies.recv_timeout(WATCH_INTERVAL) {
            Err(_) | Ok(Err(FrameError::Closed)) => true,
            Ok(last) => {
                // Put it back in front of the next look.
                let (sender, replies) = mpsc::channel();
                let _ = sender.send(last);
                self.replies = replies;
                false
            }
        }
    }

    fn end_because_garbled(&mut self, stage: Stage, error: &FrameError) -> RequestError {
        self.end_with(stage, Cause::Protocol, error.to_string())
    }

    /// The worker closed its pipe: what its process came to is the cause.
    fn end_because_closed(&mut self, stage: Stage) -> RequestError {
        let exited = self.exits_soon();
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

    /// Whether the process has ended, without collecting it: until then its id, and that of its
    /// group, cannot be another's.
    fn has_exited(&self) -> bool {
        // SAFETY: an all-zero siginfo_t is a valid value.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` is a valid place for one siginfo_t.
        let failed =
            unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, options) } != 0;
        // SAFETY: waitid has filled the fields of a child's change of state, or left them zero.
        !failed && unsafe { info.si_pid() } != 0
    }

    /// Waits up to two seconds for the process to end by itself.
    fn exits_soon(&self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(2);
        while !self.has_exited() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
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

    /// Ends the worker, its process group and every process that carries its mark, and collects them
    /// all. Returns how the worker itself ended, the first time.
    fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        self.requests = None;
        let group = self.child.id() as i32;
        // What has left the group can only be found while it lives.
        let left = tree::marked_processes(&self.mark);
        kill(-group);
        let status = self.child.wait().ok();
        collect(-group);
        for pid in left {
            kill(pid as i32);
            collect(pid as i32);
        }
        // Repeated, since a process may start another between the look and the kill.
        for _ in 0..20 {
            let left = tree::marked_processes(&self.mark);
            if left.is_empty() {
                break;
            }
            for pid in left {
                kill(pid as i32);
                collect(pid as i32);
            }
        }
        status
    }

    /// Lets the worker end by itself, then clears away what it left.
    pub fn close(mut self) {
        let mut frame = Vec::new();
        let close = Numbered {
            number: self.number + 1,
            message: Request::Close,
        };
        if let (Some(requests), Ok(())) = (self.requests.take(), write_frame(&mut frame, &close)) {
            let _ = requests.send(frame);
        }
        // Freeing a large index may take a while, but nobody needs it done.
        let deadline = Instant::now() + Duration::from_millis(200);
        while Instant::now() < deadline && !self.has_exited() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.end();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// The word for a reply in messages.
pub(crate) fn name_of(reply: &Reply) -> &'static str {
    match reply {
        Reply::Hello { .. } => "hello",
        Reply::Checked { .. } => "checked",
        Reply::Opened(_) => "opened",
        Reply::Built(_) => "built",
        Reply::Saved { .. } => "saved",
        Reply::Searched(_) => "searched",
        Reply::Failed(_) => "failed",
    }
}

fn unique_mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let started = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    format!(
        "{}-{}-{started}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

fn kill(pid: i32) {
    // SAFETY: sending a signal has no memory effects.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
    }
}

/// Collects a killed orphan, or those of a group when `pid` is negative, that this process has
/// inherited as the subreaper. They die within moments; one that is not ours is not waited for.
fn collect(pid: i32) {
    let deadline = Instant::now() + Duration::from_millis(500);
    while Instant::now() < deadline {
        // SAFETY: a null status is allowed; WNOHANG never blocks.
        match unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => std::thread::sleep(Duration::from_millis(1)),
            // Another of the group may be left.
            collected if collected > 0 => {}
            _ => return,
        }
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

/// A thread that writes frames, so that an adapter that does not read cannot hold the runner.
fn write_requests(mut stdin: ChildStdin) -> io::Result<mpsc::Sender<Vec<u8>>> {
    let (requests, frames) = mpsc::channel::<Vec<u8>>();
    std::thread::Builder::new()
        .name("requests".to_owned())
        .spawn(move || {
            for frame in frames {
                if stdin
                    .write_all(&frame)
                    .and_then(|()| stdin.flush())
                    .is_err()
                {
                    return;
                }
            }
        })?;
    Ok(requests)
}

/// Orphans of workers become children of this process instead of vanishing to init.
fn become_subreaper() {
    #[cfg(target_os = "linux")]
    // SAFETY: sets a flag of this process.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

fn limit_resources(data_limit: u64) {
    let set = |resource, value: u64| {
        let limit = libc::rlimit {
            rlim_cur: value as libc::rlim_t,
            rlim_max: value as libc::rlim_t,
        };
        // SAFETY: `limit` is a whole rlimit. A refusal leaves the old limit, which is no error:
        // the sampled limit is the one that counts.
        unsafe {
            libc::setrlimit(resource, &raw const limit);
        }
    };
    set(libc::RLIMIT_CORE, 0);
    set(libc::RLIMIT_DATA, data_limit);
    #[cfg(target_os = "linux")]
    // SAFETY: asks for a signal when the starting thread ends.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGHUP => "SIGHUP",
        libc::SIGILL => "SIGILL",
        libc::SIGINT => "SIGINT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGXCPU => "SIGXCPU",
        _ => "a signal",
    }
}
