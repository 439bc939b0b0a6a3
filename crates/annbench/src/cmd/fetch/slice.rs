use annbench_dataset::{Entry, Format, VectorsPart};
use annbench_fetch::Cut;

/// How a file is laid out whose first rows can be cut off: a header of row count and width, perhaps,
/// then rows of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Rows that belong to the set.
    pub n: u64,
    /// Rows of the whole file.
    rows: u64,
    header: u64,
    row: u64,
    width: u64,
}

impl Rows {
    /// The rows of `file`, where the set needs only the first of them; `None` where it needs them all, or
    /// they cannot be cut off.
    pub fn to_cut(entry: &Entry, file: &str) -> Option<Self> {
        let is_truth = entry.truth.as_ref().is_some_and(|truth| truth.file == file);
        let parts: Vec<&VectorsPart> = [&entry.base, &entry.queries]
            .into_iter()
            .filter(|part| part.is_in(file))
            .collect();
        let cut = !is_truth && parts.iter().all(|part| part.take_first.is_some());
        let part = parts.first().filter(|_| cut)?;
        let n = parts.iter().map(|part| part.n()).max()? as u64;
        Self::of(part, n, entry.facts(file).bytes?)
    }

    fn of(part: &VectorsPart, n: u64, bytes: u64) -> Option<Self> {
        let rows = part.rows as u64;
        let (headers, value): (&[u64], u64) = match part.format {
            Format::Fbin => (&[8, 16], 4),
            Format::F16bin => (&[8, 16], 2),
            Format::I8bin | Format::U8bin => (&[8, 16], 1),
            Format::Fvecs | Format::Bvecs | Format::Ivecs => (&[0], 1),
            _ => return None,
        };
        let fits = |header: &u64| {
            bytes
                .checked_sub(*header)
                .is_some_and(|rest| rest > 0 && rest.is_multiple_of(rows.saturating_mul(value)))
        };
        let header = headers.iter().copied().find(fits)?;
        let row = (bytes - header) / rows;
        Some(Self {
            n,
            rows,
            header,
            row,
            width: row / value,
        })
    }

    /// Size of a file of the first `n` rows.
    fn bytes(&self, n: u64) -> Option<u64> {
        n.checked_mul(self.row)?.checked_add(self.header)
    }

    fn header_of(&self, n: u64) -> Option<Vec<u8>> {
        match self.header {
            0 => Some(Vec::new()),
            8 => {
                let (n, width) = (u32::try_from(n).ok()?, u32::try_from(self.width).ok()?);
                Some([n.to_le_bytes(), width.to_le_bytes()].concat())
            }
            _ => Some([n.to_le_bytes(), self.width.to_le_bytes()].concat()),
        }
    }

    /// What to take of the whole file.
    pub fn cut(&self) -> Option<Cut> {
        Some(Cut {
            bytes: self.bytes(self.n)?,
            header_there: self.header_of(self.rows)?,
            header_here: self.header_of(self.n)?,
        })
    }

    /// How many rows a file has that is this one, cut: by its size, and by its first bytes.
    pub fn rows_of(&self, bytes: u64, first: &[u8]) -> Option<u64> {
        let rest = bytes.checked_sub(self.header)?;
        let n = rest.checked_div(self.row)?;
        let exact = n > 0 && n <= self.rows && self.bytes(n) == Some(bytes);
        let header = self.header_of(n)?;
        (exact && first.get(..header.len()) == Some(&header)).then_some(n)
    }

    /// Bytes of a file by which its header is known.
    pub const LONGEST_HEADER: usize = 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(format: Format, rows: usize) -> VectorsPart {
        VectorsPart {
            shards: Vec::new(),
            file: "f".to_owned(),
            format,
            hdf5_dataset: None,
            ids: None,
            rows,
            take_first: Some(10),
        }
    }

    #[test]
    fn the_first_rows_have_a_header_of_their_own() {
        // deep-1B and its first 10,000,000 rows, by the notes of datasets/deep-100M.yaml and its like.
        let whole = part(Format::Fbin, 1_000_000_000);
        let rows = Rows::of(&whole, 100_000_000, 384_000_000_008).unwrap();
        let cut = rows.cut().unwrap();
        assert_eq!(cut.bytes, 38_400_000_008);
        assert_eq!(cut.header_there, [0, 0xca, 0x9a, 0x3b, 96, 0, 0, 0]);
        assert_eq!(cut.header_here, [0, 0xe1, 0xf5, 0x05, 96, 0, 0, 0]);
    }

    #[test]
    fn long_headers_and_none_are_told_by_the_size() {
        let long = Rows::of(&part(Format::U8bin, 100), 10, 16 + 100 * 7).unwrap();
        let cut = long.cut().unwrap();
        assert_eq!((cut.bytes, cut.header_here.len()), (86, 16));
        assert_eq!(cut.header_here[..9], [10, 0, 0, 0, 0, 0, 0, 0, 7]);
        let vecs = Rows::of(&part(Format::Fvecs, 100), 10, 100 * 516).unwrap();
        let cut = vecs.cut().unwrap();
        assert_eq!((cut.bytes, cut.header_here.len()), (5160, 0));
        assert_eq!(
            Rows::of(&part(Format::Fbin, 100), 10, 8 + 100 * 4 + 1),
            None
        );
        assert_eq!(Rows::of(&part(Format::Hdf5, 100), 10, 8 + 100 * 4), None);
        assert_eq!(Rows::of(&part(Format::Fbin, 100), 10, 8), None);
        assert_eq!(Rows::of(&part(Format::Fbin, usize::MAX), 10, 8), None);
    }

    #[test]
    fn a_cut_file_is_known_by_size_and_header() {
        let rows = Rows::of(&part(Format::U8bin, 100), 10, 8 + 100 * 7).unwrap();
        let header = |n: u8| [n, 0, 0, 0, 7, 0, 0, 0];
        assert_eq!(rows.rows_of(8 + 20 * 7, &header(20)), Some(20));
        assert_eq!(rows.rows_of(8 + 100 * 7, &header(100)), Some(100));
        // Cut, but with the header of the whole; a byte short; more than the whole; nothing.
        assert_eq!(rows.rows_of(8 + 20 * 7, &header(100)), None);
        assert_eq!(rows.rows_of(8 + 20 * 7 - 1, &header(20)), None);
        assert_eq!(rows.rows_of(8 + 101 * 7, &header(101)), None);
        assert_eq!(rows.rows_of(8, &header(0)), None);
        assert_eq!(rows.rows_of(5, &[1, 2]), None);
    }
}
