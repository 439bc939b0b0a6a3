//! The two directions of the control pipe, each on a thread of its own, so that neither a worker that
//! does not read nor one that does not answer can hold the runner.

use annbench_core::wire::{FrameError, read_frame_body};
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What came within some time.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// A whole frame, which may hold anything.
    Frame(Vec<u8>),
    /// No frame: the pipe holds something else.
    Garbled(FrameError),
    /// The worker closed its end.
    Closed,
    /// Nothing so far.
    Nothing,
}

/// Frames from a worker.
pub(crate) struct Replies {
    frames: mpsc::Receiver<Result<Vec<u8>, FrameError>>,
    /// Looked at, but not taken.
    seen: Option<Result<Vec<u8>, FrameError>>,
}

impl Replies {
    /// Starts reading.
    pub(crate) fn read(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, frames) = mpsc::channel();
        std::thread::Builder::new()
            .name("replies".to_owned())
            .spawn(move || {
                loop {
                    let frame = read_frame_body(&mut pipe);
                    let last = frame.is_err();
                    if sender.send(frame).is_err() || last {
                        return;
                    }
                }
            })?;
        Ok(Self { frames, seen: None })
    }

    /// What arrives within `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Arrival {
        let arrived = match self.seen.take() {
            Some(seen) => Ok(seen),
            None => self.frames.recv_timeout(patience),
        };
        match arrived {
            Ok(Ok(frame)) => Arrival::Frame(frame),
            Ok(Err(FrameError::Closed)) | Err(RecvTimeoutError::Disconnected) => Arrival::Closed,
            Ok(Err(error)) => Arrival::Garbled(error),
            Err(RecvTimeoutError::Timeout) => Arrival::Nothing,
        }
    }

    /// Whether a frame has come that nobody has taken.
    pub(crate) fn has_frame(&mut self) -> bool {
        self.are_dry(Duration::ZERO);
        matches!(self.seen, Some(Ok(_)))
    }

    /// Whether nothing more comes within `patience`. What comes is kept for [`Replies::next`].
    pub(crate) fn are_dry(&mut self, patience: Duration) -> bool {
        if self.seen.is_none() {
            self.seen = self.frames.recv_timeout(patience).ok();
        }
        matches!(self.seen, None | Some(Err(FrameError::Closed)))
    }
}

/// Frames to a worker; dropped, it closes the pipe.
pub(crate) struct Requests(mpsc::Sender<Vec<u8>>);

impl Requests {
    /// Starts writing.
    pub(crate) fn write(mut pipe: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, frames) = mpsc::channel::<Vec<u8>>();
        std::thread::Builder::new()
            .name("requests".to_owned())
            .spawn(move || {
                for frame in frames {
                    if pipe.write_all(&frame).and_then(|()| pipe.flush()).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self(sender))
    }

    /// Hands a frame over. A worker that is gone shows at the reply, with its own end as the cause.
    pub(crate) fn send(&self, frame: Vec<u8>) {
        let _ = self.0.send(frame);
    }
}
