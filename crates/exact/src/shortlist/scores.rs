/// The greatest scores seen of one query, as integers that are exact.
///
/// Rows come in ascending order, so that of rows with equal scores the first are the ones to keep.
#[derive(Debug)]
pub(crate) struct Scores {
    k: usize,
    /// Ascending keys are descending scores, then ascending ids.
    keys: Vec<u64>,
    /// The last of the k best, once there were more, or what is known from elsewhere.
    last: Option<i32>,
}

impl Scores {
    /// Of those that beat `last`, where it is known already.
    pub(super) fn new(k: usize, last: Option<i32>) -> Self {
        Self {
            k,
            keys: Vec::new(),
            last,
        }
    }

    /// Keys that are held before the k best of them are picked.
    pub(super) fn capacity(k: usize) -> usize {
        k + k.max(64)
    }

    /// The score that must be beaten.
    pub(super) fn last(&self) -> Option<i32> {
        self.last
    }

    /// Whether the score to beat has risen.
    #[inline]
    pub(super) fn offer(&mut self, score: i32, id: u32) -> bool {
        if self.last.is_some_and(|last| score <= last) {
            return false;
        }
        self.keys.push(key(score, id));
        if self.keys.len() < Self::capacity(self.k) {
            return false;
        }
        self.pick();
        true
    }

    fn pick(&mut self) {
        if self.keys.len() > self.k {
            let (_, &mut last, _) = self.keys.select_nth_unstable(self.k - 1);
            self.keys.truncate(self.k);
            self.last = Some(score(last));
        }
    }

    pub(super) fn merge(&mut self, other: Scores) {
        self.keys.extend(other.keys);
        self.pick();
    }

    /// The k best with their ids, best first, and of equal ones the lowest id.
    pub(super) fn into_pairs(mut self) -> Vec<(i32, u32)> {
        self.pick();
        self.keys.sort_unstable();
        self.keys
            .iter()
            .map(|&key| (score(key), key as u32))
            .collect()
    }
}

const SIGN: u32 = 1 << 31;

fn key(score: i32, id: u32) -> u64 {
    u64::from(!(score as u32 ^ SIGN)) << 32 | u64::from(id)
}

fn score(key: u64) -> i32 {
    (!((key >> 32) as u32) ^ SIGN) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_kept_in_canonical_order(
            scores in prop::collection::vec(prop_oneof![-3i32..3, any::<i32>()], 1..600),
            k in 1usize..90,
            cut in any::<prop::sample::Index>()
        ) {
            let k = k.min(scores.len());
            let cut = cut.index(scores.len());
            let (mut one, mut first, mut second) = (Scores::new(k, None), Scores::new(k, None), Scores::new(k, None));
            for (id, &score) in scores.iter().enumerate() {
                one.offer(score, id as u32);
                let part = if id < cut { &mut first } else { &mut second };
                part.offer(score, id as u32);
            }
            second.merge(first);
            let mut expected: Vec<u32> = (0..scores.len() as u32).collect();
            expected.sort_by_key(|&id| (-i64::from(scores[id as usize]), id));
            expected.truncate(k);
            let expected: Vec<_> = expected.iter().map(|&id| (scores[id as usize], id)).collect();
            prop_assert_eq!(one.into_pairs(), expected.clone());
            prop_assert_eq!(second.into_pairs(), expected);
        }
    }
}
