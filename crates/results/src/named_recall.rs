//! Recall under other names. Both are id-based and per query; neither is recall@k.

use std::collections::BTreeSet;

/// Hits of k-recall@m: |first m of the answer ∩ T_k|, where `truth` is T_k. Divide by k.
///
/// Repeats count once. With m = k and no ties it equals recall@k.
pub fn k_recall_at_m_hits(answer: &[u32], truth: &[u32], m: usize) -> usize {
    let first: BTreeSet<u32> = answer.iter().take(m).copied().collect();
    let truth: BTreeSet<u32> = truth.iter().copied().collect();
    first.intersection(&truth).count()
}

/// Whether the canonical nearest neighbour is among the first `r` answers: the term of 1-recall@R.
pub fn one_recall_at_r_hit(answer: &[u32], nearest: u32, r: usize) -> bool {
    answer.iter().take(r).any(|&id| id == nearest)
}
