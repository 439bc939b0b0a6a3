//! How the answers of a point fare in each stratum.

use crate::strata::bars::{Bar, Stratum, bars};
use crate::strata::difficulty::DifficultyMeasure;
use crate::strata::set::{HubStrata, Strata};
use crate::{Answers, ScoringSet};
use annbench_stats::{
    StratumMean, Units, poisson_ceiling, ratio_of_sums, skewness, spearman_among_zeros,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Queries below which a stratum of queries abstains.
const LEAST_QUERIES: u64 = 100;
/// Pairs, and queries they are of, below which the anti-hub stratum abstains.
const LEAST_PAIRS: (u64, u64) = (100, 50);
/// Pairs that a bucket of counts holds at least.
const LEAST_BUCKET: u64 = 100;

/// Quality of the answers of one repetition by strata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrataQuality {
    /// Queries with 0, 1, ... k hits: every share of queries with a recall of at least delta follows.
    pub queries_by_hits: Vec<u64>,
    /// By how often rows are near to others; or why that is not known.
    pub hubness: Result<HubnessQuality, String>,
    /// By how hard queries are; or why that is not known.
    pub difficulty: Result<DifficultyQuality, String>,
    /// Whether every stratum reaches a recall.
    pub bars: Vec<Bar>,
}

/// Quality by how often base rows are near to others. Hits are id hits against the canonical truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HubnessQuality {
    /// The dataset's own figures.
    pub base: Hubness,
    /// The rarely retrieved rows.
    pub anti_hub: AntiHubQuality,
    /// Pairs of a query and one of its true neighbours, by that row's count.
    pub by_count: Vec<CountBucket>,
    /// Spearman's correlation of how often a row is in the truth and in the answers, over all rows;
    /// nothing when rows are in the truth less than once on average.
    pub hub_rank_all: Option<f64>,
    /// The same over the rows that are in either.
    pub hub_rank_support: Option<f64>,
    /// Total variation between these counts: half their summed difference over k times the queries.
    pub total_variation: f64,
    /// Jaccard similarity of the rows that are hubs in the truth and in the answers; nothing when
    /// neither has any.
    pub hub_overlap: Option<f64>,
}

/// What the counts of a dataset are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hubness {
    /// Neighbours of each base row that were counted.
    pub k: u64,
    /// Base rows whose neighbours were counted; all, where that is n.
    pub asked_rows: u64,
    /// a*: rows with at most this count are anti-hubs.
    pub anti_hub_threshold: u32,
    /// How many that are.
    pub anti_hub_rows: u64,
    /// Rows that are among the nearest of none.
    pub never_rows: u64,
    /// Skewness of the counts; nothing when all are equal.
    pub skewness: Option<f64>,
    /// Robin Hood index of the counts.
    pub robin_hood: Option<f64>,
    /// Times that a row is in the truth, on average: k times the queries over n.
    pub query_budget: f64,
    /// Skewness of how often rows are in the truth.
    pub query_skewness: Option<f64>,
}

/// Whether rarely retrieved rows are found when they are right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AntiHubQuality {
    /// Pairs of a query and an anti-hub among its true neighbours.
    pub pairs: u64,
    /// Of these, those whose row is in the answer.
    pub pairs_found: u64,
    /// Queries with such a pair.
    pub pair_queries: u64,
    /// anti_hub_recall_pairs: found / pairs; nothing with fewer than 100 pairs or 50 queries.
    pub recall_pairs: Option<f64>,
    /// Its standard error over queries.
    pub recall_pairs_standard_error: Option<f64>,
    /// Queries whose first true neighbour is an anti-hub.
    pub queries: u64,
    /// Strict hits of these.
    pub hits: u64,
    /// anti_hub_recall_q: hits / (k queries); nothing with fewer than 100 queries.
    pub recall_q: Option<f64>,
}

/// True neighbours of about the same count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountBucket {
    /// Lowest count.
    pub from: u32,
    /// Highest count.
    pub to: u32,
    /// Pairs of a query and such a neighbour.
    pub pairs: u64,
    /// Those whose row is in the answer.
    pub found: u64,
}

