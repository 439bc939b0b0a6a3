//! From queries to the query set: sums first, divisions last.

use super::query::{DistanceError, OtherScore};
use super::record::{
    AnnBenchmarksRecall, BigAnnRecall, KRecallAtN, OneRecallAtR, OtherMetrics,
    RelativeDistanceError,
};
use super::theirs::ann_benchmarks_distance;
use super::{LADDER, length};
use annbench_core::Metric;

/// The figures of `scores`, one for each scored query and at least one, in query order.
pub(crate) fn summarise_others(metric: Metric, k: usize, scores: &[&OtherScore]) -> OtherMetrics {
    let queries = scores.len() as u64;
    let sum = |of: &dyn Fn(&OtherScore) -> u32| -> u64 {
        scores.iter().map(|score| u64::from(of(score))).sum()
    };
    let share = |hits: u64, columns: u64| hits as f64 / (columns * queries) as f64;
    let mut nearest_at_rank = vec![0u64; k];
    for place in scores.iter().filter_map(|score| score.nearest_at) {
        nearest_at_rank[place as usize] += 1;
    }
    let steps = || {
        LADDER
            .into_iter()
            .enumerate()
            .filter(|&(_, step)| step <= k)
    };
    let k_recall_at_n = steps()
        .map(|(number, step)| {
            let id_hits = sum(&|score| score.k_hits[number]);
            KRecallAtN {
                k: step as u64,
                n: k as u64,
                id_hits,
                recall: share(id_hits, step as u64),
            }
        })
        .collect();
    let one_recall_at_r = steps()
        .map(|(_, step)| {
            let queries_found = nearest_at_rank[..step].iter().sum();
            OneRecallAtR {
                r: step as u64,
                queries_found,
                recall: share(queries_found, 1),
            }
        })
        .collect();
    let mrr = mean_reciprocal(&nearest_at_rank, queries);
    let slots_within = sum(&|score| score.ann_benchmarks_hits);
    let extended_hits = sum(&|score| score.big_ann_hits);
    OtherMetrics {
        scored_queries: queries,
        k_recall_at_n,
        one_recall_at_r,
        nearest_at_rank,
        mrr,
        relative_distance_error: length(metric).map(|_| relative_distance_error(scores)),
        // The dim scales its distances, and has nothing to do with whether there are any.
        ann_benchmarks_recall: ann_benchmarks_distance(metric, 1).map(|_| AnnBenchmarksRecall {
            slots_within,
            recall: share(slots_within, k as u64),
        }),
        big_ann_recall: BigAnnRecall {
            extended_hits,
            recall: share(extended_hits, k as u64),
        },
        qrels: None,
    }
}

/// Mean of 1 / rank over `queries`, of which so many are `at_rank` 1, 2, ... and the rest count as 0.
pub(crate) fn mean_reciprocal(at_rank: &[u64], queries: u64) -> f64 {
    let reciprocals = at_rank.iter().zip(1u64..);
    let reciprocals = reciprocals.map(|(&at, rank)| at as f64 / rank as f64);
    reciprocals.sum::<f64>() / queries as f64
}

fn relative_distance_error(scores: &[&OtherScore]) -> RelativeDistanceError {
    let means = scores.iter().filter_map(|score| match score.error {
        DistanceError::Mean(mean) => Some(mean),
        _ => None,
    });
    let count = |kind: DistanceError| {
        let of_kind = scores.iter().filter(|score| score.error == kind);
        of_kind.count() as u64
    };
    let queries = means.clone().count() as u64;
    RelativeDistanceError {
        queries,
        short_queries: count(DistanceError::Short),
        zero_queries: count(DistanceError::Zero),
        zero_pairs: scores.iter().map(|score| u64::from(score.zero_pairs)).sum(),
        mean: (queries > 0).then(|| means.sum::<f64>() / queries as f64),
    }
}
