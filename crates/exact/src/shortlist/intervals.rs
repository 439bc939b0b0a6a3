/// A row and what its score can be at least and at most, smaller being nearer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(super) least: f32,
    pub(super) most: f32,
    pub(crate) id: u32,
}

/// Every row seen of one query that may be among the k nearest: those whose least score is not above
/// the k-th smallest of the most that scores can be.
#[derive(Debug)]
pub(crate) struct Intervals {
    k: usize,
    limit: usize,
    intervals: Vec<Interval>,
    /// Rows at which those that have dropped out are removed.
    full: usize,
    /// The k-th smallest of the most that scores can be, of the rows that were looked at.
    bar: f32,
    overflown: bool,
}

impl Intervals {
    /// Keeps up to `limit` rows.
    pub(super) fn new(k: usize, limit: usize) -> Self {
        Self {
            k,
            limit,
            intervals: Vec::new(),
            full: (k + k.max(64)).min(limit),
            bar: f32::INFINITY,
            overflown: false,
        }
    }

    /// The score that a row's least must not be above.
    pub(crate) fn bar(&self) -> f32 {
        self.bar
    }

    /// Whether more rows than the limit may be among the nearest: then nothing is known.
    pub(crate) fn is_overflown(&self) -> bool {
        self.overflown
    }

    /// Whether the bar has become lower.
    #[inline]
    pub(super) fn offer(&mut self, interval: Interval) -> bool {
        if self.overflown || interval.least > self.bar {
            return false;
        }
        self.intervals.push(interval);
        if self.intervals.len() < self.full {
            return false;
        }
        self.prune();
        if self.intervals.len() >= self.limit {
            self.overflow();
        }
        self.full = (self.intervals.len() + self.k.max(64)).min(self.limit);
        true
    }

    pub(super) fn overflow(&mut self) {
        self.intervals = Vec::new();
        self.overflown = true;
        self.bar = f32::NEG_INFINITY;
    }

    fn prune(&mut self) {
        if self.intervals.len() > self.k {
            let by_most = |a: &Interval, b: &Interval| a.most.total_cmp(&b.most);
            let (_, last, _) = self.intervals.select_nth_unstable_by(self.k - 1, by_most);
            let bar = last.most;
            self.intervals.retain(|interval| interval.least <= bar);
            self.bar = bar;
        }
    }

    pub(super) fn merge(&mut self, other: Intervals) {
        if self.overflown || other.overflown {
            self.overflow();
            return;
        }
        self.intervals.extend(other.intervals);
        self.prune();
    }

    /// The rows that are left, in no order.
    pub(crate) fn finish(&mut self) -> &[Interval] {
        self.prune();
        &self.intervals
    }
}
