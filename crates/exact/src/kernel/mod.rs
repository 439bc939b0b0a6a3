//! One group of queries against a run of base rows.
//!
//! Floats are summed in the order of the reference distance, 16 lanes of f64 without fused
//! operations, so that its bits come out; bytes, bits and sets are summed in integers, where order does
//! not matter. Each loop is there once for every instruction set of [`Level`], chosen at run time.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod bits;
mod bytes;
mod floats;
mod level;
mod sets;

pub(crate) use bits::BitTile;
pub(crate) use bytes::ByteTile;
pub(crate) use floats::WideTile;
pub use level::{Level, simd_level};
pub(crate) use sets::SetTile;

use annbench_core::Vectors;

/// The number of lanes that the reference distance uses.
const LANES: usize = 16;

/// Components that an i32 sum of byte products holds: 255^2 * 2^15 < 2^31.
const I32_BLOCK: usize = 1 << 15;

/// What is summed over the components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// (q - x)^2
    SquaredDifference,
    /// q x; of bits and sets, what both have.
    Product,
    /// Whether q and x differ.
    Difference,
}

/// Rows of a type that the engine searches.
pub(crate) trait Kernel<'a>: Copy + Sync {
    /// Queries, prepared once outside the loops.
    type Tile: Default + Send + Sync;

    /// A run of base rows, prepared once for all groups of queries.
    type Block<'s>: Copy;

    /// Number of rows.
    fn n(self) -> usize;

    /// Rows `range`.
    fn slice(self, range: std::ops::Range<usize>) -> Self;

    /// These rows, as rows of any type.
    fn vectors(self) -> Vectors<'a>;

    /// Puts these rows, as queries, in the place of what `tile` held.
    fn fill(self, tile: &mut Self::Tile);

    /// Prepares these rows, as a run of the base.
    fn block<'s>(self, scratch: &'s mut Vec<f32>) -> Self::Block<'s>
    where
        'a: 's;

    /// Sums of `term` for `Q` queries of the tile from `first` on against the rows of `block`, into
    /// `sums` `[rows, Q]`.
    fn sums<const Q: usize>(
        level: Level,
        term: Term,
        tile: &Self::Tile,
        first: usize,
        block: Self::Block<'_>,
        sums: &mut [f64],
    );

    /// Most queries of `dim` components whose tile takes little memory.
    fn most_queries(_dim: usize) -> usize {
        usize::MAX
    }
}

/// What is the same for rows of every type.
macro_rules! view {
    ($rows:ident, $variant:ident) => {
        fn n(self) -> usize {
            $rows::n(&self)
        }

        fn slice(self, range: std::ops::Range<usize>) -> Self {
            $rows::slice(&self, range)
        }

        fn vectors(self) -> annbench_core::Vectors<'a> {
            annbench_core::Vectors::$variant(self)
        }
    };
}
use view;

