/// Indices of the points that no other point beats: none has both a higher or equal recall and a
/// higher or equal QPS, one of them higher. Of equal points the first stays. Ascending recall.
pub(crate) fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| {
        let ((ra, qa), (rb, qb)) = (points[a], points[b]);
        rb.total_cmp(&ra).then(qb.total_cmp(&qa)).then(a.cmp(&b))
    });
    let mut best = f64::NEG_INFINITY;
    order.retain(|&i| {
        let stays = points[i].1 > best;
        best = best.max(points[i].1);
        stays
    });
    order.reverse();
    order
}

/// The step rule: the index of the fastest point whose recall is at least `recall`.
pub(crate) fn fastest_at(points: &[(f64, f64)], recall: f64) -> Option<usize> {
    (0..points.len())
        .filter(|&i| points[i].0 >= recall)
        .reduce(|best, i| {
            if points[i].1 > points[best].1 {
                i
            } else {
                best
            }
        })
}
