use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A base row and its distance to a query, ordered canonically: by distance, then by id.
///
/// Zeroes of either sign are equal. A NaN distance, which only rows that are not finite can give,
/// comes after every number.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// D(q, x).
    pub distance: f64,
    /// The row.
    pub id: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance
            .partial_cmp(&other.distance)
            .unwrap_or_else(|| self.distance.is_nan().cmp(&other.distance.is_nan()))
            .then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The k first candidates seen so far, in a heap with the last of them on top.
#[derive(Clone, Debug)]
pub(crate) struct Nearest {
    k: usize,
    heap: BinaryHeap<Candidate>,
    threshold: f64,
}

impl Nearest {
    /// Keeps `k` candidates, at least one; allocates for the `rows` that will be offered, or for `k`
    /// where they are more.
    pub(crate) fn new(k: usize, rows: usize) -> Self {
        debug_assert!(k > 0);
        Self {
            k,
            heap: BinaryHeap::with_capacity(k.min(rows)),
            threshold: f64::INFINITY,
        }
    }

    /// How many there are: fewer than k while fewer were offered.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.threshold = f64::INFINITY;
    }

    #[inline(always)]
    pub(crate) fn offer(&mut self, distance: f64, id: u32) {
        // A NaN on either side must reach the full comparison.
        let hopeless = distance > self.threshold;
        if !hopeless {
            self.insert(Candidate { distance, id });
        }
    }

    fn insert(&mut self, candidate: Candidate) {
        if self.heap.len() < self.k {
            self.heap.push(candidate);
            if self.heap.len() < self.k {
                return;
            }
        } else if let Some(mut last) = self.heap.peek_mut()
            && candidate < *last
        {
            *last = candidate;
        }
        if let Some(last) = self.heap.peek() {
            self.threshold = last.distance;
        }
    }

    /// Takes over everything that `other` holds.
    pub(crate) fn merge(&mut self, other: &Nearest) {
        for candidate in &other.heap {
            self.offer(candidate.distance, candidate.id);
        }
    }

    /// Empties the heap into `sorted`, nearest first, without allocating when it holds `k`.
    pub(crate) fn drain_sorted(&mut self, sorted: &mut Vec<Candidate>) {
        sorted.clear();
        while let Some(last) = self.heap.pop() {
            sorted.push(last);
        }
        sorted.reverse();
        self.threshold = f64::INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(k: usize, offers: &[(f64, u32)]) -> Vec<(f64, u32)> {
        let mut nearest = Nearest::new(k, offers.len());
        for &(distance, id) in offers {
            nearest.offer(distance, id);
        }
        let mut out = Vec::new();
        nearest.drain_sorted(&mut out);
        out.iter().map(|c| (c.distance, c.id)).collect()
    }

    #[test]
    fn ties_go_to_the_lower_id_whatever_the_order_of_arrival() {
        let expected = vec![(1.0, 9), (2.0, 1), (2.0, 3)];
        assert_eq!(
            sorted(3, &[(2.0, 5), (2.0, 3), (1.0, 9), (2.0, 1)]),
            expected
        );
        assert_eq!(
            sorted(3, &[(2.0, 1), (2.0, 3), (2.0, 5), (1.0, 9)]),
            expected
        );
    }

    #[test]
    fn zeroes_of_either_sign_tie() {
        assert_eq!(sorted(1, &[(0.0, 2), (-0.0, 1)])[0].1, 1);
        assert_eq!(sorted(1, &[(-0.0, 2), (0.0, 1)])[0].1, 1);
    }

    #[test]
    fn nan_comes_last_and_gives_way() {
        assert_eq!(
            sorted(2, &[(f64::NAN, 0), (f64::NAN, 1), (7.0, 2), (3.0, 3)]),
            [(3.0, 3), (7.0, 2)]
        );
    }
}