/// Quality by difficulty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifficultyQuality {
    /// What tells it.
    pub measure: DifficultyMeasure,
    /// Easy, middle, hard.
    pub thirds: Vec<OneThird>,
}

/// A third of the queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneThird {
    /// Scored queries in it.
    pub queries: u64,
    /// Their strict hits.
    pub hits: u64,
    /// hits / (k queries); nothing without queries.
    pub recall: Option<f64>,
}

/// What is known of one query's answer.
struct Answered<'a> {
    truth: &'a [u32],
    /// Distinct rows that the answer names among its first k.
    ids: Vec<u32>,
    hits: u32,
    third: Option<u8>,
}

/// Scores `answers`, of which `hits` are the strict ones in query order (`None` for a query that is left
/// out), by `strata`.
pub(crate) fn score_strata(
    set: &ScoringSet<'_>,
    strata: &Strata,
    answers: &Answers<'_>,
    hits: &[Option<u32>],
) -> StrataQuality {
    let k = strata.k;
    let thirds = strata.difficulty.as_ref().ok().map(|d| &d.thirds);
    let answered: Vec<Answered<'_>> = hits
        .iter()
        .enumerate()
        .filter_map(|(q, hits)| {
            let first = q * set.truth_width;
            Some(Answered {
                truth: &set.truth_ids[first..first + k],
                ids: answers.distinct(q, set.base.n()),
                hits: (*hits)?,
                third: thirds.and_then(|thirds| thirds.get(q).copied().flatten()),
            })
        })
        .collect();
    let mut queries_by_hits = vec![0; k + 1];
    for query in &answered {
        queries_by_hits[query.hits as usize] += 1;
    }
    let (hubness, anti_hubs) = match &strata.hubs {
        Ok(hubs) => {
            let (hubness, anti_hubs) = by_hubness(set, k, hubs, &answered);
            (Ok(hubness), anti_hubs)
        }
        Err(why) => (Err(why.clone()), None),
    };
    let difficulty = match &strata.difficulty {
        Ok(difficulty) => Ok(by_difficulty(k, difficulty.measure, &answered)),
        Err(why) => Err(why.clone()),
    };
    let bars = bars(required(k, &answered, anti_hubs));
    StrataQuality {
        queries_by_hits,
        hubness,
        difficulty,
        bars,
    }
}

impl Answered<'_> {
    fn found(&self, id: u32) -> bool {
        self.ids.binary_search(&id).is_ok()
    }
}

