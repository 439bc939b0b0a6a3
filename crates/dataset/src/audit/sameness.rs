//! Which rows are the same: canonical bytes are hashed, and what hashes alike is compared.

use crate::DatasetError;
use crate::progress::Meter;
use annbench_core::{Vector, Vectors};
use rayon::prelude::*;
use std::collections::HashMap;

/// Rows between two words of progress.
const STEP_ROWS: usize = 1 << 18;

/// Rows whose hashes are held at once: 16 bytes each.
const HELD_ROWS: usize = 16 << 20;

/// How often a large base is read: its hashes are looked at in so many parts.
const MOST_PARTS: usize = 8;

/// The bytes of a row, zeroes of one sign.
fn canonical<'s>(row: Vector<'_>, scratch: &'s mut Vec<u8>) -> &'s [u8] {
    scratch.clear();
    match row {
        Vector::F32(v) => {
            for &value in v {
                scratch.extend_from_slice(&(value + 0.0).to_le_bytes());
            }
        }
        Vector::F16(v) => {
            for value in v {
                let bits = match value.to_bits() {
                    0x8000 => 0,
                    bits => bits,
                };
                scratch.extend_from_slice(&bits.to_le_bytes());
            }
        }
        Vector::I8(v) => scratch.extend_from_slice(bytemuck::cast_slice(v)),
        Vector::U8(v) => scratch.extend_from_slice(v),
        Vector::Bits(v) => scratch.extend_from_slice(v.bytes),
        Vector::Set(v) => scratch.extend_from_slice(bytemuck::cast_slice(v.ids)),
        _ => {}
    }
    scratch
}

fn hash(row: Vector<'_>, scratch: &mut Vec<u8>) -> u64 {
    let hash = blake3::hash(canonical(row, scratch));
    let [first, ..] = bytemuck::cast::<[u8; 32], [u64; 4]>(*hash.as_bytes());
    first
}

fn is_same(a: Vector<'_>, b: Vector<'_>) -> bool {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    canonical(a, &mut of_a) == canonical(b, &mut of_b)
}

/// Rows that are the same as others of one part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Groups {
    /// Groups of two rows and more.
    pub(super) groups: u64,
    /// Rows in them.
    pub(super) rows: u64,
    /// Rows of the largest.
    pub(super) largest: u64,
    /// The first two rows of the first groups, by their first row.
    pub(super) pairs: Vec<(u32, u32)>,
    /// Which share of all contents was looked at; equal rows are in it together or not at all.
    pub(super) share: f64,
}

/// Groups of equal rows; `meter` counts rows from 0.
pub(super) fn groups(
    vectors: Vectors<'_>,
    pool: &rayon::ThreadPool,
    meter: &Meter<'_>,
) -> Result<Groups, DatasetError> {
    let n = vectors.n();
    let parts = n.div_ceil(HELD_ROWS).max(1);
    let looked_at = parts.min(MOST_PARTS);
    let mut found = Groups {
        share: looked_at as f64 / parts as f64,
        ..Groups::default()
    };
    for part in 0..looked_at {
        let mut held: Vec<(u64, u32)> = Vec::new();
        for start in (0..n).step_by(STEP_ROWS) {
            let end = n.min(start + STEP_ROWS);
            let some: Vec<(u64, u32)> = pool.install(|| {
                (start..end)
                    .into_par_iter()
                    .with_min_len(256)
                    .map_init(Vec::new, |scratch, i| {
                        (hash(vectors.row(i), scratch), i as u32)
                    })
                    .filter(|(hash, _)| part_of(*hash, parts) == part)
                    .collect()
            });
            held.extend(some);
            meter.at((part * n + end) as u64 / looked_at as u64)?;
        }
        pool.install(|| held.par_sort_unstable());
        for alike in held.chunk_by(|a, b| a.0 == b.0).filter(|c| c.len() > 1) {
            found.take(vectors, alike);
        }
    }
    found.pairs.sort_unstable();
    found.pairs.truncate(super::scan::NAMED);
    Ok(found)
}

/// The part of all hashes that `hash` is in.
fn part_of(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
}

