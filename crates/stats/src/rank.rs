//! Ranks, ties included.

/// Spearman's correlation of two equally long lists, equal values at the mean of their ranks. They go on with
/// `zeros` more rows, each 0 in both: counts of which only those that are not both 0 are kept. `None` when a
/// list is constant, empty, or of another length.
pub fn spearman_among_zeros(a: &[u32], b: &[u32], zeros: u64) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    // Twice the mean of twice the ranks: everything below stays a whole number.
    let centre = a.len() as i128 + i128::from(zeros) + 1;
    let (a, zero_a) = midranks_doubled(a, zeros);
    let (b, zero_b) = midranks_doubled(b, zeros);
    let (mut ab, mut aa, mut bb) = (0i128, 0i128, 0i128);
    let mut add = |x: u64, y: u64, times: u64| {
        let (x, y) = (i128::from(x) - centre, i128::from(y) - centre);
        let times = i128::from(times);
        ab += x * y * times;
        aa += x * x * times;
        bb += y * y * times;
    };
    for (x, y) in a.into_iter().zip(b) {
        add(x, y, 1);
    }
    add(zero_a, zero_b, zeros);
    (aa > 0 && bb > 0).then(|| ab as f64 / ((aa as f64).sqrt() * (bb as f64).sqrt()))
}

/// Twice the rank from 1, of equal values the mean: always whole. `zeros` more values are 0; the second is
/// their rank.
fn midranks_doubled(values: &[u32], zeros: u64) -> (Vec<u64>, u64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by_key(|&position| values[position]);
    let mut ranks = vec![0; values.len()];
    let mut zero_rank = zeros + 1;
    let (mut start, mut before) = (0, zeros);
    while start < order.len() {
        let value = values[order[start]];
        let alike = order[start..]
            .iter()
            .take_while(|&&position| values[position] == value)
            .count();
        // The ranks are first to last.
        let (first, last) = match value {
            0 => (1, zeros + alike as u64),
            _ => (before + 1, before + alike as u64),
        };
        for &position in &order[start..start + alike] {
            ranks[position] = first + last;
        }
        if value == 0 {
            zero_rank = first + last;
        }
        before = last;
        start += alike;
    }
    (ranks, zero_rank)
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
