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
    /// The k-th smallest of the most that scores can be, of the rows that were looked at, or what is known
    /// from elsewhere where that is smaller.
    bar: f32,
    overflown: bool,
}

impl Intervals {
    /// Keeps up to `limit` rows, none of which has a least score above `bar`.
    pub(super) fn new(k: usize, limit: usize, bar: f32) -> Self {
        Self {
            k,
            limit,
            intervals: Vec::new(),
            full: (k + k.max(64)).min(limit),
            bar,
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
            let bar = last.most.min(self.bar);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the limit: what is kept is everything that may be among the k nearest, and a
        /// larger limit never loses what a smaller one has kept.
        #[test]
        fn all_that_may_be_nearest_is_kept_or_nothing_is_claimed(
            rows in prop::collection::vec((-4f32..4.0, 0f32..2.0), 1..700),
            k in 1usize..40,
            cut in any::<prop::sample::Index>()
        ) {
            let k = k.min(rows.len());
            let intervals: Vec<Interval> = rows
                .iter()
                .enumerate()
                .map(|(id, &(least, width))| Interval { least, most: least + width, id: id as u32 })
                .collect();
            let mut most: Vec<f32> = intervals.iter().map(|i| i.most).collect();
            most.sort_by(f32::total_cmp);
            let expected: Vec<u32> =
                intervals.iter().filter(|i| i.least <= most[k - 1]).map(|i| i.id).collect();
            let cut = cut.index(rows.len());
            let mut decided = false;
            for limit in [k + 1, 2 * k + 20, 100 + 4 * k, 5_000] {
                let (mut first, mut second) = (Intervals::new(k, limit, f32::INFINITY), Intervals::new(k, limit, f32::INFINITY));
                for (at, &interval) in intervals.iter().enumerate() {
                    if at < cut { first.offer(interval) } else { second.offer(interval) };
                }
                second.merge(first);
                if second.is_overflown() {
                    prop_assert!(!decided, "limit {}", limit);
                    continue;
                }
                decided = true;
                let mut kept: Vec<u32> = second.finish().iter().map(|i| i.id).collect();
                kept.sort_unstable();
                prop_assert_eq!(kept, expected.clone(), "limit {}", limit);
            }
            prop_assert!(decided);
        }
    }
}
