//! What one answer is worth by the other metrics.

use super::theirs::{
    ANN_BENCHMARKS_SLACK, BIG_ANN_TIE, ann_benchmarks_distance, extended_truth_width, slots_within,
};
use super::{LADDER, length};
use annbench_core::{EMPTY_SLOT, Metric};

/// One answer and the truth of its query.
pub(crate) struct OtherQuery<'a> {
    pub(crate) metric: Metric,
    pub(crate) dim: usize,
    /// Neighbours asked for, at most the columns of the truth.
    pub(crate) k: usize,
    /// The first `min(k, returned)` entries, in the library's order.
    pub(crate) slots: &'a [u32],
    /// All columns of the truth row.
    pub(crate) truth_ids: &'a [u32],
    /// Their distances, ascending.
    pub(crate) truth_distances: &'a [f64],
}

/// Working memory, reused from query to query.
#[derive(Default)]
pub(crate) struct OtherScratch {
    /// Distinct rows of the answer outside the first k columns of the truth, with their distances.
    pub(crate) outside: Vec<(u32, f64)>,
    known: Vec<Known>,
    distances: Vec<f64>,
}

/// A row of the truth or of the answer.
struct Known {
    id: u32,
    /// Its column in the truth; [`u32::MAX`] when it is in none.
    rank: u32,
    distance: f64,
    seen: bool,
}

/// What one answer is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherScore {
    /// By [`LADDER`]: distinct entries among the first so many columns of the truth.
    pub(super) k_hits: [u32; LADDER.len()],
    /// Place of the nearest true neighbour, from 0.
    pub(super) nearest_at: Option<u32>,
    pub(super) error: DistanceError,
    /// True neighbours at distance 0.
    pub(super) zero_pairs: u32,
    pub(super) ann_benchmarks_hits: u32,
    pub(super) big_ann_hits: u32,
}

/// By how much the neighbours of one answer are farther than the true ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DistanceError {
    /// Mean of the ratios less 1.
    Mean(f64),
    /// There are fewer than k distinct rows.
    Short,
    /// Every true neighbour is at distance 0.
    Zero,
    /// The metric has no ratios.
    Undefined,
}

impl OtherScratch {
    /// Scores a query whose rows outside the truth are in `outside`. `zero_below` tells, of a true
    /// distance, the distance up to which it cannot be told from 0.
    pub(crate) fn score(
        &mut self,
        query: &OtherQuery<'_>,
        zero_below: impl Fn(f64) -> f64,
    ) -> OtherScore {
        let k = query.k;
        let width = extended_truth_width(query.truth_distances, k, BIG_ANN_TIE).unwrap_or(k);
        self.gather(query, width);
        let mut score = OtherScore {
            k_hits: [0; LADDER.len()],
            nearest_at: None,
            error: DistanceError::Undefined,
            zero_pairs: 0,
            ann_benchmarks_hits: 0,
            big_ann_hits: 0,
        };
        let theirs = ann_benchmarks_distance(query.metric, query.dim).ok();
        let bound =
            theirs.map(|distance| distance(query.truth_distances[k - 1]) + ANN_BENCHMARKS_SLACK);
        self.distances.clear();
        for (place, &id) in query.slots.iter().enumerate() {
            // Ids that no row has are in neither list.
            let Ok(at) = self.known.binary_search_by_key(&id, |known| known.id) else {
                continue;
            };
            let known = &mut self.known[at];
            if let (Some(distance), Some(bound)) = (theirs, bound) {
                let within = slots_within([distance(known.distance)], bound);
                score.ann_benchmarks_hits += within as u32;
            }
            if std::mem::replace(&mut known.seen, true) {
                continue;
            }
            let rank = known.rank as usize;
            for (hits, columns) in score.k_hits.iter_mut().zip(LADDER) {
                *hits += u32::from(rank < columns.min(k));
            }
            score.big_ann_hits += u32::from(rank < width);
            if rank == 0 {
                score.nearest_at = Some(place as u32);
            }
            self.distances.push(known.distance);
        }
        if let Ok(length) = length(query.metric) {
            let (error, zero_pairs) = self.distance_error(query, length, zero_below);
            (score.error, score.zero_pairs) = (error, zero_pairs);
        }
        score
    }

    /// Truth up to column `width` and the rows outside, by id; a row that is in both counts as true.
    fn gather(&mut self, query: &OtherQuery<'_>, width: usize) {
        let truth = query.truth_ids[..width].iter().zip(query.truth_distances);
        let truth = truth.zip(0u32..).map(|((&id, &distance), rank)| Known {
            id,
            rank,
            distance,
            seen: false,
        });
        let outside = self.outside.drain(..).map(|(id, distance)| Known {
            id,
            rank: u32::MAX,
            distance,
            seen: false,
        });
        self.known.clear();
        self.known.extend(truth.chain(outside));
        self.known.retain(|known| known.id != EMPTY_SLOT);
        self.known
            .sort_unstable_by_key(|known| (known.id, known.rank));
        self.known.dedup_by_key(|known| known.id);
    }

    fn distance_error(
        &mut self,
        query: &OtherQuery<'_>,
        length: fn(f64) -> f64,
        zero_below: impl Fn(f64) -> f64,
    ) -> (DistanceError, u32) {
        let k = query.k;
        let truth = &query.truth_distances[..k];
        let is_zero = |d: f64| d <= zero_below(d);
        let zero_pairs = truth.iter().filter(|&&d| is_zero(d)).count();
        let error = if self.distances.len() < k {
            DistanceError::Short
        } else if zero_pairs == k {
            DistanceError::Zero
        } else {
            self.distances.sort_unstable_by(f64::total_cmp);
            let pairs = self.distances.iter().zip(truth);
            let ratios = pairs
                .filter(|&(_, &true_d)| !is_zero(true_d))
                .map(|(&d, &true_d)| length(d) / length(true_d) - 1.0);
            DistanceError::Mean(ratios.sum::<f64>() / (k - zero_pairs) as f64)
        };
        (error, zero_pairs as u32)
    }
}
