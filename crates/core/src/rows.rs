use half::f16;
use std::ops::Range;

/// A row-major matrix `[n, dim]` without padding.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    data: &'a [T],
    dim: usize,
}

impl<'a, T> Rows<'a, T> {
    /// Views `data` as rows of `dim` components.
    ///
    /// Returns `None` when `dim` is zero or does not divide the length.
    pub fn new(data: &'a [T], dim: usize) -> Option<Self> {
        (dim > 0 && data.len().is_multiple_of(dim)).then_some(Self { data, dim })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Components per row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All components, row after row, `n * dim` of them.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Row `i`, `dim` components.
    #[inline]
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// Rows `range`.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            data: &self.data[range.start * self.dim..range.end * self.dim],
            dim: self.dim,
        }
    }
}

/// Rows of `dim` bits, `[n, ceil(dim / 8)]` bytes, the most significant bit of a byte first; the bits
/// after the last component are zero.
#[derive(Clone, Copy, Debug)]
pub struct BitRows<'a> {
    bytes: Rows<'a, u8>,
    dim: usize,
}

impl<'a> BitRows<'a> {
    /// Views `data` as rows of `dim` bits.
    ///
    /// Returns `None` when `dim` is zero or the length is no whole number of rows. Whether the bits
    /// after the last component are zero is for [`BitRows::first_dirty_row`] to say.
    pub fn new(data: &'a [u8], dim: usize) -> Option<Self> {
        let bytes = Rows::new(data, dim.div_ceil(8))?;
        Some(Self { bytes, dim })
    }

    /// The first row with a bit set after its last component.
    pub fn first_dirty_row(&self) -> Option<usize> {
        let used = self.dim % 8;
        if used == 0 {
            return None;
        }
        let mask = 0xffu8 >> used;
        (0..self.n()).find(|&i| {
            self.bytes
                .row(i)
                .last()
                .is_some_and(|last| last & mask != 0)
        })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.bytes.n()
    }

    /// Bits per row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The packed bytes as a matrix `[n, ceil(dim / 8)]`.
    pub fn bytes(&self) -> Rows<'a, u8> {
        self.bytes
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Bits<'a> {
        Bits {
            bytes: self.bytes.row(i),
            dim: self.dim,
        }
    }

    /// Rows `range`.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            bytes: self.bytes.slice(range),
            dim: self.dim,
        }
    }
}

/// One row of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits<'a> {
    /// `ceil(dim / 8)` bytes, the most significant bit first, zero after the last component.
    pub bytes: &'a [u8],
    /// Number of bits.
    pub dim: usize,
}

/// Sets of numbers below `dim`: row `i` holds the ids from `offsets[i]` to `offsets[i + 1]`, ascending
/// and distinct.
#[derive(Clone, Copy, Debug)]
pub struct SetRows<'a> {
    /// `[n + 1]`, not descending.
    offsets: &'a [u64],
    /// All members, from `offsets[0]` on.
    ids: &'a [u32],
    dim: usize,
}

impl<'a> SetRows<'a> {
    /// Views `offsets` and `ids` as sets of numbers below `dim`.
    ///
    /// Returns `None` when `dim` is zero, there is no offset, offsets descend, or they do not span
    /// the ids. Whether the members of each set ascend below `dim` is for
    /// [`SetRows::first_irregular_row`] to say.
    pub fn new(offsets: &'a [u64], ids: &'a [u32], dim: usize) -> Option<Self> {
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        let spans = last.checked_sub(first)? == ids.len() as u64;
        (dim > 0 && spans && offsets.is_sorted()).then_some(Self { offsets, ids, dim })
    }

    /// Views `bytes`, `n + 1` offsets u64 and then the ids u32 that they span, as `n` sets.
    ///
    /// Returns `None` where [`SetRows::new`] does, or when the bytes are too few, too many or not
    /// aligned.
    pub fn from_bytes(bytes: &'a [u8], n: usize, dim: usize) -> Option<Self> {
        let table = n.checked_add(1)?.checked_mul(8)?;
        let (offsets, ids) = bytes.split_at_checked(table)?;
        Self::new(
            bytemuck::try_cast_slice(offsets).ok()?,
            bytemuck::try_cast_slice(ids).ok()?,
            dim,
        )
    }

    /// The first row whose members do not ascend, repeat or are not below `dim`.
    pub fn first_irregular_row(&self) -> Option<usize> {
        (0..self.n()).find(|&i| {
            let ids = self.row(i).ids;
            let ascend = ids.array_windows().all(|[a, b]| a < b);
            !ascend || ids.last().is_some_and(|&last| last as usize >= self.dim)
        })
    }

