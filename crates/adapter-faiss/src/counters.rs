use crate::ffi;
use crate::native::{Graph, Shape};
use annbench_core::Counters;
use std::sync::atomic::{AtomicU64, Ordering};

/// Searchers alive, and searchers ever made, in this process.
static ALIVE: AtomicU64 = AtomicU64::new(0);
static MADE: AtomicU64 = AtomicU64::new(0);

/// One searcher's share of FAISS's counters, which are globals without locks: exact while no other
/// searcher has been alive since it was made, absent otherwise.
#[derive(Debug)]
pub(crate) struct Tally {
    made: u64,
    alone: bool,
    source: Option<Source>,
    start: (u64, u64),
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Hnsw,
    Ivf,
}

impl Source {
    fn read(self) -> (u64, u64) {
        let (mut distances, mut visited) = (0, 0);
        // SAFETY: both pointers are to live integers; no other searcher runs, see `Tally`.
        unsafe {
            match self {
                Source::Hnsw => ffi::annbench_faiss_hnsw_counters(&mut distances, &mut visited),
                Source::Ivf => ffi::annbench_faiss_ivf_counters(&mut distances, &mut visited),
            }
        }
        (distances, visited)
    }
}

impl Tally {
    pub(crate) fn start(shape: Shape) -> Self {
        let alone = ALIVE.fetch_add(1, Ordering::SeqCst) == 0;
        let made = MADE.fetch_add(1, Ordering::SeqCst) + 1;
        let source = match shape {
            Shape { counted: false, .. } => None,
            Shape { nlist: Some(_), .. } => Some(Source::Ivf),
            Shape {
                graph: Some(Graph::Vectors),
                ..
            } => Some(Source::Hnsw),
            _ => None,
        };
        let start = match source {
            Some(source) if alone => source.read(),
            _ => (0, 0),
        };
        Self {
            made,
            alone,
            source,
            start,
        }
    }

    /// Distances between a query and vectors (or their codes), and graph hops or lists visited.
    pub(crate) fn counters(&self) -> Counters {
        let undisturbed = self.alone && MADE.load(Ordering::SeqCst) == self.made;
        match self.source {
            Some(source) if undisturbed => {
                let (distances, visited) = source.read();
                Counters {
                    distance_computations: Some(distances.wrapping_sub(self.start.0)),
                    vertices_visited: Some(visited.wrapping_sub(self.start.1)),
                }
            }
            _ => Counters::default(),
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}
