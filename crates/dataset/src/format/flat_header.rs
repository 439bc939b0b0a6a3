use super::{u32_at, u64_at};

/// Of a flat file as this crate writes it: u32 n, u32 d.
pub(crate) const HEADER_BYTES: usize = 8;

/// Of one with u64 n, u64 d.
const LONG_HEADER_BYTES: usize = 16;

/// The header of a flat file of `n` rows.
pub(crate) fn header(n: u32, dim: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&n.to_le_bytes());
    bytes[4..].copy_from_slice(&dim.to_le_bytes());
    bytes
}

/// Where the values of the flat file `bytes` start, its rows, their width, and how many bytes there are
/// to a value: 1, 2, 4, or 8 of an id and a distance. `None` where the size bears out no header.
pub(crate) fn flat_header_of(bytes: &[u8]) -> Option<(usize, usize, usize, usize)> {
    const SIZES: [usize; 4] = [1, 2, 4, 8];
    let header = FlatHeader::of(bytes, &SIZES, |_, _| false)?;
    let body = (bytes.len() - header.bytes) as u128;
    let mut sizes = SIZES.into_iter();
    let size = sizes.find(|&size| body > 0 && header.body(size) == Some(body))?;
    // The file holds so many.
    Some((
        header.bytes,
        header.rows as usize,
        header.width as usize,
        size,
    ))
}

/// What stands in front of a flat file's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlatHeader {
    pub(super) bytes: usize,
    pub(super) rows: u64,
    pub(super) width: u64,
}

impl FlatHeader {
    /// The header of a file of `bytes` with values of one of `sizes`; `None` for a file that is too
    /// short for any.
    ///
    /// It is the one that the file's size bears out. Where neither is, it is the long one if that is
    /// what `likely` recognises, otherwise the short one. No file bears out both: as short headers,
    /// those of fewer than 2^32 rows are long ones of width 0.
    pub(super) fn of(
        bytes: &[u8],
        sizes: &[usize],
        likely: impl Fn(u64, u64) -> bool,
    ) -> Option<Self> {
        let short = FlatHeader {
            bytes: HEADER_BYTES,
            rows: u32_at(bytes, 0)?.into(),
            width: u32_at(bytes, 4)?.into(),
        };
        let Some((rows, width)) = u64_at(bytes, 0).zip(u64_at(bytes, 8)) else {
            return Some(short);
        };
        let long = FlatHeader {
            bytes: LONG_HEADER_BYTES,
            rows,
            width,
        };
        let holds_values = rows > 0 && width > 0;
        let is_long = holds_values
            && !short.is_borne_out(bytes, sizes)
            && (long.is_borne_out(bytes, sizes) || likely(rows, width));
        Some(if is_long { long } else { short })
    }

    fn is_borne_out(&self, bytes: &[u8], sizes: &[usize]) -> bool {
        sizes
            .iter()
            .any(|&size| self.body(size) == Some((bytes.len() - self.bytes) as u128))
    }

    /// Bytes of all values, if each has `size`; `None` for more than anything can hold.
    pub(super) fn body(&self, size: usize) -> Option<u128> {
        u128::from(self.rows)
            .checked_mul(u128::from(self.width))?
            .checked_mul(size as u128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn long(rows: u64, width: u64, body: usize) -> Vec<u8> {
        let mut bytes = [rows, width].map(u64::to_le_bytes).concat();
        bytes.resize(16 + body, 7);
        bytes
    }

    fn of(bytes: &[u8]) -> (usize, u64, u64) {
        let found = FlatHeader::of(bytes, &[4], |rows, width| (rows, width) == (3, 2)).unwrap();
        (found.bytes, found.rows, found.width)
    }

    #[test]
    fn the_size_tells_which_header_it_is() {
        assert_eq!(of(&long(5, 2, 40)), (16, 5, 2));
        assert_eq!(
            of(&long(3, 2, 23)),
            (16, 3, 2),
            "truncated, but what is looked for"
        );
        assert_eq!(of(&long(5, 2, 39)), (8, 5, 0));
        let mut short = header(5, 2).to_vec();
        short.resize(8 + 40, 0);
        assert_eq!(of(&short), (8, 5, 2));
        assert_eq!(of(&header(5, 2)), (8, 5, 2));
        assert!(FlatHeader::of(&[0; 7], &[4], |_, _| true).is_none());
        assert_eq!(of(&long(u64::MAX, u64::MAX, 0)).0, 8);
    }

    proptest! {
        #[test]
        fn both_headers_of_one_shape_are_told_apart(rows in 1u32..20, width in 1u32..20) {
            let body = (rows * width * 4) as usize;
            let shape = (u64::from(rows), u64::from(width));
            prop_assert_eq!(of(&long(shape.0, shape.1, body)), (16, shape.0, shape.1));
            let mut short = header(rows, width).to_vec();
            short.resize(8 + body, 0);
            prop_assert_eq!(of(&short), (8, shape.0, shape.1));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = FlatHeader::of(&bytes, &[4, 8], |_, _| true);
        }
    }
}
