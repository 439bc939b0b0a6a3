//! The protocol between the runner and a worker: length-prefixed JSON frames.
//!
//! A frame is a 4-byte little-endian length and that many bytes of UTF-8 JSON. The worker speaks
//! first, with [`Reply::Hello`]; then each [`Request`] gets exactly one [`Reply`]. An adapter in
//! another language needs this module's documentation only.

mod frame;
mod message;

pub use frame::{FrameError, MAX_FRAME_BYTES, read_frame, write_frame};
pub use message::{
    BuildReport, Fault, FaultKind, MapSpec, Noise, OpenReport, Repetition, Reply, Request,
    SearchReport, SearchRequest, Stage, Verdict,
};

/// Version of the protocol. A worker of another version is refused before anything is asked.
pub const PROTOCOL_VERSION: u32 = 1;