/// By hubness, and the anti-hubs' recall with the pairs that each query weighs, unless they abstain.
fn by_hubness(
    set: &ScoringSet<'_>,
    k: usize,
    hubs: &HubStrata,
    answered: &[Answered<'_>],
) -> (HubnessQuality, Option<StratumMean>) {
    let counts = &hubs.occurrences.counts;
    let is_anti = |id: u32| hubs.anti_hubs.holds(counts[id as usize]);
    let pairs_of = |query: &Answered<'_>| -> (u32, u32) {
        let anti = query.truth.iter().filter(|&&id| is_anti(id));
        let found = anti.clone().filter(|&&id| query.found(id)).count();
        (found as u32, anti.count() as u32)
    };
    let by_query: Vec<(u32, u32)> = answered.iter().map(pairs_of).collect();
    let pairs: u64 = by_query.iter().map(|&(_, all)| u64::from(all)).sum();
    let pairs_found: u64 = by_query.iter().map(|&(found, _)| u64::from(found)).sum();
    let pair_queries = by_query.iter().filter(|&&(_, all)| all > 0).count() as u64;
    let enough = pairs >= LEAST_PAIRS.0 && pair_queries >= LEAST_PAIRS.1;
    let ratio = ratio_of_sums(by_query.iter().copied()).filter(|_| enough);
    let of_anti_hubs = answered.iter().filter(|query| is_anti(query.truth[0]));
    let queries = of_anti_hubs.clone().count() as u64;
    let hits: u64 = of_anti_hubs.map(|query| u64::from(query.hits)).sum();

    // Rows that are in the truth or in an answer, with how often in each. In the order of their ids, so
    // that equal answers give equal figures to the last bit.
    let mut seen: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for query in answered {
        for &id in query.truth {
            seen.entry(id).or_default().0 += 1;
        }
        for &id in &query.ids {
            seen.entry(id).or_default().1 += 1;
        }
    }
    let (in_truth, in_answers): (Vec<u32>, Vec<u32>) = seen.into_values().unzip();
    let n = set.base.n() as u64;
    let slots = answered.len() as u64 * k as u64;
    let budget = slots as f64 / n as f64;
    let unseen = n - in_truth.len() as u64;
    let ranked = budget >= 1.0;
    let off: u64 = in_truth
        .iter()
        .zip(&in_answers)
        .map(|(&a, &b)| u64::from(a.abs_diff(b)))
        .sum();
    let anti_hubs = ratio.map(|ratio| StratumMean {
        mean: ratio.value,
        standard_error: ratio.standard_error,
        units: Units::Weighing(by_query.iter().map(|&(_, all)| all).collect()),
    });
    let quality = HubnessQuality {
        base: Hubness {
            k: hubs.occurrences.k as u64,
            asked_rows: hubs.occurrences.asked,
            anti_hub_threshold: hubs.anti_hubs.threshold,
            anti_hub_rows: hubs.anti_hubs.rows,
            never_rows: hubs.anti_hubs.never,
            skewness: hubs.skewness,
            robin_hood: hubs.robin_hood,
            query_budget: budget,
            query_skewness: skewness_among_zeros(&in_truth, unseen),
        },
        anti_hub: AntiHubQuality {
            pairs,
            pairs_found,
            pair_queries,
            recall_pairs: ratio.map(|ratio| ratio.value),
            recall_pairs_standard_error: ratio.map(|ratio| ratio.standard_error),
            queries,
            hits,
            recall_q: (queries >= LEAST_QUERIES).then(|| hits as f64 / (k as u64 * queries) as f64),
        },
        by_count: by_count(counts, answered),
        hub_rank_all: spearman_among_zeros(&in_truth, &in_answers, unseen).filter(|_| ranked),
        hub_rank_support: spearman_among_zeros(&in_truth, &in_answers, 0).filter(|_| ranked),
        total_variation: 0.5 * off as f64 / slots as f64,
        hub_overlap: hub_overlap(n, budget, &in_truth, &in_answers),
    };
    (quality, anti_hubs)
}

/// Skewness of `counts` and as many zeros. Zeros among the counts are taken with the others, so that the
/// figure is the same to the last bit wherever they stand.
fn skewness_among_zeros(counts: &[u32], zeros: u64) -> Option<f64> {
    let zeros = zeros + counts.iter().filter(|&&count| count == 0).count() as u64;
    let counts: Vec<u32> = counts.iter().copied().filter(|&count| count > 0).collect();
    if zeros == 0 {
        return skewness(&counts);
    }
    // Central moments from raw ones would cancel; the zeros are all at one place.
    let n = counts.len() as f64 + zeros as f64;
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mean = total as f64 / n;
    let moment = |power: i32| {
        let of_counts: f64 = counts
            .iter()
            .map(|&count| (f64::from(count) - mean).powi(power))
            .sum();
        (of_counts + zeros as f64 * (-mean).powi(power)) / n
    };
    let sd = moment(2).sqrt();
    (sd > 0.0).then(|| moment(3) / (sd * sd * sd))
}

fn hub_overlap(n: u64, budget: f64, in_truth: &[u32], in_answers: &[u32]) -> Option<f64> {
    let ceiling = poisson_ceiling(n, budget)?;
    let is_hub = |count: u32| u64::from(count) > ceiling;
    let (mut both, mut either) = (0u64, 0u64);
    for (&a, &b) in in_truth.iter().zip(in_answers) {
        both += u64::from(is_hub(a) && is_hub(b));
        either += u64::from(is_hub(a) || is_hub(b));
    }
    (either > 0).then(|| both as f64 / either as f64)
}