impl Groups {
    /// Tells rows of one hash apart.
    fn take(&mut self, vectors: Vectors<'_>, alike: &[(u64, u32)]) {
        let mut kinds: Vec<(u32, Option<u32>, u64)> = Vec::new();
        for &(_, id) in alike {
            let row = vectors.row(id as usize);
            let kind = kinds
                .iter_mut()
                .find(|(first, ..)| is_same(vectors.row(*first as usize), row));
            match kind {
                Some((_, second, rows)) => {
                    second.get_or_insert(id);
                    *rows += 1;
                }
                None => kinds.push((id, None, 1)),
            }
        }
        for (first, second, rows) in kinds {
            let Some(second) = second else { continue };
            self.groups += 1;
            self.rows += rows;
            self.largest = self.largest.max(rows);
            self.pairs.push((first, second));
            // Enough to name the first few whatever comes later; memory stays bounded.
            if self.pairs.len() > 4096 {
                self.pairs.sort_unstable();
                self.pairs.truncate(super::scan::NAMED);
            }
        }
    }
}

/// Queries that are rows of the base: each with its first row, ascending.
pub(super) fn across(
    base: Vectors<'_>,
    queries: Vectors<'_>,
    pool: &rayon::ThreadPool,
    meter: &Meter<'_>,
) -> Result<Vec<(u32, u32)>, DatasetError> {
    let mut scratch = Vec::new();
    let mut wanted: HashMap<u64, Vec<u32>> = HashMap::new();
    for q in 0..queries.n() {
        let hash = hash(queries.row(q), &mut scratch);
        wanted.entry(hash).or_default().push(q as u32);
    }
    let mut found: HashMap<u32, u32> = HashMap::new();
    for start in (0..base.n()).step_by(STEP_ROWS) {
        let end = base.n().min(start + STEP_ROWS);
        let pairs: Vec<(u32, u32)> = pool.install(|| {
            (start..end)
                .into_par_iter()
                .with_min_len(256)
                .map_init(Vec::new, |scratch, i| {
                    let row = base.row(i);
                    let alike = wanted.get(&hash(row, scratch)).into_iter().flatten();
                    let same = alike.filter(|&&q| is_same(queries.row(q as usize), row));
                    same.map(|&q| (q, i as u32)).collect::<Vec<_>>()
                })
                .flatten_iter()
                .collect()
        });
        // In the order of rows, so that the first stays.
        for (q, row) in pairs {
            found.entry(q).or_insert(row);
        }
        meter.at(end as u64)?;
    }
    let mut found: Vec<(u32, u32)> = found.into_iter().collect();
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Activity;
    use annbench_core::Rows;
    use std::ops::ControlFlow;
    use std::path::Path;

    #[test]
    fn zeroes_of_either_sign_are_the_same() {
        let data = [0.0f32, 1.0, -0.0, 1.0, 2.0, 0.0, 0.0, 1.0];
        let rows = Vectors::F32(Rows::new(&data, 2).unwrap());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let go_on = |_: crate::Progress<'_>| ControlFlow::Continue(());
        let meter = Meter::new(&go_on, Activity::Audit, Path::new("base"), 4);
        let groups = groups(rows, &pool, &meter).unwrap();
        assert_eq!((groups.groups, groups.rows, groups.largest), (1, 3, 3));
        assert_eq!((groups.pairs, groups.share), (vec![(0, 1)], 1.0));
        let query = [-0.0f32, 1.0];
        let query = Vectors::F32(Rows::new(&query, 2).unwrap());
        assert_eq!(across(rows, query, &pool, &meter).unwrap(), [(0, 0)]);
    }

    #[test]
    fn rows_of_one_hash_are_compared() {
        let data = [1u8, 2, 1, 3, 1];
        let rows = Vectors::U8(Rows::new(&data, 1).unwrap());
        let mut groups = Groups::default();
        // As if all five had the same hash.
        groups.take(rows, &[0, 1, 2, 3, 4].map(|id| (7, id)));
        assert_eq!((groups.groups, groups.rows), (1, 3));
        assert_eq!(groups.pairs, [(0, 2)]);
    }

    #[test]
    fn every_hash_is_in_one_part() {
        assert_eq!(part_of(0, 3), 0);
        assert_eq!(part_of(u64::MAX, 3), 2);
        assert_eq!(part_of(u64::MAX / 2, 2), 0);
        assert_eq!(part_of(u64::MAX / 2 + 1, 2), 1);
    }
}