    /// Number of sets.
    pub fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    /// One more than the largest number that a set may hold.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The members of all sets, row after row.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }

    /// Members of the largest set.
    pub fn largest(&self) -> u64 {
        let sizes = self.offsets.array_windows().map(|[from, to]| to - from);
        sizes.max().unwrap_or(0)
    }

    /// Set `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Set<'a> {
        let from = (self.offsets[i] - self.offsets[0]) as usize;
        let to = (self.offsets[i + 1] - self.offsets[0]) as usize;
        Set {
            ids: &self.ids[from..to],
            dim: self.dim,
        }
    }

    /// Sets `range`.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let from = (self.offsets[range.start] - self.offsets[0]) as usize;
        let to = (self.offsets[range.end] - self.offsets[0]) as usize;
        Self {
            offsets: &self.offsets[range.start..=range.end],
            ids: &self.ids[from..to],
            dim: self.dim,
        }
    }
}

/// One set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set<'a> {
    /// Members, ascending and distinct.
    pub ids: &'a [u32],
    /// One more than the largest number that it may hold.
    pub dim: usize,
}

/// A component type that rows may be made of.
pub trait Component: bytemuck::Pod + Send + Sync {
    /// Its name.
    const ELEMENT: crate::ElementType;

    /// `vectors` as rows of this type, when they are.
    fn rows(vectors: crate::Vectors<'_>) -> Option<Rows<'_, Self>>;

    /// `vector` as components of this type, when it is.
    fn components(vector: crate::Vector<'_>) -> Option<&[Self]>;
}

macro_rules! component {
    ($type:ty, $variant:ident) => {
        impl Component for $type {
            const ELEMENT: crate::ElementType = crate::ElementType::$variant;

            fn rows(vectors: crate::Vectors<'_>) -> Option<Rows<'_, Self>> {
                match vectors {
                    crate::Vectors::$variant(rows) => Some(rows),
                    _ => None,
                }
            }

            #[inline]
            fn components(vector: crate::Vector<'_>) -> Option<&[Self]> {
                match vector {
                    crate::Vector::$variant(components) => Some(components),
                    _ => None,
                }
            }
        }
    };
}

component!(f32, F32);
component!(f16, F16);
component!(i8, I8);
component!(u8, U8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_after_the_last_component_are_found() {
        let clean = BitRows::new(&[0xff, 0xe0, 0x00, 0x20], 11).unwrap();
        assert_eq!((clean.n(), clean.first_dirty_row()), (2, None));
        let dirty = BitRows::new(&[0xff, 0xe0, 0x00, 0x10], 11).unwrap();
        assert_eq!(dirty.first_dirty_row(), Some(1));
        assert!(BitRows::new(&[0; 3], 11).is_none());
        assert!(BitRows::new(&[], 0).is_none());
    }

    #[test]
    fn sets_are_cut_at_their_offsets() {
        let (offsets, ids) = ([0u64, 2, 2, 5], [1u32, 7, 0, 3, 9]);
        let sets = SetRows::new(&offsets, &ids, 10).unwrap();
        assert_eq!(sets.n(), 3);
        assert_eq!(sets.row(0).ids, [1, 7]);
        assert_eq!(sets.row(1).ids, [0u32; 0]);
        assert_eq!(sets.row(2).ids, [0, 3, 9]);
        let tail = sets.slice(1..3);
        assert_eq!((tail.n(), tail.ids()), (2, &ids[2..]));
        assert_eq!(tail.row(1).ids, [0, 3, 9]);
        assert_eq!((sets.largest(), sets.first_irregular_row()), (3, None));
    }

    #[test]
    fn offsets_that_lie_are_refused_and_irregular_sets_found() {
        let ids = [1u32, 7, 7];
        assert!(SetRows::new(&[0, 2], &ids, 10).is_none());
        assert!(SetRows::new(&[0, 4], &ids, 10).is_none());
        assert!(SetRows::new(&[0, 3, 2, 3], &ids, 10).is_none());
        assert!(SetRows::new(&[], &ids, 10).is_none());
        assert!(SetRows::new(&[0, 3], &ids, 0).is_none());
        let repeated = SetRows::new(&[0, 1, 3], &ids, 10).unwrap();
        assert_eq!(repeated.first_irregular_row(), Some(1));
        let beyond = SetRows::new(&[0, 2], &ids[..2], 7).unwrap();
        assert_eq!(beyond.first_irregular_row(), Some(0));
        assert!(SetRows::from_bytes(&[0; 16], usize::MAX, 3).is_none());
    }
}
