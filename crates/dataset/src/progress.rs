use crate::DatasetError;
use std::ops::ControlFlow;
use std::path::Path;

/// What is being done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Comparing with the catalogue's checksum; counted in bytes.
    Checksum,
    /// Writing a flat copy of an interleaved or compressed file; counted in rows.
    Convert,
    /// Writing vectors in another layout; counted in rows.
    Write,
    /// Fingerprinting and looking for values that are not finite; counted in bytes.
    Fingerprint,
    /// Computing exact neighbours; counted in distances.
    Truth,
    /// Counting how often rows are near to others; counted in distances.
    Occurrences,
    /// Reading rows for an audit; counted in rows.
    Audit,
    /// Waiting for another process that searches the same; counted in nothing.
    Waiting,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'p> {
    /// What is being done.
    pub activity: Activity,
    /// To which file.
    pub path: &'p Path,
    /// Units done.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

/// Hears of progress; breaking cancels. Called from any thread.
pub type Watch<'w> = &'w (dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync);

/// Tells of one activity on one file.
pub(crate) struct Meter<'m> {
    watch: Watch<'m>,
    activity: Activity,
    path: &'m Path,
    total: u64,
}

impl<'m> Meter<'m> {
    pub(crate) fn new(watch: Watch<'m>, activity: Activity, path: &'m Path, total: u64) -> Self {
        Self {
            watch,
            activity,
            path,
            total,
        }
    }

    pub(crate) fn tell(&self, done: u64) -> ControlFlow<()> {
        (self.watch)(Progress {
            activity: self.activity,
            path: self.path,
            done,
            total: self.total,
        })
    }

    pub(crate) fn at(&self, done: u64) -> Result<(), DatasetError> {
        match self.tell(done) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(DatasetError::Cancelled),
        }
    }
}
