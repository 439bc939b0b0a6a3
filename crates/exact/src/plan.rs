use std::ops::Range;

/// Base rows whose sums are kept at once: small enough to stay in the first-level cache.
pub(crate) const BLOCK_ROWS: usize = 256;

/// Rows below which splitting the base over tasks costs more than it gives.
const MIN_RANGE_ROWS: usize = 4 * BLOCK_ROWS;

/// Most queries that walk the base together.
const MAX_TILE_QUERIES: usize = 64;

/// Candidates of one tile: 16 MiB.
const MAX_TILE_CANDIDATES: usize = 1 << 20;

/// How a search is cut into tasks: tiles of queries, and for each tile ranges of base rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Queries of a tile, but for the last.
    pub(crate) tile_queries: usize,
    /// Ranges that cover the base in order.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl Plan {
    /// A tile holds at most `most_queries`.
    pub(crate) fn new(
        n: usize,
        queries: usize,
        k: usize,
        threads: usize,
        most_queries: usize,
    ) -> Plan {
        let tile_queries = (MAX_TILE_CANDIDATES / k)
            .clamp(1, MAX_TILE_QUERIES.min(most_queries))
            .min(queries.max(1));
        let tiles = queries.div_ceil(tile_queries).max(1);
        // Enough tasks that the last ones to finish do not leave threads idle for long.
        let wanted = (4 * threads).div_ceil(tiles);
        let count = wanted.min(n / MIN_RANGE_ROWS).max(1);
        let rows = n.div_ceil(count).next_multiple_of(BLOCK_ROWS);
        let ranges = (0..n)
            .step_by(rows)
            .map(|start| start..n.min(start + rows))
            .collect();
        Plan {
            tile_queries,
            ranges,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_cover_the_base_once(
            n in 1usize..100_000, queries in 0usize..2_000, k in 1usize..1_000, threads in 1usize..64,
            most in 1usize..100
        ) {
            let plan = Plan::new(n, queries, k, threads, most);
            prop_assert!((1..=most).contains(&plan.tile_queries));
            let mut next = 0;
            for range in &plan.ranges {
                prop_assert_eq!(range.start, next);
                prop_assert!(range.end > range.start);
                next = range.end;
            }
            prop_assert_eq!(next, n);
        }
    }

    #[test]
    fn a_single_query_still_uses_every_thread() {
        assert!(Plan::new(1_000_000, 1, 10, 8, usize::MAX).ranges.len() >= 8);
    }
}
