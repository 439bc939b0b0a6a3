//! Ranks, ties included.

/// Spearman's correlation of two equally long lists, equal values at the mean of their ranks. `None`
/// when a list is constant, empty, or of another length.
pub fn spearman(a: &[u32], b: &[u32]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let (a, b) = (midranks_doubled(a), midranks_doubled(b));
    // Twice the mean of twice the ranks: everything below stays a whole number.
    let n = a.len() as i128;
    let centre = n + 1;
    let (mut ab, mut aa, mut bb) = (0i128, 0i128, 0i128);
    for (x, y) in a.into_iter().zip(b) {
        let (x, y) = (i128::from(x) - centre, i128::from(y) - centre);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    (aa > 0 && bb > 0).then(|| ab as f64 / ((aa as f64).sqrt() * (bb as f64).sqrt()))
}

/// Twice the rank from 1, of equal values the mean: always whole.
fn midranks_doubled(values: &[u32]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by_key(|&position| values[position]);
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let end = start
            + order[start..]
                .iter()
                .take_while(|&&position| values[position] == value)
                .count();
        for &position in &order[start..end] {
            // Ranks start + 1 to end.
            ranks[position] = (start + 1 + end) as u64;
        }
        start = end;
    }
    ranks
}

/// Which third of `values` each belongs to, 0 for the lowest: by rank, equal values in the order of their
/// positions, sizes as equal as can be. NaN sorts last.
pub fn terciles(values: &[f64]) -> Vec<u8> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut thirds = vec![0; values.len()];
    for (rank, position) in order.into_iter().enumerate() {
        thirds[position] = (3 * rank / values.len()) as u8;
    }
    thirds
}
