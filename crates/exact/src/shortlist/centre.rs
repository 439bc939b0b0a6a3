use annbench_core::{Vector, Vectors};

/// Rows that are looked at, in as many runs as they are long.
const SAMPLE_SIDE: usize = 64;

/// About the mean of the rows, each times its factor. Any centre is right, a good one makes bounds tight, so a sample will do:
/// runs of rows, evenly spaced, which a base on disk gives cheaply.
pub(super) fn centre(base: Vectors<'_>, factor: impl Fn(usize) -> f64) -> Vec<f32> {
    let n = base.n();
    let mut sums = vec![0f64; base.dim()];
    let run = SAMPLE_SIDE.min(n);
    let runs = SAMPLE_SIDE.min(n.div_ceil(run.max(1)));
    let mut count = 0usize;
    for at in 0..runs {
        let first = if runs > 1 {
            (n - run) as u128 * at as u128 / (runs - 1) as u128
        } else {
            0
        };
        for i in first as usize..first as usize + run {
            let factor = factor(i);
            let mut add = |values: &mut dyn Iterator<Item = f64>| {
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += value * factor;
                }
            };
            match base.row(i) {
                Vector::F32(row) => add(&mut row.iter().map(|&v| f64::from(v))),
                Vector::F16(row) => add(&mut row.iter().map(|&v| f64::from(v))),
                Vector::I8(row) => add(&mut row.iter().map(|&v| f64::from(v))),
                Vector::U8(row) => add(&mut row.iter().map(|&v| f64::from(v))),
                _ => {}
            }
            count += 1;
        }
    }
    let mean = |sum: f64| {
        let mean = (sum / count.max(1) as f64) as f32;
        if mean.is_finite() { mean } else { 0.0 }
    };
    sums.into_iter().map(mean).collect()
}
