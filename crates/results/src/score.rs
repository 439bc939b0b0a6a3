//! Strict, tie-aware recall of one answer.

use annbench_core::EMPTY_SLOT;

/// The canonical exact neighbours of one query, cut to the k that are scored.
#[derive(Clone, Copy, Debug)]
pub struct TrueTopK<'a> {
    ids: &'a [u32],
    distances: &'a [f64],
}

impl<'a> TrueTopK<'a> {
    /// Takes the first `k` columns of a truth row sorted by (distance, id).
    ///
    /// Returns `None` when `k` is zero, when a column is missing, or when the distances are not
    /// ascending numbers.
    pub fn new(ids: &'a [u32], distances: &'a [f64], k: usize) -> Option<Self> {
        let (ids, distances) = (ids.get(..k)?, distances.get(..k)?);
        let ascending = distances.is_sorted_by(|a, b| a <= b);
        let numbers = distances.first().is_some_and(|d| !d.is_nan());
        (ascending && numbers).then_some(Self { ids, distances })
    }

    /// Neighbours asked for, at least 1.
    pub fn k(&self) -> usize {
        self.ids.len()
    }

    /// Distance of the k-th true neighbour.
    pub fn kth_distance(&self) -> f64 {
        self.distances[self.distances.len() - 1]
    }
}

/// What one answer is worth. Everything counts among the first k slots but `over_returned`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryScore {
    /// The most that any valid true top-k set has in common with the answer.
    pub hits: u32,
    /// What the canonical true top-k set has in common with the answer.
    pub id_hits: u32,
    /// Repeated ids that were dropped.
    pub duplicates: u32,
    /// Slots that held a sentinel or nothing.
    pub short: u32,
    /// Entries returned beyond k.
    pub over_returned: u32,
    /// Ids that no base row has.
    pub invalid: u32,
    /// Ids outside the truth that are strictly nearer than its k-th neighbour.
    pub beats_truth: u32,
    /// Whether `hits` or `beats_truth` would be another number without the tie tolerance.
    pub used_tolerance: bool,
}

/// Working memory of [`score_query`], reused from query to query.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    entries: Vec<Entry>,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`EMPTY_SLOT`] when vacant; that value is never looked up.
    id: u32,
    mark: u32,
}

/// Marks above every rank in a truth row.
const SEEN: u32 = u32::MAX;
const VACANT: Entry = Entry {
    id: EMPTY_SLOT,
    mark: SEEN,
};

enum Visit {
    True { rank: usize },
    Other,
    Repeat,
}

impl Scratch {
    /// Working memory that grows with the first query.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything and holds the ranks of `truth`, with room for as many other ids.
    fn reset(&mut self, truth: &[u32]) {
        let capacity = (4 * truth.len()).next_power_of_two();
        self.entries.clear();
        self.entries.resize(capacity, VACANT);
        self.shift = 32 - capacity.trailing_zeros();
        for (rank, &id) in truth.iter().enumerate() {
            if id != EMPTY_SLOT {
                let at = self.find(id);
                self.entries[at] = Entry {
                    id,
                    mark: rank as u32,
                };
            }
        }
    }

    /// Position of `id`, or of the vacancy where it belongs. At most half of the table is taken, so
    /// there is one.
    #[inline]
    fn find(&self, id: u32) -> usize {
        // Fibonacci hashing: the high bits of the product spread runs of neighbouring ids.
        let mut at = (id.wrapping_mul(0x9E37_79B1) >> self.shift) as usize;
        while self.entries[at].id != id && self.entries[at].id != EMPTY_SLOT {
            at = (at + 1) & (self.entries.len() - 1);
        }
        at
    }

    #[inline]
    fn visit(&mut self, id: u32) -> Visit {
        let at = self.find(id);
        let entry = &mut self.entries[at];
        if entry.id == EMPTY_SLOT {
            *entry = Entry { id, mark: SEEN };
            return Visit::Other;
        }
        match std::mem::replace(&mut entry.mark, SEEN) {
            SEEN => Visit::Repeat,
            rank => Visit::True {
                rank: rank as usize,
            },
        }
    }
}

