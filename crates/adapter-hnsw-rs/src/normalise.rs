/// Length of a normalised vector, a little below one.
///
/// `DistDot` asserts that no dot product exceeds 1.000002, which the rounding of an f32 sum can
/// break between like vectors of length one: the sum of d terms in 8 lanes errs by up to
/// (d / 8 + 3) 2^-24, which stays below 1 - LENGTH^2 up to d = 32,000. A common length changes no
/// order of distances.
const LENGTH: f64 = 1.0 - 1.0 / 8192.0;

/// Appends `row`, scaled to [`LENGTH`], to `out`. A zero row stays zero: its dot product with
/// everything is 0, which is the cosine that a vector without direction is given.
pub(crate) fn push_normalised(row: &[f32], out: &mut Vec<f32>) {
    let squared: f64 = row.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let scale = if squared > 0.0 {
        LENGTH / squared.sqrt()
    } else {
        0.0
    };
    out.extend(row.iter().map(|&v| (f64::from(v) * scale) as f32));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_get_one_length_and_keep_their_direction() {
        let mut out = Vec::new();
        push_normalised(&[3.0, 4.0], &mut out);
        push_normalised(&[-6e30, -8e30], &mut out);
        push_normalised(&[0.0, 0.0], &mut out);
        let expected = [0.6, 0.8, -0.6, -0.8, 0.0, 0.0].map(|v| (v * LENGTH) as f32);
        for (a, b) in out.iter().zip(expected) {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
    }
}
