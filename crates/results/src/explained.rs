//! Whether latencies and wall times can belong together, when they are measured and ever after.

use crate::Speed;
use annbench_core::wire::SearchReport;

/// Time between two timed calls that is nobody's: a generous bound, since the loop takes some tens of
/// nanoseconds there and only another process can make it more.
const BETWEEN_CALLS_NS: f64 = 2000.0;
/// Time that the system may take from a repetition without a call being under way.
const MOST_TAKEN_AWAY_NS: f64 = 250e6;
/// Share of the wall time that calls and the loop between them must explain, on however busy a machine.
const LEAST_EXPLAINED: f64 = 0.25;

/// Refuses latencies that, added up, are more than the threads had time for, or that leave the wall time
/// unexplained: in a closed loop there is always a call under way.
///
/// # Errors
/// Which repetition contradicts itself, in words.
pub fn check_latencies(
    report: &SearchReport,
    speed: &Speed,
    threads: usize,
    queries: u64,
) -> Result<(), String> {
    for (number, (repetition, latency)) in report
        .repetitions
        .iter()
        .zip(&speed.service_latency)
        .enumerate()
    {
        let calls = (repetition.passes * queries) as f64;
        let sum_ns = latency.mean_ns * calls;
        let wall_ns = repetition.wall_ns as f64;
        let room_ns = wall_ns * threads as f64;
        // The mean is a rounded quotient.
        if sum_ns > room_ns * (1.0 + 1e-9) {
            return Err(format!(
                "repetition {number}: latencies add up to {sum_ns:.0} ns, {threads} threads had \
                 {room_ns:.0} ns"
            ));
        }
        // Wall time in which the process did not run may be the system's, a few turns of others: in a
        // repetition of a millisecond that is most of it.
        let cpu_ns = repetition.cpu_ns.map_or(wall_ns, |ns| ns as f64);
        let idle_ns = (wall_ns - cpu_ns).clamp(0.0, MOST_TAKEN_AWAY_NS);
        if sum_ns + calls * BETWEEN_CALLS_NS + idle_ns < wall_ns * LEAST_EXPLAINED {
            return Err(format!(
                "repetition {number}: latencies add up to {sum_ns:.0} ns, which does not explain \
                 {wall_ns:.0} ns of wall time"
            ));
        }
    }
    Ok(())
}