/// Classes of distances around the k-th true one, for one half-width of the tie band.
struct Band {
    d_k: f64,
    half_width: f64,
    strict: usize,
    tied: usize,
    beats: usize,
}

impl Band {
    fn new(d_k: f64, half_width: f64) -> Self {
        Self {
            d_k,
            half_width,
            strict: 0,
            tied: 0,
            beats: 0,
        }
    }

    #[inline]
    fn is_strict(&self, d: f64) -> bool {
        d < self.d_k - self.half_width
    }

    #[inline]
    fn add(&mut self, d: f64, in_truth: bool) {
        if self.is_strict(d) {
            self.strict += 1;
            self.beats += usize::from(!in_truth);
        } else if d - self.d_k <= self.half_width {
            // Not the absolute difference: rounding would leave a gap to the strict ones.
            self.tied += 1;
        }
    }

    /// max |R ∩ T'| over all valid true top-k sets T': each holds every strictly nearer row, so
    /// only k minus their number is left for tied ones. Only a refuted truth could exceed k.
    fn hits(&self, truth: &TrueTopK<'_>) -> usize {
        let k = truth.k();
        let strict_in_truth = truth.distances.partition_point(|&d| self.is_strict(d));
        (self.strict + self.tied.min(k - strict_in_truth)).min(k)
    }
}

/// Scores one raw answer: strict recall with ties at the k-th distance, repeats and foreign ids
/// counted.
///
/// `slots` are ids in the library's order, of which the first `min(k, returned)` are looked at;
/// [`EMPTY_SLOT`] may stand anywhere and means no neighbour. `returned` is how many entries the
/// library gave, sentinels included. `n` is the number of base rows. `half_width` is the tie
/// tolerance at the k-th true distance, 0 for exact arithmetic. `distance` gives D(q, id) in the
/// arithmetic of the truth; it is called only for ids below `n` outside the canonical truth.
pub fn score_query(
    scratch: &mut Scratch,
    slots: &[u32],
    returned: u32,
    truth: TrueTopK<'_>,
    n: usize,
    half_width: f64,
    mut distance: impl FnMut(u32) -> f64,
) -> QueryScore {
    let k = truth.k();
    let given = slots.len().min(returned as usize).min(k);
    let mut score = QueryScore {
        short: (k - given) as u32,
        over_returned: (returned as usize).saturating_sub(k) as u32,
        ..QueryScore::default()
    };
    let mut band = Band::new(truth.kth_distance(), half_width);
    let mut exact = Band::new(truth.kth_distance(), 0.0);
    scratch.reset(truth.ids);
    for &id in &slots[..given] {
        if id == EMPTY_SLOT {
            score.short += 1;
            continue;
        }
        if id as usize >= n {
            score.invalid += 1;
            continue;
        }
        let (d, in_truth) = match scratch.visit(id) {
            Visit::Repeat => {
                score.duplicates += 1;
                continue;
            }
            Visit::True { rank } => {
                score.id_hits += 1;
                (truth.distances[rank], true)
            }
            Visit::Other => (distance(id), false),
        };
        band.add(d, in_truth);
        exact.add(d, in_truth);
    }
    let hits = band.hits(&truth);
    score.hits = hits as u32;
    score.beats_truth = band.beats as u32;
    score.used_tolerance = hits != exact.hits(&truth) || band.beats != exact.beats;
    score
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Rounding opens no gap between the strictly nearer and the tied.
        #[test]
        fn what_is_not_farther_than_the_band_is_strict_or_tied(
            d_k in 1e-3f64..1e6, dim in 1usize..2000, ulps in -2i64..=2
        ) {
            let half_width = 4.0 * (dim + 2) as f64 * 2f64.powi(-53) * d_k;
            let edge = d_k - half_width;
            let d = f64::from_bits((edge.to_bits() as i64 + ulps) as u64);
            let mut band = Band::new(d_k, half_width);
            band.add(d, true);
            prop_assert_eq!(band.strict + band.tied, 1, "{} {} {}", d, d_k, half_width);
        }
    }
}
