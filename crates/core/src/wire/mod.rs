//! The protocol between the runner and a worker: length-prefixed JSON frames.
//!
//! A frame is a 4-byte little-endian length and that many bytes of UTF-8 JSON. The worker speaks
//! first, with [`Reply::Hello`]; then each [`Request`] gets exactly one [`Reply`]. Every message is
//! [`Numbered`]: a reply carries the number of its request, the hello carries 0. An adapter in
//! another language needs this module's documentation only.

mod frame;
mod mark;
mod message;

pub use frame::{
    FrameError, MAX_FRAME_BYTES, parse_frame, read_frame, read_frame_body, write_frame,
};
pub use mark::{MARK, is_marked, marked_processes};
pub use message::{
    BuildReport, Fault, FaultKind, MAX_INVALID_EXAMPLES, MapSpec, Noise, Numbered, OpenReport,
    Repetition, Reply, Request, SearchReport, SearchRequest, Stage, Verdict,
};

/// Version of the protocol. A worker of another version is refused before anything is asked.
pub const PROTOCOL_VERSION: u32 = 1;

/// Changes with the sources of this crate, and so with the measured loop. An adapter that was built
/// from other sources measures in another way, and is refused.
pub const REVISION: &str = env!("ANNBENCH_REVISION");

/// The compiler that this crate, and with it the whole executable, was built by.
pub const COMPILER: &str = env!("ANNBENCH_RUSTC");
