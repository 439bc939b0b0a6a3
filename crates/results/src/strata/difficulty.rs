//! Queries by how hard they are, told from the truth alone.

use crate::other_metrics::length;
use annbench_core::Metric;
use annbench_stats::terciles;
use serde::{Deserialize, Serialize};

/// Columns of truth that the intrinsic dimension is estimated from.
const LID_COLUMNS: usize = 100;

/// What makes a query hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifficultyMeasure {
    /// Local intrinsic dimension from 100 neighbours, by maximum likelihood (Amsaleg et al., 2015): high
    /// is hard.
    Lid,
    /// d_2k / d_k: low is hard.
    Expansion,
}

/// Each scored query's third, from easy (0) to hard (2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difficulty {
    /// What it was told by.
    pub measure: DifficultyMeasure,
    /// Third of each query, in query order; `None` for one that is not scored.
    pub thirds: Vec<Option<u8>>,
}

impl Difficulty {
    /// Of truth distances `[queries, width]` as this project computes them. Only queries that are `scored`
    /// are ranked: all distances of a zero query are alike, which would make it the hardest.
    ///
    /// # Errors
    /// Why it cannot be told: too few columns, or a metric whose values are no distances.
    pub fn of(
        metric: Metric,
        distances: &[f64],
        width: usize,
        k: usize,
        scored: impl Fn(usize) -> bool,
    ) -> Result<Self, String> {
        let (measure, hardness) = if width >= LID_COLUMNS {
            (DifficultyMeasure::Lid, lids(metric, distances, width)?)
        } else {
            // Negated, so that the hard ones come last; equal ones stay in query order.
            let expansions = expansions(metric, distances, width, k)?;
            let negated = expansions.into_iter().map(|expansion| -expansion);
            (DifficultyMeasure::Expansion, negated.collect())
        };
        let all = hardness.iter().copied().enumerate();
        let ranked: Vec<(usize, f64)> = all.filter(|&(q, _)| scored(q)).collect();
        let values: Vec<f64> = ranked.iter().map(|&(_, value)| value).collect();
        let mut thirds = vec![None; hardness.len()];
        for ((q, _), third) in ranked.into_iter().zip(terciles(&values)) {
            thirds[q] = Some(third);
        }
        Ok(Self { measure, thirds })
    }
}

/// Local intrinsic dimension of each query from truth distances `[queries, width]`; high is hard.
///
/// # Errors
/// Why it cannot be told: fewer than 100 columns, or a metric whose values are no distances.
pub fn lids(metric: Metric, distances: &[f64], width: usize) -> Result<Vec<f64>, String> {
    let length = length(metric).map_err(|why| format!("{why}, and give no intrinsic dimension"))?;
    if width < LID_COLUMNS {
        return Err(format!(
            "the truth has {width} neighbours per query, and {LID_COLUMNS} are needed"
        ));
    }
    let rows = distances.chunks_exact(width);
    Ok(rows
        .map(|row| lid(row[..LID_COLUMNS].iter().map(|&d| length(d))))
        .collect())
}

/// d_2k / d_k of each query from truth distances `[queries, width]`; low is hard.
///
/// # Errors
/// Why it cannot be told: fewer than 2k columns, or a metric whose values are no distances.
pub fn expansions(
    metric: Metric,
    distances: &[f64],
    width: usize,
    k: usize,
) -> Result<Vec<f64>, String> {
    let length = length(metric).map_err(|why| format!("{why}, and have no ratio"))?;
    if k == 0 || width < 2 * k {
        return Err(format!(
            "the truth has {width} neighbours per query: {LID_COLUMNS} are needed, or {} for the expansion",
            2 * k
        ));
    }
    let rows = distances.chunks_exact(width);
    Ok(rows
        .map(|row| expansion(length(row[k - 1]), length(row[2 * k - 1])))
        .collect())
}

/// Relative contrast of each query: the mean length to base rows (`means`) over that to the k-th neighbour;
/// low is hard (He, Kumar and Chang, 2012). Infinite where the k-th is at distance 0.
///
/// # Errors
/// Why it cannot be told: fewer than k columns, or a metric whose values are no distances.
pub fn contrasts(
    metric: Metric,
    means: &[f64],
    distances: &[f64],
    width: usize,
    k: usize,
) -> Result<Vec<f64>, String> {
    let length = length(metric).map_err(|why| format!("{why}, and have no ratio"))?;
    if k == 0 || width < k {
        return Err(format!(
            "the truth has {width} neighbours per query, not {k}"
        ));
    }
    let rows = distances.chunks_exact(width).zip(means);
    Ok(rows.map(|(row, mean)| mean / length(row[k - 1])).collect())
}

