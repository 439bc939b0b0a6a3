use crate::DatasetError;
use crate::copy::{Made, Sink};
use crate::format::Wanted;
use crate::format::hdf5::Hdf5Sets;
use std::path::Path;

/// Fractions of two such sets are told apart in f64: their sizes sum up to less than 2^26, and two
/// fractions with denominators below that differ by more than 2^-52.
const LARGEST_SET: usize = (1 << 25) - 1;

/// Writes the first `n` sets: `n + 1` offsets, then the members of each set, ascending and distinct.
/// `tell` hears how many sets are written.
pub(crate) fn write_sets(
    sets: &Hdf5Sets<'_>,
    n: usize,
    wanted: &Wanted<'_>,
    out: Sink<'_>,
    tell: &dyn Fn(usize) -> Result<(), DatasetError>,
) -> Result<Made, DatasetError> {
    let path = sets.members.path();
    write_offsets(sets, n, wanted, out)?;
    let (mut sizes, mut members) = (sets.sizes.reader(), sets.members.reader());
    let (mut size, mut set, mut canonical) = (Vec::new(), Vec::new(), Vec::new());
    let mut made = Made::default();
    for row in 0..n {
        size.clear();
        set.clear();
        sizes.take(1, &mut size)?;
        // Every size has been checked with the offsets.
        let count = size.first().map_or(0, |&size| size as usize);
        members.take(count, &mut set)?;
        let sorted = canonical_set(&set, wanted.dim, &mut canonical)
            .map_err(|bad| bad.at(path, sets.members.name(), row, wanted.dim))?;
        made.sorted += u64::from(sorted);
        out(bytemuck::cast_slice(&canonical))?;
        if row % 4096 == 0 {
            tell(row)?;
        }
    }
    tell(n)?;
    Ok(made)
}

/// Checks all sizes, those of sets that are not taken too, and writes the offsets of `n` sets.
fn write_offsets(
    sets: &Hdf5Sets<'_>,
    n: usize,
    wanted: &Wanted<'_>,
    out: Sink<'_>,
) -> Result<(), DatasetError> {
    let (path, list) = (sets.sizes.path(), &sets.sizes);
    let mut reader = list.reader();
    let mut size = Vec::new();
    let most = wanted.dim.min(LARGEST_SET);
    let mut offset = 0u64;
    out(&offset.to_le_bytes())?;
    for row in 0..list.len() {
        size.clear();
        reader.take(1, &mut size)?;
        let found = size.first().copied().unwrap_or(-1);
        let Some(count) = usize::try_from(found).ok().filter(|&count| count <= most) else {
            return Err(DatasetError::contents(
                path,
                format!("dataset `{}`, row {row}", list.name()),
                format!("a size of a set, from 0 to {most}"),
                found.to_string(),
                match found {
                    0.. if wanted.dim > LARGEST_SET => {
                        "sets of 2^25 members and more cannot be compared exactly: leave them out"
                    }
                    0.. => {
                        "members are distinct and below `dim`: correct it in the dataset entry, or the file"
                    }
                    _ => "the file is damaged: download or make it again",
                },
            ));
        };
        // Less than 2^25 in each of at most 2^32 rows.
        offset += count as u64;
        if row < n {
            out(&offset.to_le_bytes())?;
        }
    }
    if offset == sets.members.len() as u64 {
        return Ok(());
    }
    Err(DatasetError::contents(
        path,
        format!("dataset `{}`", sets.members.name()),
        format!("{offset} members, the sum of `{}`", list.name()),
        format!("{}", sets.members.len()),
        "the file is damaged, or its two lists belong to different sets: download or make it again",
    ))
}

/// What is wrong with a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BadSet {
    Beyond { position: usize, id: i64 },
    Repeated { id: u32 },
}

/// Puts the members of `set` in ascending order into `out`; whether they were not.
fn canonical_set(set: &[i64], dim: usize, out: &mut Vec<u32>) -> Result<bool, BadSet> {
    out.clear();
    for (position, &id) in set.iter().enumerate() {
        match u32::try_from(id) {
            Ok(member) if (member as usize) < dim => out.push(member),
            _ => return Err(BadSet::Beyond { position, id }),
        }
    }
    let sorted = !out.is_sorted();
    if sorted {
        out.sort_unstable();
    }
    match out.array_windows().find(|[a, b]| a == b) {
        Some(&[id, _]) => Err(BadSet::Repeated { id }),
        None => Ok(sorted),
    }
}

impl BadSet {
    fn at(self, path: &Path, name: &str, row: usize, dim: usize) -> DatasetError {
        let place = format!("dataset `{name}`, set {row}");
        match self {
            BadSet::Beyond { position, id } => DatasetError::contents(
                path,
                format!("{place}, position {position}"),
                format!("an id from 0 to {}, for `dim` is {dim}", dim - 1),
                id.to_string(),
                "correct `dim` in the dataset entry, or the file",
            ),
            BadSet::Repeated { id } => DatasetError::contents(
                path,
                place,
                "a set, in which every id is once",
                format!("id {id} more than once"),
                "remove what repeats from the file: a set does not count its members twice",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sets_are_put_in_order_or_refused() {
        let mut out = Vec::new();
        assert_eq!(canonical_set(&[1, 4, 9], 10, &mut out), Ok(false));
        assert_eq!(canonical_set(&[9, 1, 4], 10, &mut out), Ok(true));
        assert_eq!(out, [1, 4, 9]);
        assert_eq!(canonical_set(&[], 10, &mut out), Ok(false));
        let repeated = canonical_set(&[3, 1, 3], 10, &mut out);
        assert_eq!(repeated, Err(BadSet::Repeated { id: 3 }));
        for id in [10, -1, i64::MAX] {
            let beyond = canonical_set(&[3, id], 10, &mut out);
            assert_eq!(beyond, Err(BadSet::Beyond { position: 1, id }));
        }
    }

    proptest! {
        #[test]
        fn canonical_sets_ascend_and_hold_the_same(
            set in prop::collection::hash_set(0i64..1000, 0..50),
        ) {
            let set: Vec<i64> = set.into_iter().collect();
            let mut out = Vec::new();
            canonical_set(&set, 1000, &mut out).unwrap();
            prop_assert!(out.array_windows().all(|[a, b]| a < b));
            prop_assert_eq!(out.len(), set.len());
            prop_assert!(set.iter().all(|&id| out.contains(&(id as u32))));
        }
    }
}
