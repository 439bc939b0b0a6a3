use serde::{Deserialize, Serialize};

/// The stored form of a slot that holds no id.
pub const EMPTY_SLOT: u32 = u32::MAX;

/// What a library's id means to the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An id that fits; whether a base row has it is for the scorer to say.
    Id(u32),
    /// One of the sentinels for "no neighbour": -1 and the maximum of u32 or u64.
    Empty,
    /// A value that is no id at all.
    Invalid(i128),
}

/// Any integer a library may use for ids.
pub trait NeighborId: Copy {
    /// Sorts the value into id, empty slot or nonsense.
    fn slot(self) -> Slot;
}

macro_rules! neighbor_id {
    ($($t:ty),*) => {$(
        impl NeighborId for $t {
            #[inline(always)]
            fn slot(self) -> Slot {
                match u32::try_from(self) {
                    Ok(EMPTY_SLOT) => Slot::Empty,
                    Ok(id) => Slot::Id(id),
                    Err(_) if self as i128 == -1 || self as i128 == i128::from(u64::MAX) => {
                        Slot::Empty
                    }
                    Err(_) => Slot::Invalid(self as i128),
                }
            }
        }
    )*};
}

neighbor_id!(i32, i64, u32, u64, usize);

/// An answer that is no id: which query, which position, which value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidId {
    /// Row of the query.
    pub query: u32,
    /// Position in the answer, from 0.
    pub position: u32,
    /// The value as far as it fits 64 bits (saturated).
    pub value: i64,
}

/// The answer to one query: up to `k` slots in the library's order, nearest first.
///
/// Pushing never allocates and never fails: what exceeds `k` is counted, what is no id is noted.
#[derive(Debug)]
pub struct TopK<'a> {
    slots: &'a mut [u32],
    returned: &'a mut u32,
    query: u32,
    invalid: &'a mut Vec<InvalidId>,
    invalid_count: &'a mut u64,
}

impl<'a> TopK<'a> {
    /// An empty answer over `slots` (`k` of them). `invalid` keeps as many as its capacity holds;
    /// `invalid_count` counts all.
    #[inline]
    pub fn new(
        slots: &'a mut [u32],
        returned: &'a mut u32,
        query: u32,
        invalid: &'a mut Vec<InvalidId>,
        invalid_count: &'a mut u64,
    ) -> Self {
        slots.fill(EMPTY_SLOT);
        Self::unfilled(slots, returned, query, invalid, invalid_count)
    }

    /// As [`TopK::new`], but slots that get no id keep what they held.
    #[inline]
    fn unfilled(
        slots: &'a mut [u32],
        returned: &'a mut u32,
        query: u32,
        invalid: &'a mut Vec<InvalidId>,
        invalid_count: &'a mut u64,
    ) -> Self {
        *returned = 0;
        Self {
            slots,
            returned,
            query,
            invalid,
            invalid_count,
        }
    }

    /// Number of neighbours asked for.
    #[inline]
    pub fn k(&self) -> usize {
        self.slots.len()
    }

    /// Appends one id.
    #[inline]
    pub fn push<I: NeighborId>(&mut self, id: I) {
        let position = *self.returned;
        *self.returned = position.saturating_add(1);
        let stored = match id.slot() {
            Slot::Id(id) => id,
            Slot::Empty => EMPTY_SLOT,
            Slot::Invalid(value) => {
                self.note_invalid(position, value);
                EMPTY_SLOT
            }
        };
        if let Some(slot) = self.slots.get_mut(position as usize) {
            *slot = stored;
        }
    }

    /// Appends ids in order.
    #[inline]
    pub fn extend<I: NeighborId>(&mut self, ids: impl IntoIterator<Item = I>) {
        for id in ids {
            self.push(id);
        }
    }

    #[cold]
    fn note_invalid(&mut self, position: u32, value: i128) {
        // Only what stands among the first k is an answer; the rest is only over-returned.
        if position as usize >= self.slots.len() {
            return;
        }
        *self.invalid_count += 1;
        if self.invalid.len() < self.invalid.capacity() {
            self.invalid.push(InvalidId {
                query: self.query,
                position,
                value: value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
            });
        }
    }
}

/// The answers to a batch of queries: `[queries, k]` slots and a returned count for each. Slots from the
/// returned count on hold nothing of meaning: the harness empties them when the batch is done, outside
/// of what is timed.
#[derive(Debug)]
pub struct NeighborRows<'a> {
    slots: &'a mut [u32],
    returned: &'a mut [u32],
    k: usize,
    first_query: u32,
    invalid: &'a mut Vec<InvalidId>,
    invalid_count: &'a mut u64,
}

impl<'a> NeighborRows<'a> {
    /// Rows over `slots` (`returned.len() * k` of them); query numbers start at `first_query`.
    ///
    /// Returns `None` when the lengths do not fit.
    pub fn new(
        slots: &'a mut [u32],
        returned: &'a mut [u32],
        k: usize,
        first_query: u32,
        invalid: &'a mut Vec<InvalidId>,
        invalid_count: &'a mut u64,
    ) -> Option<Self> {
        (slots.len() == returned.len() * k).then_some(Self {
            slots,
            returned,
            k,
            first_query,
            invalid,
            invalid_count,
        })
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.returned.len()
    }

    /// Number of neighbours asked for.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The answer to query `i` of this batch, emptied.
    #[inline]
    pub fn row(&mut self, i: usize) -> TopK<'_> {
        TopK::unfilled(
            &mut self.slots[i * self.k..(i + 1) * self.k],
            &mut self.returned[i],
            self.first_query + i as u32,
            self.invalid,
            self.invalid_count,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_of_every_width_are_empty() {
        assert_eq!((-1i32).slot(), Slot::Empty);
        assert_eq!((-1i64).slot(), Slot::Empty);
        assert_eq!(u32::MAX.slot(), Slot::Empty);
        assert_eq!(u64::MAX.slot(), Slot::Empty);
        assert_eq!(7usize.slot(), Slot::Id(7));
        assert_eq!((-2i64).slot(), Slot::Invalid(-2));
        assert_eq!((1i64 << 40).slot(), Slot::Invalid(1 << 40));
    }

    #[test]
    fn an_answer_keeps_its_first_k_and_counts_the_rest() {
        let (mut slots, mut returned) = ([0u32; 3], 9);
        let (mut invalid, mut count) = (Vec::with_capacity(1), 0);
        let mut top = TopK::new(&mut slots, &mut returned, 5, &mut invalid, &mut count);
        top.extend([4i64, -7, -9, 2, -3]);
        assert_eq!(slots, [4, EMPTY_SLOT, EMPTY_SLOT]);
        assert_eq!(returned, 5);
        assert_eq!(count, 2);
        assert_eq!(
            invalid,
            [InvalidId {
                query: 5,
                position: 1,
                value: -7
            }]
        );
    }
}
