use crate::ExactError;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Hears how many distances of how many are done, and says whether to go on. Called from the
/// pool's threads.
pub(crate) type Progress<'p> = &'p (dyn Fn(u64, u64) -> ControlFlow<()> + Sync);

/// Adds up what all threads have done.
pub(crate) struct Meter<'p> {
    done: AtomicU64,
    total: u64,
    counts: bool,
    progress: Progress<'p>,
}

impl<'p> Meter<'p> {
    pub(crate) fn new(total: u64, progress: Progress<'p>) -> Self {
        Self {
            done: AtomicU64::new(0),
            total,
            counts: true,
            progress,
        }
    }

    /// For work that is done a second time: it can be cancelled, but nothing is added.
    pub(crate) fn without_counting(&self) -> Meter<'p> {
        Meter {
            counts: false,
            done: AtomicU64::new(self.done.load(Ordering::Relaxed)),
            ..*self
        }
    }

    /// Tells of `distances` more.
    pub(crate) fn add(&self, distances: u64) -> Result<(), ExactError> {
        let distances = if self.counts { distances } else { 0 };
        let done = self.done.fetch_add(distances, Ordering::Relaxed) + distances;
        match (self.progress)(done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ExactError::Cancelled),
        }
    }
}
