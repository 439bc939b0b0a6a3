use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which bytes of a file are there: ranges in ascending order that neither meet nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Adds `range`, which may overlap what is there.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        // Those that meet or overlap the new one lie together.
        let first = self.0.partition_point(|other| other.end < range.start);
        let last = self.0.partition_point(|other| other.start <= range.end);
        let mut merged = range;
        for other in &self.0[first..last] {
            merged.start = merged.start.min(other.start);
            merged.end = merged.end.max(other.end);
        }
        self.0.splice(first..last, [merged]);
    }

    /// Bytes in all.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// End of the last range.
    pub(crate) fn end(&self) -> u64 {
        self.0.last().map_or(0, |range| range.end)
    }

    /// Whether all of `range` is there.
    pub(crate) fn covers(&self, range: &Range<u64>) -> bool {
        range.is_empty()
            || self
                .0
                .iter()
                .any(|other| other.start <= range.start && range.end <= other.end)
    }

    /// What is missing of the first `total` bytes, in ranges of at most `piece`.
    pub(crate) fn missing(&self, total: u64, piece: u64) -> Vec<Range<u64>> {
        let piece = piece.max(1);
        let mut gaps = Vec::new();
        let mut from = 0;
        let rest = total.max(self.end())..u64::MAX;
        for there in self.0.iter().chain([&rest]) {
            let end = there.start.min(total);
            while from < end {
                let next = end.min(from.saturating_add(piece));
                gaps.push(from..next);
                from = next;
            }
            from = from.max(there.end);
        }
        gaps
    }
}

impl TryFrom<Vec<(u64, u64)>> for Ranges {
    type Error = String;

    fn try_from(pairs: Vec<(u64, u64)>) -> Result<Self, String> {
        let mut ranges = Self::default();
        for (start, end) in pairs {
            if start >= end {
                return Err(format!("no range: {start} to {end}"));
            }
            ranges.insert(start..end);
        }
        Ok(ranges)
    }
}

impl From<Ranges> for Vec<(u64, u64)> {
    fn from(ranges: Ranges) -> Self {
        ranges.0.into_iter().map(|r| (r.start, r.end)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a flag for every byte.
        #[test]
        fn ranges_are_the_set_of_their_bytes(
            inserted in prop::collection::vec((0u64..60, 0u64..20), 0..12),
            total in 0u64..70,
            piece in 1u64..9,
        ) {
            let mut ranges = Ranges::default();
            let mut there = [false; 100];
            for (start, length) in inserted {
                ranges.insert(start..start + length);
                there[start as usize..(start + length) as usize].fill(true);
            }
            prop_assert_eq!(ranges.len(), there.iter().filter(|&&t| t).count() as u64);
            for pair in ranges.0.windows(2) {
                prop_assert!(pair[0].end < pair[1].start, "{:?}", ranges);
            }
            for start in 0..total {
                let all = there[start as usize..total as usize].iter().all(|&t| t);
                prop_assert_eq!(ranges.covers(&(start..total)), all);
            }
            let mut filled = there;
            for gap in ranges.missing(total, piece) {
                prop_assert!(gap.end - gap.start <= piece && gap.end <= total);
                for byte in gap {
                    prop_assert!(!filled[byte as usize], "byte {} twice or there", byte);
                    filled[byte as usize] = true;
                }
            }
            prop_assert!(filled[..total as usize].iter().all(|&t| t));

            let text = serde_json::to_string(&ranges).unwrap();
            prop_assert_eq!(serde_json::from_str::<Ranges>(&text).unwrap(), ranges);
        }
    }

    #[test]
    fn a_range_that_is_none_is_refused() {
        assert!(serde_json::from_str::<Ranges>("[[5,5]]").is_err());
        assert!(serde_json::from_str::<Ranges>("[[5,4]]").is_err());
        assert!(serde_json::from_str::<Ranges>("[[-1,4]]").is_err());
    }
}
