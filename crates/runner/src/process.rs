//! The operating system's side of a worker: its process, its limits, and the end of all it started.

use crate::installed::Installed;
use crate::tree;
use annbench_core::wire::{MARK, is_marked, marked_processes};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Room above the memory limit before the kernel itself refuses: RLIMIT_DATA counts reserved,
/// untouched memory such as thread stacks, so it may only be a backstop.
const BACKSTOP_BYTES: u64 = 2 << 30;

/// Longest time to the end of a process that was killed.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// The process of a worker, and by its mark all that came from it.
pub(crate) struct WorkerProcess {
    child: Child,
    mark: OsString,
    ended: bool,
}

/// The ends of its pipes that this process holds.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl WorkerProcess {
    /// Starts the executable in a process group of its own, without core dumps and with a backstop
    /// above `memory_limit_bytes`.
    pub(crate) fn spawn(
        installed: &Installed,
        environment: &BTreeMap<String, String>,
        memory_limit_bytes: u64,
    ) -> io::Result<(Self, Pipes)> {
        become_subreaper();
        let mark = unique_mark();
        let mut command = Command::new(&installed.path);
        command
            .envs(environment)
            .env(MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let data_limit = memory_limit_bytes.saturating_add(BACKSTOP_BYTES);
        // SAFETY: the closure makes async-signal-safe system calls only and touches no memory of
        // the parent's other threads.
        unsafe {
            command.pre_exec(move || {
                limit_resources(data_limit);
                Ok(())
            });
        }
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Self {
            child,
            mark,
            ended: false,
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            process.end();
            return Err(io::Error::other("the pipes were not made"));
        };
        let pipes = Pipes {
            stdin,
            stdout,
            stderr,
        };
        Ok((process, pipes))
    }

    /// Private memory of the worker and of all it started, those included that left its tree.
    pub(crate) fn private_bytes(&self) -> Option<u64> {
        let mut roots = tree::adopted(&self.mark);
        roots.push(self.child.id());
        tree::private_bytes(&tree::processes_under(roots))
    }

    /// Whether the process has ended, without collecting it: until then its id, and that of its
    /// group, cannot be another's.
    pub(crate) fn has_exited(&self) -> bool {
        // SAFETY: an all-zero siginfo_t is a valid value.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` is a valid place for one siginfo_t.
        let failed =
            unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, options) } != 0;
        // SAFETY: waitid has filled the fields of a child's change of state, or left them zero.
        !failed && unsafe { info.si_pid() } != 0
    }

    /// Waits for the process to end by itself, for at most `patience`.
    pub(crate) fn exits_within(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while !self.has_exited() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Ends the worker, its process group and every process that carries its mark, and collects them
    /// all. Returns how the worker itself ended, the first time.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let group = self.child.id() as i32;
        // What has left the group can only be found while it lives.
        let mut left = marked_processes(&self.mark);
        kill(-group);
        // A process that the kernel cannot end (in the middle of a disk's failure) is not waited for.
        let status = match self.exits_within(KILL_LIMIT) {
            true => self.child.wait().ok(),
            false => None,
        };
        collect(-group);
        // Repeated, since a process may start another between the look and the kill.
        for _ in 0..20 {
            for pid in left {
                // Its number may be another's by now.
                if is_marked(pid, &self.mark) {
                    kill(pid as i32);
                }
                collect(pid as i32);
            }
            left = marked_processes(&self.mark);
            if left.is_empty() {
                break;
            }
        }
        status
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// The name of a signal, as in `SIGSEGV`.
pub(crate) fn signal_name(signal: i32) -> &'static str {
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

fn unique_mark() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let started = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    format!(
        "{}-{}-{started}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
    .into()
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
