use crate::wire::{FrameError, MARK, Numbered, Request, marked_processes, read_frame, write_frame};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::mpsc;

/// The control pipes, out of the library's reach.
pub(super) struct Control {
    requests: mpsc::Receiver<Result<Numbered<Request>, FrameError>>,
    replies: File,
    /// Number of the request being answered.
    number: u64,
}

impl Control {
    /// Waits for the next request; `None` when the reading thread is gone.
    pub fn next(&mut self) -> Option<Result<Request, FrameError>> {
        let next = self.requests.recv().ok()?;
        Some(next.map(|request| {
            self.number = request.number;
            request.message
        }))
    }

    /// Sends one reply.
    pub fn reply(&mut self, message: &impl Serialize) -> io::Result<()> {
        let number = self.number;
        write_frame(&mut self.replies, &Numbered { number, message })
    }
}

/// Moves the control pipes to private descriptors and points 0 at nothing and 1 at 2.
///
/// A thread of its own reads requests, so that the process notices the runner's death while the
/// main thread is deep inside a library; it then ends the whole process group at once. It blocks
/// in `read` and costs nothing while something is measured.
pub(super) fn take_over() -> io::Result<Control> {
    let requests_pipe = duplicate(0)?;
    let replies = duplicate(1)?;
    let null = File::open("/dev/null")?;
    replace(null.as_raw_fd(), 0)?;
    replace(2, 1)?;
    let (sender, requests) = mpsc::channel();
    std::thread::Builder::new()
        .name("control".to_owned())
        .spawn(move || read_requests(requests_pipe, &sender))?;
    forget_parent_death_signal();
    Ok(Control {
        requests,
        replies,
        number: 0,
    })
}

fn read_requests(mut pipe: File, sender: &mpsc::Sender<Result<Numbered<Request>, FrameError>>) {
    loop {
        match read_frame::<Numbered<Request>>(&mut pipe) {
            Ok(request) => {
                let last = request.message == Request::Close;
                if sender.send(Ok(request)).is_err() || last {
                    return;
                }
            }
            Err(FrameError::Garbage { message, start }) => {
                // The frame was whole: the next one can be read.
                let _ = sender.send(Err(FrameError::Garbage { message, start }));
            }
            Err(_) => end_process_group(),
        }
    }
}

/// The runner asked for a signal at its death, for adapters that do not watch their pipe. This one
/// does, and can end more than itself.
fn forget_parent_death_signal() {
    #[cfg(target_os = "linux")]
    // SAFETY: sets an attribute of this process.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0);
    }
}

fn duplicate(fd: i32) -> io::Result<File> {
    // SAFETY: F_DUPFD_CLOEXEC has no memory effects; the returned descriptor is owned by nobody.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `copy` was just created and is owned here alone.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(copy) }))
}

fn replace(from: i32, to: i32) -> io::Result<()> {
    // SAFETY: dup2 has no memory effects; 0 and 1 are not owned by a Rust object.
    if unsafe { libc::dup2(from, to) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The runner is gone: nobody will read an answer, and nobody else will stop us or what the
/// library started.
fn end_process_group() -> ! {
    // What has left the group: the mark is inherited.
    let marked = std::env::var_os(MARK).map_or_else(Vec::new, |mark| marked_processes(&mark));
    for pid in marked.into_iter().filter(|&pid| pid != std::process::id()) {
        // SAFETY: sending a signal has no memory effects.
        unsafe {
            libc::kill(pid as i32, libc::SIGKILL);
        }
    }
    // SAFETY: plain system calls; `_exit` does not return. Signalling group 0 is limited to the
    // case where this process leads its group, so that a shell that started it survives.
    unsafe {
        if libc::getpgrp() == libc::getpid() {
            libc::kill(0, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}
