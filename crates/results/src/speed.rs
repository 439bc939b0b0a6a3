//! Figures derived from raw times.

use crate::{Latency, Speed};
use thiserror::Error;

/// Raw times of one repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepetitionTimes {
    /// Passes over the whole query set.
    pub passes: u64,
    /// Wall time over all passes.
    pub wall_ns: u64,
    /// Time of each query of each pass, `[passes, queries]`; `None` in batch mode.
    pub latency_ns: Option<Vec<u64>>,
}

/// Why times give no figures.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpeedError {
    /// There is nothing to take a median of.
    #[error("no repetitions were measured; measure at least one")]
    NoRepetitions,
    /// A repetition answered nothing or took no time.
    #[error(
        "repetition {repetition}: {passes} passes over {queries} queries in {wall_ns} ns give no rate; measure the point again"
    )]
    NoRate {
        /// Its number, from 0.
        repetition: usize,
        /// Its passes.
        passes: u64,
        /// Queries per pass.
        queries: u64,
        /// Its wall time.
        wall_ns: u64,
    },
    /// The latencies are not one per query and pass.
    #[error(
        "repetition {repetition}: expected one latency for each of {passes} passes over {queries} queries, found {found}; restore its latency file or measure the point again"
    )]
    LatencyCount {
        /// Its number, from 0.
        repetition: usize,
        /// Its passes.
        passes: u64,
        /// Queries per pass.
        queries: u64,
        /// Latencies given.
        found: usize,
    },
}

/// QPS and service latency of all repetitions over a set of `queries`. Nothing is best-of: the
/// figure is the median, the spread stands beside it.
///
/// # Errors
/// [`SpeedError`] where a figure would not be a number.
pub fn speed(repetitions: Vec<RepetitionTimes>, queries: u64) -> Result<Speed, SpeedError> {
    try_speed(repetitions.into_iter().map(Ok), queries)
}

/// [`speed`] of repetitions that are read one by one and dropped, since the latencies of all may be
/// large; the first that cannot be read ends it.
pub(crate) fn try_speed<E: From<SpeedError>>(
    repetitions: impl IntoIterator<Item = Result<RepetitionTimes, E>>,
    queries: u64,
) -> Result<Speed, E> {
    let mut qps = Vec::new();
    let mut service_latency = Vec::new();
    for (repetition, times) in repetitions.into_iter().enumerate() {
        let RepetitionTimes {
            passes,
            wall_ns,
            latency_ns,
        } = times?;
        let answered = u128::from(passes) * u128::from(queries);
        if answered == 0 || wall_ns == 0 {
            return Err(SpeedError::NoRate {
                repetition,
                passes,
                queries,
                wall_ns,
            }
            .into());
        }
        qps.push((answered * 1_000_000_000) as f64 / wall_ns as f64);
        if let Some(mut latency_ns) = latency_ns {
            let found = latency_ns.len();
            let latency = (found as u128 == answered)
                .then(|| service_latency_of(&mut latency_ns))
                .flatten()
                .ok_or(SpeedError::LatencyCount {
                    repetition,
                    passes,
                    queries,
                    found,
                })?;
            service_latency.push(latency);
        }
    }
    let mut sorted = qps.clone();
    sorted.sort_by(f64::total_cmp);
    let (Some(&qps_min), Some(&qps_max)) = (sorted.first(), sorted.last()) else {
        return Err(SpeedError::NoRepetitions.into());
    };
    Ok(Speed {
        qps_median: median(&sorted),
        qps,
        qps_min,
        qps_max,
        service_latency,
    })
}

/// The middle of ascending values; the mean of the middle two when their number is even.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    } else {
        sorted[middle]
    }
}

/// The order statistics x_(ceil(p n)), mean and maximum of `times`, which are reordered. `None` for
/// no times.
fn service_latency_of(times: &mut [u64]) -> Option<Latency> {
    let max_ns = *times.iter().max()?;
    let total: u128 = times.iter().map(|&t| u128::from(t)).sum();
    let mean_ns = total as f64 / times.len() as f64;
    // Percentiles ascend, so each is selected among what the one before left above it.
    let mut below = 0;
    let mut percentile = |per_mille: usize| {
        let index = (times.len() as u128 * per_mille as u128).div_ceil(1000) as usize - 1;
        let (_, &mut found, _) = times[below..].select_nth_unstable(index - below);
        below = index;
        found
    };
    Some(Latency {
        mean_ns,
        p50_ns: percentile(500),
        p95_ns: percentile(950),
        p99_ns: percentile(990),
        p999_ns: percentile(999),
        max_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(wall_ns: u64) -> RepetitionTimes {
        RepetitionTimes {
            passes: 3,
            wall_ns,
            latency_ns: None,
        }
    }

    #[test]
    fn the_rate_is_over_all_passes_and_the_median_over_all_repetitions() {
        let odd = speed(vec![times(3_000), times(1_000), times(2_000)], 10).unwrap();
        assert_eq!(odd.qps, [1e7, 3e7, 1.5e7]);
        assert_eq!(
            (odd.qps_min, odd.qps_median, odd.qps_max),
            (1e7, 1.5e7, 3e7)
        );
        let even = speed(vec![times(3_000), times(1_000)], 10).unwrap();
        assert_eq!(even.qps_median, 2e7);
        assert!(even.service_latency.is_empty());
    }

    #[test]
    fn what_gives_no_number_is_an_error() {
        assert_eq!(speed(vec![], 10), Err(SpeedError::NoRepetitions));
        assert!(matches!(
            speed(vec![times(1), times(0)], 10),
            Err(SpeedError::NoRate { repetition: 1, .. })
        ));
        assert!(matches!(
            speed(vec![times(1)], 0),
            Err(SpeedError::NoRate { .. })
        ));
        let short = RepetitionTimes {
            latency_ns: Some(vec![1; 29]),
            ..times(1)
        };
        assert!(matches!(
            speed(vec![short], 10),
            Err(SpeedError::LatencyCount { found: 29, .. })
        ));
    }

    #[test]
    fn percentiles_are_order_statistics() {
        let mut hundred: Vec<u64> = (1..=100).rev().collect();
        let l = service_latency_of(&mut hundred).unwrap();
        assert_eq!((l.p50_ns, l.p95_ns, l.p99_ns), (50, 95, 99));
        assert_eq!((l.p999_ns, l.max_ns, l.mean_ns), (100, 100, 50.5));
        // W23, closed loop: nine services of 1 and one of 50.
        let mut stall = vec![1, 1, 50, 1, 1, 1, 1, 1, 1, 1];
        let l = service_latency_of(&mut stall).unwrap();
        assert_eq!((l.mean_ns, l.p50_ns, l.p95_ns), (5.9, 1, 50));
    }

    proptest! {
        #[test]
        fn selection_agrees_with_sorting(mut times in prop::collection::vec(any::<u64>(), 1..400)) {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            let l = service_latency_of(&mut times).unwrap();
            let at = |per_mille: usize| sorted[(sorted.len() * per_mille).div_ceil(1000) - 1];
            prop_assert_eq!(
                [l.p50_ns, l.p95_ns, l.p99_ns, l.p999_ns, l.max_ns],
                [at(500), at(950), at(990), at(999), at(1000)]
            );
        }
    }
}
