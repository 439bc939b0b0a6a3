use std::time::Duration;

/// How much is tried, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time to a server that answers ranges.
    pub connections: usize,
    /// Bytes asked for in one range.
    pub piece: u64,
    /// Longest time for looking up the host's name, and as long again for a connection.
    pub connect: Duration,
    /// A connection that brings fewer than [`Limits::slowest`] bytes in this time is given up.
    pub stall: Duration,
    /// Bytes that a connection must bring in the time of [`Limits::stall`].
    pub slowest: u64,
    /// Attempts in a row that bring less than [`Limits::headway`], before a source is given up.
    pub tries: u32,
    /// Bytes after which attempts are counted anew.
    pub headway: u64,
    /// Wait before the second attempt; doubled before each further one.
    pub backoff: Duration,
    /// Longest wait, also when the server asks for a longer one.
    pub longest_backoff: Duration,
    /// Redirects followed in a row.
    pub redirects: u32,
    /// Times that a download begins anew since the file at the source has become another.
    pub restarts: u32,
    /// What the client calls itself.
    pub user_agent: String,
    /// Whether the proxy that the environment names is used.
    pub proxy: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4,
            piece: 32 << 20,
            connect: Duration::from_secs(20),
            stall: Duration::from_secs(30),
            slowest: 4096,
            tries: 6,
            headway: 1 << 20,
            backoff: Duration::from_secs(1),
            longest_backoff: Duration::from_secs(60),
            redirects: 10,
            restarts: 2,
            // ann-benchmarks.com refuses clients that do not look like a browser; this begins as
            // every browser's does, and says who it is.
            user_agent: concat!(
                "Mozilla/5.0 (compatible; annbench/",
                env!("CARGO_PKG_VERSION"),
                ")"
            )
            .to_owned(),
            proxy: true,
        }
    }
}

impl Limits {
    /// The wait before attempt `attempt`, counted from 2, when the server asked for `asked`.
    pub(crate) fn wait_before(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doublings = attempt.saturating_sub(2).min(16);
        let own = self.backoff.saturating_mul(1 << doublings);
        own.max(asked.unwrap_or_default()).min(self.longest_backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_are_bounded() {
        let limits = Limits::default();
        let waits: Vec<u64> = (2..12)
            .map(|attempt| limits.wait_before(attempt, None).as_secs())
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        let asked = |seconds| limits.wait_before(2, Some(Duration::from_secs(seconds)));
        assert_eq!(asked(5), Duration::from_secs(5));
        assert_eq!(asked(86_400), Duration::from_secs(60));
        assert_eq!(limits.wait_before(u32::MAX, None), Duration::from_secs(60));
    }
}
