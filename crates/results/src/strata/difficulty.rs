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

/// Each query's third, from easy (0) to hard (2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difficulty {
    /// What it was told by.
    pub measure: DifficultyMeasure,
    /// Third of each query, in query order.
    pub thirds: Vec<u8>,
}

impl Difficulty {
    /// Of truth distances `[queries, width]` as this project computes them.
    ///
    /// # Errors
    /// Why it cannot be told: too few columns, or a metric whose values are no distances.
    pub fn of(metric: Metric, distances: &[f64], width: usize, k: usize) -> Result<Self, String> {
        let length =
            length(metric).map_err(|why| format!("{why}, and give no intrinsic dimension"))?;
        let rows = distances.chunks_exact(width.max(1));
        if width >= LID_COLUMNS {
            let lids: Vec<f64> = rows
                .map(|row| lid(row[..LID_COLUMNS].iter().map(|&d| length(d))))
                .collect();
            return Ok(Self {
                measure: DifficultyMeasure::Lid,
                thirds: terciles(&lids),
            });
        }
        if width < 2 * k {
            return Err(format!(
                "the truth has {width} neighbours per query: {LID_COLUMNS} are needed, or {} for the expansion",
                2 * k
            ));
        }
        // Negated, so that the hard ones come last; equal ones stay in query order.
        let expansions: Vec<f64> = rows
            .map(|row| -expansion(length(row[k - 1]), length(row[2 * k - 1])))
            .collect();
        Ok(Self {
            measure: DifficultyMeasure::Expansion,
            thirds: terciles(&expansions),
        })
    }
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
    fn the_truths_distances_are_taken_for_what_they_are() {
        // Squared distances 1 and 16 against 1 and 4: at k = 1 the second query is the harder.
        let distances = [1.0, 16.0, 1.0, 4.0, 1.0, 64.0];
        let found = Difficulty::of(Metric::L2, &distances, 2, 1).expect("two columns are enough");
        assert_eq!(found.measure, DifficultyMeasure::Expansion);
        assert_eq!(found.thirds, [1, 2, 0]);
        assert!(Difficulty::of(Metric::L2, &distances, 2, 2).is_err());
        assert!(Difficulty::of(Metric::InnerProduct, &distances, 2, 1).is_err());
    }
}
