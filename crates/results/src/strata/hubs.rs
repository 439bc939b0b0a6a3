//! Base rows by how many others they are near to.

/// Share of the base that the anti-hub set holds at least.
pub const ALPHA_PERCENT: u64 = 10;

/// The rows that are rarely among the nearest of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AntiHubs {
    /// a*: the smallest count with at least 10 % of the rows at or below it.
    pub threshold: u32,
    /// Rows at or below it: more than 10 %, where counts are equal.
    pub rows: u64,
    /// Rows that are among the nearest of none.
    pub never: u64,
}

impl AntiHubs {
    /// Of the occurrence counts `[n]`; `None` without rows. Never an interpolated quantile: between two
    /// counts it would select another set.
    pub fn of(counts: &[u32]) -> Option<Self> {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        let least = (counts.len() as u64 * ALPHA_PERCENT).div_ceil(100) as usize;
        let threshold = *sorted.get(least.max(1) - 1)?;
        let at_most = |count: u32| sorted.partition_point(|&c| c <= count) as u64;
        Some(Self {
            threshold,
            rows: at_most(threshold),
            never: at_most(0),
        })
    }

    /// Whether a row of this count is one.
    pub fn holds(&self, count: u32) -> bool {
        count <= self.threshold
    }
}
