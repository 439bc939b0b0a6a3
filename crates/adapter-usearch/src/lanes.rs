use crate::native::Native;
use annbench_core::AdapterError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lets searchers of one index keep parameters that the library keeps once for the whole index.
///
/// `expansion_search` belongs to the index, and so does the number of threads that may be in the
/// library at once; changing either beside a search is a data race. A lock that all searchers share,
/// even one for reading, would be written by all of them at every query. So every searcher has a
/// lane, a lock of its own on a cache line of its own, which it holds while it is in the library and
/// in which stands the value in force: as long as all searchers want the same value, which is so in
/// every measurement, a query costs one lock that nobody else touches, some ten nanoseconds. Who
/// wants another value takes all the lanes, changes it and tells everyone.
///
/// Threads are reserved as searchers come, not all that there might be: the library takes its
/// search buffers from a queue, so that a single thread goes through all of them in turn, and many
/// would be cold at every query.
pub(crate) struct Lanes {
    roll: Mutex<Roll>,
    rows: usize,
}

struct Roll {
    lanes: Vec<Arc<Lane>>,
    /// As far as this adapter has reserved; the library has one per CPU to begin with.
    threads: usize,
    expansion: usize,
}

/// What one searcher holds while it searches.
#[repr(align(128))]
pub(crate) struct Lane {
    /// The `expansion_search` in force.
    expansion: Mutex<usize>,
}

/// While it lives, the index searches with its holder's value.
pub(crate) type InForce<'l> = MutexGuard<'l, usize>;

impl Lanes {
    /// For an index of `rows` points with room for `threads` threads, and no search under way.
    pub(crate) fn new(rows: usize, threads: usize) -> Self {
        let roll = Roll {
            lanes: Vec::new(),
            threads,
            // Not in force, and no value that a searcher may have.
            expansion: 0,
        };
        Self {
            roll: Mutex::new(roll),
            rows,
        }
    }

    /// A lane for one more searcher of a point that is searched by `threads` of them.
    pub(crate) fn open(&self, native: &Native, threads: usize) -> Result<Arc<Lane>, AdapterError> {
        let mut roll = lock(&self.roll);
        let needed = threads.max(roll.lanes.len() + 1);
        if needed > roll.threads {
            let searches: Vec<InForce<'_>> = roll.lanes.iter().map(|l| l.hold()).collect();
            native.reserve(self.rows, needed)?;
            drop(searches);
            roll.threads = needed;
        }
        let lane = Arc::new(Lane {
            expansion: Mutex::new(roll.expansion),
        });
        roll.lanes.push(Arc::clone(&lane));
        Ok(lane)
    }

    pub(crate) fn close(&self, lane: &Arc<Lane>) {
        lock(&self.roll).lanes.retain(|l| !Arc::ptr_eq(l, lane));
    }

    /// Enters the library by `lane`, with `expansion` in force.
    #[inline]
    pub(crate) fn enter<'l>(
        &self,
        native: &Native,
        lane: &'l Arc<Lane>,
        expansion: usize,
    ) -> InForce<'l> {
        let in_force = lane.hold();
        if *in_force == expansion {
            return in_force;
        }
        drop(in_force);
        self.change(native, lane, expansion)
    }

    /// Only who holds the roll holds more than one lane, so that no two wait for each other.
    #[cold]
    fn change<'l>(&self, native: &Native, lane: &'l Arc<Lane>, expansion: usize) -> InForce<'l> {
        let mut roll = lock(&self.roll);
        let mut own = lane.hold();
        let mut others: Vec<InForce<'_>> = (roll.lanes.iter())
            .filter(|other| !Arc::ptr_eq(other, lane))
            .map(|other| other.hold())
            .collect();
        native.set_expansion_search(expansion);
        *own = expansion;
        for other in &mut others {
            **other = expansion;
        }
        drop(others);
        roll.expansion = expansion;
        own
    }
}

impl Lane {
    fn hold(&self) -> InForce<'_> {
        lock(&self.expansion)
    }
}

/// A number is never left half written, so that a panic of another holder does no harm.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
