use crate::wire::Noise;
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds from `start` to `end`, saturated.
#[inline(always)]
pub(super) fn nanoseconds(start: Instant, end: Instant) -> u64 {
    end.duration_since(start).as_nanos() as u64
}

/// Runs of clock reads timed for the median.
const RUNS: usize = 101;
/// Pairs of clock reads in a run.
const PAIRS: usize = 100;

/// Times a fixed number of clock reads on the calling thread: on a quiet machine a pair costs the
/// same every time, on a busy one the median rises and gaps appear.
pub fn measure_noise() -> Noise {
    let mut runs_ps = [0u64; RUNS];
    for run in &mut runs_ps {
        let start = Instant::now();
        for _ in 0..PAIRS {
            black_box(Instant::now());
            black_box(Instant::now());
        }
        *run = nanoseconds(start, Instant::now()) * 1000 / PAIRS as u64;
    }
    // Looked for apart, so that the pair above is the bare one.
    let mut longest_gap_ns = 0;
    let mut previous = Instant::now();
    for _ in 0..RUNS * PAIRS {
        let now = Instant::now();
        longest_gap_ns = longest_gap_ns.max(nanoseconds(previous, now));
        previous = now;
    }
    runs_ps.sort_unstable();
    Noise {
        clock_pairs: (RUNS * PAIRS) as u64,
        clock_pair_ps: runs_ps[RUNS / 2],
        longest_gap_ns,
        load_average_x100: super::process::load_average_x100(),
    }
}
