use annbench_core::{AdapterError, Counters, Metric, Searcher, TopK, Vector, Vectors, distance};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Scans the first rows of the base with the reference distance: recall is the share of the truth
/// among them, 1 when they are all, by construction.
pub struct ExactSearcher<'b> {
    base: Vectors<'b>,
    rows: usize,
    metric: Metric,
    scored: Vec<(f64, u32)>,
    distances: u64,
}

impl<'b> ExactSearcher<'b> {
    pub fn new(base: Vectors<'b>, metric: Metric, rows: Option<usize>) -> Self {
        let rows = rows.map_or(base.n(), |rows| rows.min(base.n()));
        Self {
            base,
            rows,
            metric,
            scored: Vec::with_capacity(rows),
            distances: 0,
        }
    }
}

impl Searcher for ExactSearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        self.scored.clear();
        self.scored.extend(
            (0..self.rows).map(|i| (distance(self.metric, query, self.base.row(i)), i as u32)),
        );
        self.distances += self.rows as u64;
        self.scored
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        top.extend(self.scored.iter().take(top.k()).map(|&(_, id)| id));
        Ok(())
    }

    fn counters(&self) -> Counters {
        Counters {
            distance_computations: Some(self.distances),
            vertices_visited: None,
        }
    }
}

/// Answers k distinct ids drawn uniformly: expected recall is k/n.
pub struct RandomSearcher {
    state: u64,
    n: u64,
    drawn: Vec<u32>,
}

impl RandomSearcher {
    pub fn new(seed: u64, n: usize) -> Self {
        Self {
            state: seed,
            n: n as u64,
            drawn: Vec::new(),
        }
    }

    /// SplitMix64 (G. L. Steele et al., Fast splittable pseudorandom number generators, 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Searcher for RandomSearcher {
    fn search(&mut self, _query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        self.drawn.clear();
        while self.drawn.len() < top.k().min(self.n as usize) {
            // The multiply-shift map is biased by less than n / 2^64.
            let id = ((u128::from(self.next()) * u128::from(self.n)) >> 64) as u32;
            if !self.drawn.contains(&id) {
                self.drawn.push(id);
            }
        }
        top.extend(self.drawn.iter().copied());
        Ok(())
    }
}

/// Does nothing: what is measured is the harness.
pub struct NullSearcher;

impl Searcher for NullSearcher {
    fn search(&mut self, _query: Vector<'_>, _top: &mut TopK<'_>) -> Result<(), AdapterError> {
        Ok(())
    }
}

/// Calls kept in memory before they reach the log.
const LOG_CAPACITY: usize = 1 << 20;

/// Busy for at least a given time per call, and keeps its own record of each.
pub struct SpinSearcher {
    spin: Duration,
    log: File,
    durations_ns: Vec<u64>,
}

impl SpinSearcher {
    pub fn create(spin_ns: u64, log: &Path) -> Result<Self, AdapterError> {
        let log = File::create(log)
            .map_err(|error| AdapterError::Failed(format!("{}: {error}", log.display())))?;
        Ok(Self {
            spin: Duration::from_nanos(spin_ns),
            log,
            durations_ns: Vec::with_capacity(LOG_CAPACITY),
        })
    }
}

impl Searcher for SpinSearcher {
    fn search(&mut self, _query: Vector<'_>, _top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let start = Instant::now();
        let mut elapsed = start.elapsed();
        while elapsed < self.spin {
            elapsed = start.elapsed();
        }
        if self.durations_ns.len() == LOG_CAPACITY {
            return Err(AdapterError::Failed(format!(
                "more than {LOG_CAPACITY} calls to log"
            )));
        }
        self.durations_ns.push(elapsed.as_nanos() as u64);
        Ok(())
    }
}

impl Drop for SpinSearcher {
    fn drop(&mut self) {
        let bytes: Vec<u8> = self
            .durations_ns
            .iter()
            .flat_map(|ns| ns.to_le_bytes())
            .collect();
        if let Err(error) = self.log.write_all(&bytes) {
            eprintln!("the spin log could not be written: {error}");
        }
    }
}
