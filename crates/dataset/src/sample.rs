use annbench_core::{BitRows, Rows, SetRows, Vectors};

/// Rows of `vectors` copied together.
pub(crate) enum Gathered {
    F32(Vec<f32>, usize),
    F16(Vec<half::f16>, usize),
    I8(Vec<i8>, usize),
    U8(Vec<u8>, usize),
    Bits(Vec<u8>, usize),
    Sets(Vec<u64>, Vec<u32>, usize),
}

impl Gathered {
    /// Rows `ids` of `vectors`, in that order.
    pub(crate) fn of(vectors: Vectors<'_>, ids: &[u32]) -> Self {
        fn rows<T: Copy>(rows: Rows<'_, T>, ids: &[u32]) -> Vec<T> {
            let wanted = ids.iter().flat_map(|&id| rows.row(id as usize));
            wanted.copied().collect()
        }
        let dim = vectors.dim();
        match vectors {
            Vectors::F32(all) => Gathered::F32(rows(all, ids), dim),
            Vectors::F16(all) => Gathered::F16(rows(all, ids), dim),
            Vectors::I8(all) => Gathered::I8(rows(all, ids), dim),
            Vectors::U8(all) => Gathered::U8(rows(all, ids), dim),
            Vectors::Bits(all) => Gathered::Bits(rows(all.bytes(), ids), dim),
            Vectors::Sets(all) => {
                let (mut offsets, mut members) = (vec![0], Vec::new());
                for &id in ids {
                    members.extend_from_slice(all.row(id as usize).ids);
                    offsets.push(members.len() as u64);
                }
                Gathered::Sets(offsets, members, dim)
            }
            // All that there are.
            other => unreachable!("rows of {}", other.element()),
        }
    }

    pub(crate) fn vectors(&self) -> Vectors<'_> {
        let vectors = match self {
            Gathered::F32(data, dim) => Rows::new(data, *dim).map(Vectors::F32),
            Gathered::F16(data, dim) => Rows::new(data, *dim).map(Vectors::F16),
            Gathered::I8(data, dim) => Rows::new(data, *dim).map(Vectors::I8),
            Gathered::U8(data, dim) => Rows::new(data, *dim).map(Vectors::U8),
            Gathered::Bits(data, dim) => BitRows::new(data, *dim).map(Vectors::Bits),
            Gathered::Sets(offsets, ids, dim) => {
                SetRows::new(offsets, ids, *dim).map(Vectors::Sets)
            }
        };
        match vectors {
            Some(vectors) => vectors,
            None => unreachable!("`of` has copied whole rows"),
        }
    }
}

/// `wanted` of the numbers below `all`, each as likely as any other, ascending; the same every time.
pub(crate) fn sample(all: usize, wanted: usize, seed: u64) -> Vec<u32> {
    if wanted >= all {
        return (0..all as u32).collect();
    }
    // Floyd's: one draw per number wanted.
    let mut state = seed;
    let mut chosen = std::collections::BTreeSet::new();
    for last in all - wanted..all {
        let drawn = ((u128::from(split_mix(&mut state)) * (last as u128 + 1)) >> 64) as u32;
        if !chosen.insert(drawn) {
            chosen.insert(last as u32);
        }
    }
    chosen.into_iter().collect()
}

/// The next number of SplitMix64 (Steele, Lea and Flood, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_in_the_order_of_ids() {
        let (offsets, ids) = ([0u64, 2, 2, 5], [1u32, 7, 0, 3, 9]);
        let sets = Vectors::Sets(SetRows::new(&offsets, &ids, 10).unwrap());
        let gathered = Gathered::of(sets, &[2, 0, 1, 2]);
        let Vectors::Sets(rows) = gathered.vectors() else {
            panic!("sets")
        };
        assert_eq!(rows.n(), 4);
        assert_eq!(rows.row(0).ids, [0, 3, 9]);
        assert_eq!(rows.row(1).ids, [1, 7]);
        assert_eq!(rows.row(2).ids, [0u32; 0]);
        let bits = Vectors::Bits(BitRows::new(&[1, 2, 3, 4, 5, 6], 12).unwrap());
        let gathered = Gathered::of(bits, &[2, 1]);
        assert_eq!(gathered.vectors().component_bytes(), [5, 6, 3, 4]);
        assert_eq!(gathered.vectors().dim(), 12);
    }

    #[test]
    fn a_sample_is_distinct_ascending_repeatable_and_fair() {
        let mut hits = [0u32; 20];
        for seed in 0..2_000 {
            let drawn = sample(20, 5, seed);
            assert_eq!(drawn.len(), 5);
            assert!(drawn.array_windows().all(|[a, b]| a < b));
            assert_eq!(drawn, sample(20, 5, seed));
            drawn.iter().for_each(|&i| hits[i as usize] += 1);
        }
        // 500 each are expected, with a standard deviation of 19.4.
        assert!(hits.iter().all(|h| (400..600).contains(h)), "{hits:?}");
        assert_eq!(sample(3, 9, 1), [0, 1, 2]);
    }
}
