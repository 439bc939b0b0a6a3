use super::{Arithmetic, Block, MOST_COMPONENTS, Scores, encode};
use crate::panel::Product;
use crate::{Candidate, Level};
use annbench_core::{Metric, Rows};
use std::ops::Range;

/// A byte, signed or not.
pub(crate) trait Byte: Copy + Sync + Into<i16> + 'static {
    /// How such bytes are multiplied at `level`.
    fn product(level: Level) -> Product;

    /// Its eight bits.
    fn bits(self) -> u8;

    /// What is added to every byte of the base, and to every byte of the queries, before the product
    /// takes it in its own way: 0, or 128 in either direction.
    fn shifts(product: Product) -> (i16, i16);
}

impl Byte for u8 {
    fn bits(self) -> u8 {
        self
    }

    fn product(level: Level) -> Product {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Amx => Product::Unsigned,
            #[cfg(target_arch = "x86_64")]
            Level::Vnni | Level::Bf16 => Product::Mixed,
            _ => Product::Words,
        }
    }

    fn shifts(product: Product) -> (i16, i16) {
        match product {
            #[cfg(target_arch = "x86_64")]
            Product::Mixed => (0, -128),
            _ => (0, 0),
        }
    }
}

impl Byte for i8 {
    fn bits(self) -> u8 {
        self as u8
    }

    fn product(level: Level) -> Product {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Amx => Product::Signed,
            #[cfg(target_arch = "x86_64")]
            Level::Vnni | Level::Bf16 => Product::Mixed,
            _ => Product::Words,
        }
    }

    fn shifts(product: Product) -> (i16, i16) {
        match product {
            #[cfg(target_arch = "x86_64")]
            Product::Mixed => (128, 0),
            _ => (0, 0),
        }
    }
}

/// Bytes under l2 and inner product. A score is 2 q x - |x|^2 or q x, plus what is the same for all rows; it is
/// exact.
#[derive(Debug)]
pub(crate) struct Integers<'s, T> {
    base: Rows<'s, T>,
    queries: Rows<'s, T>,
    l2: bool,
    k: usize,
    /// A distance for each query, or empty: only nearer rows are kept.
    known: &'s [f64],
    level: Level,
    product: Product,
}

impl<'s, T: Byte> Integers<'s, T> {
    /// `None` where scores would not be exact.
    pub(crate) fn new(
        base: Rows<'s, T>,
        queries: Rows<'s, T>,
        metric: Metric,
        k: usize,
        known: &'s [f64],
        level: Level,
    ) -> Option<Self> {
        let l2 = match metric {
            Metric::L2 => true,
            Metric::InnerProduct => false,
            _ => return None,
        };
        (base.dim() <= MOST_COMPONENTS).then(|| Self {
            base,
            queries,
            l2,
            k,
            known,
            level,
            product: T::product(level),
        })
    }
}

/// What scores of a query differ by from its distances.
struct Offsets {
    /// |q|^2.
    squares: i64,
    /// s sum(q): (x + s) q = q x + s sum(q), where s is what the base is shifted by.
    shifted: i64,
}

impl<T: Byte> Integers<'_, T> {
    fn offsets(&self, q: usize) -> Offsets {
        let row = self.queries.row(q);
        let sum = |f: fn(i64) -> i64| row.iter().map(|&v| f(i64::from(v.into()))).sum::<i64>();
        let (shift, _) = T::shifts(self.product);
        Offsets {
            squares: sum(|v| v * v),
            shifted: i64::from(shift) * sum(|v| v),
        }
    }

    /// The score that a row must beat to be nearer than what is known; `None` where that is any.
    fn beaten(&self, q: usize) -> Option<i32> {
        let known = *self.known.get(q)?;
        if !known.is_finite() {
            return None;
        }
        // Distances of integers are integers, far below 2^53.
        let (known, Offsets { squares, shifted }) = (known as i64, self.offsets(q));
        let score = match self.l2 {
            true => squares + 2 * shifted - known,
            false => shifted - known,
        };
        i32::try_from(score).ok()
    }

    /// What query `q` has kept, nearest first, with the reference distances, which follow from the
    /// scores.
    pub(crate) fn candidates(&self, q: usize, kept: Scores) -> Vec<Candidate> {
        let Offsets { squares, shifted } = self.offsets(q);
        let distance = |score: i32| {
            let score = i64::from(score);
            if self.l2 {
                (squares + 2 * shifted - score) as f64
            } else {
                // As the reference negates it: a zero becomes a negative one.
                -((score - shifted) as f64)
            }
        };
        let pairs = kept.into_pairs().into_iter();
        pairs
            .map(|(score, id)| Candidate {
                distance: distance(score),
                id,
            })
            .collect()
    }
}

impl<T: Byte> Arithmetic for Integers<'_, T> {
    type Sum = i32;
    /// What a row adds to its scores.
    type Extra = i32;
    type Kept = Scores;

    fn product(&self) -> Product {
        self.product
    }

    fn dim(&self) -> usize {
        self.base.dim()
    }

    fn load(&self, block: &mut Block<i32, i32>) {
        let (shift, query_shift) = T::shifts(self.product);
        let units = self.product.units(self.base.dim());
        let rows = self.base.slice(block.first..block.first + block.rows);
        let into = block.words.words_mut().chunks_exact_mut(units);
        for (r, words) in into.take(block.rows).enumerate() {
            let row = rows.row(r);
            let sums = encode::bytes(self.level, self.product, row, shift, words);
            // q x = (q + s) x - s sum(x), where s is what the queries are shifted by.
            let unshifted = -i32::from(query_shift) * sums.components;
            let own = if self.l2 {
                2 * unshifted - sums.squares
            } else {
                unshifted
            };
            block.extras[r] = own;
            // Half of it, rounded up, so that no score is taken for a lower one.
            block.terms[r] = if self.l2 { (own + 1) >> 1 } else { own };
        }
    }

    fn load_query(&self, q: usize, words: &mut [u32]) {
        let (_, shift) = T::shifts(self.product);
        encode::bytes(self.level, self.product, self.queries.row(q), shift, words);
    }

    fn nothing_kept(&self, q: usize) -> Scores {
        Scores::new(self.k, self.beaten(q))
    }

    fn floor(&self, _q: usize, kept: &Scores, _block: &Block<i32, i32>) -> i32 {
        match kept.last() {
            None => i32::MIN,
            Some(last) if self.l2 => ((i64::from(last) + 2) >> 1) as i32,
            Some(last) => last.saturating_add(1),
        }
    }

    #[inline]
    fn offer(
        &self,
        _q: usize,
        kept: &mut Scores,
        block: &Block<i32, i32>,
        row: usize,
        sum: i32,
    ) -> bool {
        let sum = if self.l2 { 2 * sum } else { sum };
        kept.offer(sum + block.extras[row], (block.first + row) as u32)
    }

    fn merge(&self, kept: &mut Scores, other: Scores) {
        kept.merge(other);
    }

    fn queries(&self) -> Range<usize> {
        0..self.queries.n()
    }
}
