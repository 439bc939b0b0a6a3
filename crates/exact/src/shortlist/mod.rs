//! Shortlists: fast arithmetic that dismisses nearly every base row with certainty.
//!
//! Base rows are prepared block by block, multiplied with panels of queries, and only what may still
//! be among a query's nearest is looked at one by one and kept.

mod bound;
mod centre;
mod encode;
mod floats;
mod integers;
mod intervals;
mod scan;
mod scores;

pub(crate) use bound::{Bound, U64, gamma};
pub(crate) use floats::Floats;
pub(crate) use integers::{Byte, Integers};
pub(crate) use intervals::{Interval, Intervals};
pub(crate) use scan::{most_queries, scan};
pub(crate) use scores::Scores;

use crate::panel::{Lines, Product, Sum};
use std::ops::Range;

/// Most components whose sums the arithmetic and the bounds are made for: twice as many products of
/// bytes stay below 2^31, and the relative bounds on f32 sums below 1/1000.
pub(crate) const MOST_COMPONENTS: usize = 1 << 14;

/// Base rows prepared for multiplication.
#[derive(Debug)]
pub(crate) struct Block<T, X> {
    /// The number of the first row.
    pub(crate) first: usize,
    /// How many there are; what follows has more, which stand for nothing.
    pub(crate) rows: usize,
    /// `[padded rows, units]`.
    pub(crate) words: Lines,
    /// What a row adds to its sums, for dismissing it.
    pub(crate) terms: Vec<T>,
    /// What else is known of a row.
    pub(crate) extras: Vec<X>,
    /// The greatest of what is known.
    pub(crate) most: X,
}

/// How sums become scores, of which greater are nearer, and what is kept of them.
pub(crate) trait Arithmetic: Sync {
    /// What a product of rows sums to.
    type Sum: Sum;
    /// What is known of a row beside its term.
    type Extra: Copy + Default + Send;
    /// What a query keeps of the rows seen.
    type Kept: Send;

    /// How units are multiplied.
    fn product(&self) -> Product;

    /// Components of a row.
    fn dim(&self) -> usize;

    /// Prepares base rows `block.first .. block.first + block.rows`; words, terms and extras have
    /// their sizes and words are zero.
    fn load(&self, block: &mut Block<Self::Sum, Self::Extra>);

    /// Puts query `q` into `words`, which are zero.
    fn load_query(&self, q: usize, words: &mut [u32]);

    /// What query `q` has before the first row.
    fn nothing_kept(&self, q: usize) -> Self::Kept;

    /// The least sum of product and term with which a row of `block` may have to be kept.
    fn floor(
        &self,
        q: usize,
        kept: &Self::Kept,
        block: &Block<Self::Sum, Self::Extra>,
    ) -> Self::Sum;

    /// Keeps row `row` of `block` where it must; says whether the floor has risen.
    fn offer(
        &self,
        q: usize,
        kept: &mut Self::Kept,
        block: &Block<Self::Sum, Self::Extra>,
        row: usize,
        sum: Self::Sum,
    ) -> bool;

    /// Takes over what another thread has kept of other rows.
    fn merge(&self, kept: &mut Self::Kept, other: Self::Kept);

    /// Number of queries.
    fn queries(&self) -> Range<usize>;
}
