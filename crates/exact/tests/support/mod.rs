//! Lists of the rows of a base and counts of them, as plainly as can be.

use annbench_core::Vectors;
use annbench_exact::{ExactError, Flat};
use std::ops::{ControlFlow, Range};

/// Ids of the `k` nearest of all other rows of `base`, on which `flat` is, for each row of `rows`, row after row.
pub fn leave_one_out(
    flat: &Flat<'_>,
    base: Vectors<'_>,
    rows: Range<usize>,
    k: usize,
    pool: &rayon::ThreadPool,
) -> Result<Vec<u32>, ExactError> {
    let own: Vec<u32> = rows.clone().map(|row| row as u32).collect();
    let go_on = |_: u64, _: u64| ControlFlow::Continue(());
    let mut ids = Vec::new();
    flat.each_others(base.slice(rows), &own, k, pool, &go_on, &mut |others| {
        ids.extend(others.iter().map(|other| other.id));
    })?;
    Ok(ids)
}

/// How often each of `n` ids occurs in lists of neighbours.
pub fn count_ids(ids: &[u32], n: usize) -> Vec<u32> {
    let mut counts = vec![0; n];
    for &id in ids {
        counts[id as usize] += 1;
    }
    counts
}
