use crate::DatasetError;
use crate::progress::Meter;
use annbench_core::{Vector, Vectors, norm};
use rayon::prelude::*;

/// Bytes of vectors between two words of progress.
const STEP_BYTES: usize = 64 << 20;

/// Rows of which the norms are kept for the median.
const KEPT_NORMS: usize = 1 << 20;

/// Ids that are named in evidence.
pub(super) const NAMED: usize = 5;

/// What one reading of all rows shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scan {
    pub(super) rows: usize,
    /// The smallest and the largest component; of bits and sets there is no telling.
    pub(super) range: Option<(f64, f64)>,
    /// Whether every component is an integer.
    pub(super) whole: bool,
    pub(super) not_finite_rows: u64,
    pub(super) first_not_finite: Option<usize>,
    pub(super) least_norm: f64,
    /// Of the rows that are not zero; infinite where all are.
    pub(super) least_norm_above_zero: f64,
    pub(super) greatest_norm: f64,
    /// Of the finite ones of the rows at equal distances, [`KEPT_NORMS`] of them at most.
    pub(super) median_norm: f64,
    pub(super) zero_rows: u64,
    pub(super) first_zero_rows: Vec<usize>,
}

/// What is found of rows and adds up.
#[derive(Clone)]
struct Seen {
    low: f64,
    high: f64,
    whole: bool,
    not_finite_rows: u64,
    first_not_finite: Option<usize>,
    least_norm: f64,
    least_norm_above_zero: f64,
    greatest_norm: f64,
    zero_rows: u64,
    /// Ascending, [`NAMED`] at most.
    zeroes: Vec<usize>,
}

impl Seen {
    fn nothing() -> Self {
        Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            whole: true,
            not_finite_rows: 0,
            first_not_finite: None,
            least_norm: f64::INFINITY,
            least_norm_above_zero: f64::INFINITY,
            greatest_norm: 0.0,
            zero_rows: 0,
            zeroes: Vec::new(),
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.whole &= other.whole;
        self.not_finite_rows += other.not_finite_rows;
        self.first_not_finite = match (self.first_not_finite, other.first_not_finite) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.least_norm = self.least_norm.min(other.least_norm);
        self.least_norm_above_zero = self.least_norm_above_zero.min(other.least_norm_above_zero);
        self.greatest_norm = self.greatest_norm.max(other.greatest_norm);
        self.zero_rows += other.zero_rows;
        self.zeroes.extend(other.zeroes);
        self.zeroes.sort_unstable();
        self.zeroes.truncate(NAMED);
        self
    }

    fn row(&mut self, i: usize, row: Vector<'_>) {
        let norm = norm(row);
        let finite = match row {
            Vector::F32(v) => self.components(v, f64::from),
            Vector::F16(v) => self.components(v, |v| v.to_f64()),
            Vector::I8(v) => self.components(v, f64::from),
            Vector::U8(v) => self.components(v, f64::from),
            _ => true,
        };
        if !finite {
            self.not_finite_rows += 1;
            self.first_not_finite = self.first_not_finite.or(Some(i));
            return;
        }
        self.least_norm = self.least_norm.min(norm);
        self.greatest_norm = self.greatest_norm.max(norm);
        if norm == 0.0 {
            self.zero_rows += 1;
            if self.zeroes.len() < NAMED {
                self.zeroes.push(i);
            }
        } else {
            self.least_norm_above_zero = self.least_norm_above_zero.min(norm);
        }
    }

    fn components<T: Copy>(&mut self, values: &[T], widen: impl Fn(T) -> f64) -> bool {
        let (mut low, mut high, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let mut whole = true;
        for &value in values {
            let value = widen(value);
            low = low.min(value);
            high = high.max(value);
            whole &= value == value.trunc();
            // Zero for every finite number, and not a number for all else.
            sum += value * 0.0;
        }
        let finite = sum == 0.0;
        if finite {
            self.low = self.low.min(low);
            self.high = self.high.max(high);
            self.whole &= whole;
        }
        finite
    }
}

/// Reads all of `vectors` once; `meter` counts rows from `before` on.
pub(super) fn scan(
    vectors: Vectors<'_>,
    pool: &rayon::ThreadPool,
    meter: &Meter<'_>,
    before: u64,
) -> Result<Scan, DatasetError> {
    let n = vectors.n();
    let row_bytes = vectors.component_bytes().len() / n.max(1);
    let step = (STEP_BYTES / row_bytes.max(1)).max(1);
    let stride = n.div_ceil(KEPT_NORMS).max(1);
    let mut seen = Seen::nothing();
    for start in (0..n).step_by(step) {
        let end = n.min(start + step);
        let part = pool.install(|| {
            (start..end)
                .into_par_iter()
                .with_min_len(256)
                .fold(Seen::nothing, |mut seen, i| {
                    seen.row(i, vectors.row(i));
                    seen
                })
                .reduce(Seen::nothing, Seen::and)
        });
        seen = seen.and(part);
        meter.at(before + end as u64)?;
    }
    let mut norms: Vec<f64> = pool.install(|| {
        (0..n.div_ceil(stride))
            .into_par_iter()
            .with_min_len(256)
            .map(|i| norm(vectors.row(i * stride)))
            .filter(|norm| norm.is_finite())
            .collect()
    });
    let middle = norms.len() / 2;
    let median_norm = match norms.is_empty() {
        true => 0.0,
        false => *norms.select_nth_unstable_by(middle, f64::total_cmp).1,
    };
    let has_components = !matches!(vectors, Vectors::Bits(_) | Vectors::Sets(_));
    Ok(Scan {
        rows: n,
        range: (has_components && seen.low <= seen.high).then_some((seen.low, seen.high)),
        whole: seen.whole,
        not_finite_rows: seen.not_finite_rows,
        first_not_finite: seen.first_not_finite,
        least_norm: seen.least_norm,
        least_norm_above_zero: seen.least_norm_above_zero,
        greatest_norm: seen.greatest_norm,
        median_norm,
        zero_rows: seen.zero_rows,
        first_zero_rows: seen.zeroes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Activity;
    use annbench_core::Rows;
    use std::ops::ControlFlow;
    use std::path::Path;

    fn scanned(data: &[f32], dim: usize) -> Scan {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        let go_on = |_: crate::Progress<'_>| ControlFlow::Continue(());
        let meter = Meter::new(&go_on, Activity::Audit, Path::new("base"), 1);
        scan(
            Vectors::F32(Rows::new(data, dim).unwrap()),
            &pool,
            &meter,
            0,
        )
        .unwrap()
    }

    #[test]
    fn a_scan_finds_range_norms_zeroes_and_what_is_not_finite() {
        let scan = scanned(&[3.0, 4.0, 0.0, -0.0, f32::NAN, 1.0, 0.5, 0.0, 6.0, 8.0], 2);
        assert_eq!(scan.range, Some((0.0, 8.0)));
        assert!(!scan.whole);
        assert_eq!((scan.not_finite_rows, scan.first_not_finite), (1, Some(2)));
        assert_eq!((scan.zero_rows, scan.first_zero_rows), (1, vec![1]));
        assert_eq!((scan.least_norm, scan.greatest_norm), (0.0, 10.0));
        assert_eq!((scan.least_norm_above_zero, scan.median_norm), (0.5, 5.0));
    }
}