/// What a row adds to its distances beside the sum: its norm under cosine, its size under jaccard.
pub(crate) fn weight(metric: annbench_core::Metric, row: annbench_core::Vector<'_>) -> f64 {
    use annbench_core::{Metric, Vector, norm};
    match (metric, row) {
        (Metric::Cosine, row) => norm(row),
        (Metric::Jaccard, Vector::Set(set)) => set.ids.len() as f64,
        (Metric::Jaccard, Vector::Bits(bits)) => {
            let ones = bits.bytes.iter().map(|byte| byte.count_ones());
            f64::from(ones.sum::<u32>())
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annbench_core::{BitRows, Metric, Rows, SetRows, distance};
    use proptest::prelude::*;

    /// Every level against the reference: `Q` queries and the base after them.
    fn check<'a, K: Kernel<'a>, const Q: usize>(
        all: K,
        terms: &[(Term, Metric, f64)],
    ) -> Result<(), TestCaseError> {
        let (queries, base) = (all.slice(0..Q), all.slice(Q..all.n()));
        let mut tile = K::Tile::default();
        let mut scratch = Vec::new();
        queries.fill(&mut tile);
        for &(term, metric, sign) in terms {
            for level in Level::available() {
                let mut sums = vec![0.0; base.n() * Q];
                K::sums::<Q>(level, term, &tile, 0, base.block(&mut scratch), &mut sums);
                for r in 0..base.n() {
                    for q in 0..Q {
                        let (query, row) = (queries.vectors().row(q), base.vectors().row(r));
                        prop_assert_eq!(
                            (sign * sums[r * Q + q]).to_bits(),
                            distance(metric, query, row).to_bits(),
                            "{:?} {:?} row {} query {}",
                            level,
                            term,
                            r,
                            q
                        );
                    }
                }
            }
        }
        Ok(())
    }

    const NUMBERS: [(Term, Metric, f64); 2] = [
        (Term::SquaredDifference, Metric::L2, 1.0),
        (Term::Product, Metric::InnerProduct, -1.0),
    ];

    proptest! {
        #[test]
        fn floats_have_the_bits_of_the_reference(
            (dim, values) in (1usize..70).prop_flat_map(|d| (
                Just(d),
                prop::collection::vec(-1e6f32..1e6, d * 9),
            ))
        ) {
            let rows = Rows::new(&values, dim).unwrap();
            check::<_, 4>(rows, &NUMBERS)?;
            check::<_, 1>(rows, &NUMBERS)?;
        }

        #[test]
        fn half_precision_has_the_bits_of_the_reference(
            (dim, values) in (1usize..70).prop_flat_map(|d| (
                Just(d),
                prop::collection::vec(-6e4f32..6e4, d * 9),
            ))
        ) {
            let values: Vec<half::f16> = values.into_iter().map(half::f16::from_f32).collect();
            let rows = Rows::new(&values, dim).unwrap();
            check::<_, 4>(rows, &NUMBERS)?;
            check::<_, 1>(rows, &NUMBERS)?;
        }

        #[test]
        fn bytes_have_the_bits_of_the_reference(
            (dim, values) in (1usize..200).prop_flat_map(|d| (
                Just(d),
                prop::collection::vec(any::<u8>(), d * 9),
            ))
        ) {
            let rows = Rows::new(&values, dim).unwrap();
            check::<_, 4>(rows, &NUMBERS)?;
            check::<_, 1>(rows, &NUMBERS)?;
            let signed: Vec<i8> = values.iter().map(|&v| v as i8).collect();
            let rows = Rows::new(&signed, dim).unwrap();
            check::<_, 4>(rows, &NUMBERS)?;
            check::<_, 1>(rows, &NUMBERS)?;
        }

        #[test]
        fn bits_have_the_counts_of_the_reference(
            (bytes, values) in (1usize..40).prop_flat_map(|b| (
                Just(b),
                prop::collection::vec(any::<u8>(), b * 9),
            ))
        ) {
            let rows = BitRows::new(&values, bytes * 8).unwrap();
            let terms = [(Term::Difference, Metric::Hamming, 1.0)];
            check::<_, 4>(rows, &terms)?;
            check::<_, 1>(rows, &terms)?;
        }

        #[test]
        fn common_members_are_counted(
            sets in prop::collection::vec(prop::collection::btree_set(0u32..90, 0..30), 9)
        ) {
            let mut offsets = vec![0u64];
            let mut ids = Vec::new();
            for set in &sets {
                ids.extend(set);
                offsets.push(ids.len() as u64);
            }
            let rows = SetRows::new(&offsets, &ids, 90).unwrap();
            let mut tile = Default::default();
            // What an earlier tile left must be gone.
            rows.slice(4..9).fill(&mut tile);
            rows.slice(0..4).fill(&mut tile);
            let mut sums = [0.0; 5 * 4];
            let block = rows.slice(4..9);
            SetRows::sums::<4>(Level::Portable, Term::Product, &tile, 0, block, &mut sums);
            for r in 0..5 {
                for q in 0..4 {
                    let common = sets[q].intersection(&sets[4 + r]).count();
                    prop_assert_eq!(sums[r * 4 + q], common as f64);
                }
            }
        }
    }

    #[test]
    fn byte_sums_beyond_the_i32_range_stay_exact() {
        let dim = 100_003;
        let values = [vec![255u8; dim], vec![0; dim]].concat();
        let rows = Rows::new(&values, dim).unwrap();
        check::<_, 1>(rows, &NUMBERS).unwrap();
    }
}