/// Distinct counts in ascending order, merged until a bucket has enough pairs; what is left at the end
/// joins the last.
fn by_count(counts: &[u32], answered: &[Answered<'_>]) -> Vec<CountBucket> {
    let mut by_value: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for query in answered {
        for &id in query.truth {
            let (pairs, found) = by_value.entry(counts[id as usize]).or_default();
            *pairs += 1;
            *found += u64::from(query.found(id));
        }
    }
    let mut buckets: Vec<CountBucket> = Vec::new();
    for (count, (pairs, found)) in by_value {
        match buckets.last_mut() {
            Some(last) if last.pairs < LEAST_BUCKET => {
                last.to = count;
                last.pairs += pairs;
                last.found += found;
            }
            _ => buckets.push(CountBucket {
                from: count,
                to: count,
                pairs,
                found,
            }),
        }
    }
    if buckets.len() > 1
        && let Some(short) = buckets.pop_if(|last| last.pairs < LEAST_BUCKET)
        && let Some(last) = buckets.last_mut()
    {
        last.to = short.to;
        last.pairs += short.pairs;
        last.found += short.found;
    }
    buckets
}

fn by_difficulty(
    k: usize,
    measure: DifficultyMeasure,
    answered: &[Answered<'_>],
) -> DifficultyQuality {
    let thirds = (0..3)
        .map(|third| {
            let within = answered.iter().filter(|query| query.third == Some(third));
            let queries = within.clone().count() as u64;
            let hits: u64 = within.map(|query| u64::from(query.hits)).sum();
            OneThird {
                queries,
                hits,
                recall: (queries > 0).then(|| hits as f64 / (k as u64 * queries) as f64),
            }
        })
        .collect();
    DifficultyQuality { measure, thirds }
}

/// The strata that a recall is asked of: the thirds of difficulty and the anti-hubs. Where a third has no
/// bounds all queries stand beside them, so that no least mean is above the mean of all.
fn required(
    k: usize,
    answered: &[Answered<'_>],
    anti_hubs: Option<StratumMean>,
) -> Vec<(Stratum, Option<StratumMean>)> {
    let mean_over = |third: Option<u8>| {
        let within = answered
            .iter()
            .filter(|query| third.is_none() || query.third == third);
        mean_of(within.map(|query| f64::from(query.hits) / k as f64))
    };
    let thirds = Stratum::THIRDS.into_iter().zip(0u8..);
    let mut strata: Vec<(Stratum, Option<StratumMean>)> = thirds
        .map(|(stratum, third)| (stratum, mean_over(Some(third))))
        .collect();
    if strata.iter().any(|(_, mean)| mean.is_none()) {
        strata.push((Stratum::AllQueries, mean_over(None)));
    }
    strata.push((Stratum::AntiHubs, anti_hubs));
    strata
}

/// `None` with fewer than 100 values.
fn mean_of(values: impl Iterator<Item = f64> + Clone) -> Option<StratumMean> {
    let units = values.clone().count() as u64;
    if units < LEAST_QUERIES {
        return None;
    }
    let m = units as f64;
    let mean = values.clone().sum::<f64>() / m;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (m - 1.0);
    Some(StratumMean {
        mean,
        standard_error: (variance / m).sqrt(),
        units: Units::Alike(units),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewness_is_the_same_to_the_last_bit_wherever_the_zeros_are() {
        let expected = skewness(&[3, 1, 1, 7, 0, 0, 0, 0, 0, 0]).expect("counts differ");
        let alone = skewness_among_zeros(&[3, 1, 1, 7], 6).expect("counts differ");
        assert!((alone - expected).abs() < 1e-12);
        for (counts, zeros) in [
            (&[3, 0, 1, 0, 0, 1, 7][..], 3),
            (&[0, 0, 3, 1, 1, 7, 0], 3),
            (&[3, 1, 0, 1, 7], 5),
            (&[3, 0, 1, 0, 0, 1, 0, 0, 0, 7], 0),
        ] {
            let found = skewness_among_zeros(counts, zeros).map(f64::to_bits);
            assert_eq!(found, Some(alone.to_bits()), "{counts:?}");
        }
    }
}
