//! P17 to P21: how often rows occur in exact lists of neighbours.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use annbench_core::{Metric, Rows, Vectors};
use annbench_exact::Flat;
use proptest::prelude::*;
use support::{count_ids, leave_one_out};

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap()
}

/// The lists of all rows of `base`, themselves left out, `k` to a row.
fn lists(base: &[f32], k: usize) -> Vec<u32> {
    let vectors = Vectors::F32(Rows::new(base, 1).unwrap());
    let flat = Flat::new(vectors, Metric::L2, &pool()).unwrap();
    leave_one_out(&flat, vectors, 0..base.len(), k, &pool()).unwrap()
}

proptest! {
    #[test]
    fn p17_to_p21_counts_depend_on_the_lists_alone(
        base in prop::collection::vec((0u8..40).prop_map(f32::from), 5..40),
        k in 1usize..5,
        turn in any::<prop::sample::Index>(),
    ) {
        let n = base.len();
        let lists = lists(&base, k);
        let counts = count_ids(&lists, n);
        // P17: every list has k rows.
        prop_assert_eq!(counts.iter().sum::<u32>() as usize, n * k);
        // P18: a row of count 0 is in no list.
        for (row, &count) in counts.iter().enumerate() {
            prop_assert_eq!(count == 0, !lists.contains(&(row as u32)));
        }
        // P19, for a part of the lists: rows beyond those that they have room for are never retrieved.
        for m in [1, n / 2, n] {
            let some = count_ids(&lists[..m * k], n);
            let never = some.iter().filter(|&&count| count == 0).count();
            prop_assert!(never + m * k >= n);
            prop_assert_eq!(some.iter().sum::<u32>() as usize, m * k);
        }
        // P20: hubs above c are at most so many, and fewer the higher c is.
        let above = |c: u32| counts.iter().filter(|&&count| count > c).count();
        for c in 0..=n as u32 {
            prop_assert!(above(c) * (c as usize + 1) <= n * k);
            prop_assert!(above(c + 1) <= above(c));
        }
        // P21: the order of the lists does not matter, and each twice is twice as often.
        let mut turned = lists.clone();
        turned.rotate_left(k * turn.index(n));
        prop_assert_eq!(count_ids(&turned, n), counts.clone());
        let doubled: Vec<u32> = counts.iter().map(|count| 2 * count).collect();
        prop_assert_eq!(count_ids(&[&lists[..], &lists[..]].concat(), n), doubled);
    }
}