/// For each query, how many of 100 base rows are nearer to their nearest other row than the query is to
/// its own nearest, equal ones counting half: 50 is usual, near 100 is out of the base's distribution, near
/// 0 is nearer than base rows are. `of_rows` are distances of rows to their nearest others.
///
/// # Errors
/// Why it cannot be told: no rows, or inner products, by which a row is not its own nearest.
pub fn nearest_percentiles(
    metric: Metric,
    of_rows: &[f64],
    distances: &[f64],
    width: usize,
) -> Result<Vec<f64>, String> {
    length(metric)?;
    let mut sorted = of_rows.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() {
        return Err("the base has no two rows".to_owned());
    }
    let rows = distances.chunks_exact(width.max(1));
    Ok(rows
        .map(|row| {
            let below = sorted.partition_point(|&d| d < row[0]);
            let not_above = sorted.partition_point(|&d| d <= row[0]);
            50.0 * (below + not_above) as f64 / sorted.len() as f64
        })
        .collect())
}

/// -(mean of ln(d_i / d_K))^-1 over the distances above 0, the K-th counted; infinite where all are alike.
pub(crate) fn lid(distances: impl Iterator<Item = f64>) -> f64 {
    let distances: Vec<f64> = distances.filter(|&d| d > 0.0).collect();
    let Some(&farthest) = distances.last() else {
        return f64::INFINITY;
    };
    let sum: f64 = distances.iter().map(|d| (d / farthest).ln()).sum();
    match sum < 0.0 {
        true => -(distances.len() as f64) / sum,
        false => f64::INFINITY,
    }
}

/// d_2k / d_k, 1 where both are 0: nothing tells the k-th from the 2k-th.
fn expansion(d_k: f64, d_2k: f64) -> f64 {
    match d_2k > 0.0 {
        true => d_2k / d_k,
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsic_dimension_counts_every_neighbour_above_zero() {
        // ln(1/4), ln(2/4), ln(4/4): mean -ln 2.
        let expected = 1.0 / 2f64.ln();
        assert!((lid([1.0, 2.0, 4.0].into_iter()) - expected).abs() < 1e-12);
        assert!((lid([0.0, 1.0, 2.0, 4.0].into_iter()) - expected).abs() < 1e-12);
        assert_eq!(lid([3.0, 3.0].into_iter()), f64::INFINITY);
        assert_eq!(lid([0.0].into_iter()), f64::INFINITY);
    }

    #[test]
    fn contrast_and_percentiles_are_those_of_small_examples() {
        // Lengths to the second neighbour: 2 and 0; mean lengths 6 and 5.
        let distances = [1.0, 4.0, 0.0, 0.0];
        let found = contrasts(Metric::L2, &[6.0, 5.0], &distances, 2, 2);
        assert_eq!(found, Ok(vec![3.0, f64::INFINITY]));
        assert!(contrasts(Metric::L2, &[6.0, 5.0], &distances, 2, 3).is_err());
        assert!(contrasts(Metric::InnerProduct, &[6.0, 5.0], &distances, 2, 2).is_err());
        // Of four rows one is nearer than 1, two are as near, one is farther.
        let of_rows = [1.0, 9.0, 1.0, 0.5];
        let found = nearest_percentiles(Metric::L2, &of_rows, &distances, 2);
        assert_eq!(found, Ok(vec![50.0, 0.0]));
        assert!(nearest_percentiles(Metric::L2, &[], &distances, 2).is_err());
        assert!(nearest_percentiles(Metric::InnerProduct, &of_rows, &distances, 2).is_err());
    }

    #[test]
    fn the_truths_distances_are_taken_for_what_they_are() {
        // Squared distances 1 and 16 against 1 and 4: at k = 1 the second query is the harder.
        let distances = [1.0, 16.0, 1.0, 4.0, 1.0, 64.0];
        let found =
            Difficulty::of(Metric::L2, &distances, 2, 1, |_| true).expect("two columns are enough");
        assert_eq!(found.measure, DifficultyMeasure::Expansion);
        assert_eq!(found.thirds, [Some(1), Some(2), Some(0)]);
        assert!(Difficulty::of(Metric::L2, &distances, 2, 2, |_| true).is_err());
        assert!(Difficulty::of(Metric::InnerProduct, &distances, 2, 1, |_| true).is_err());
    }
}
