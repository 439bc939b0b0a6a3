use super::npy_header::NpyHeader;
use super::table::{ByteRows, Rows, rows_fit};
use super::{RawIds, Table, Wanted, looks_like};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::value::{Fit, Misfit};
use std::path::Path;

/// Finds the values of a whole `.npy` file `bytes`.
pub(super) fn find<'f>(
    path: &Path,
    bytes: &'f [u8],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
) -> Result<Table<'f>, DatasetError> {
    let (header, rows, width) = table_of(path, bytes)?;
    let value = header.value;
    let fit = Fit::of(value, width, wanted.element, wanted.dim);
    if fit == Err(Misfit::Type) {
        return Err(DatasetError::contents(
            path,
            "header",
            format!(
                "values for vectors of {}, as the dataset entry says",
                wanted.element
            ),
            format!("values of type {value}"),
            "correct `element` in the dataset entry, or the file",
        ));
    }
    if fit.is_err() || !rows_fit(part, rows) {
        return Err(DatasetError::contents(
            path,
            "header",
            wanted.rows_in_words(part.rows, value),
            format!("{rows} rows of {width}"),
            "this is another file, or the entry describes another: correct the one or the other",
        ));
    }
    Ok(Table {
        value,
        width,
        place: String::new(),
        rows: Rows::Bytes(ByteRows {
            bytes,
            start: header.data,
            stride: width * value.size(),
            swapped: header.big_endian,
        }),
    })
}

/// Reads a whole `.npy` file of ids.
pub(crate) fn read_npy_ids(path: &Path, bytes: &[u8]) -> Result<RawIds, DatasetError> {
    let (header, _, width) = table_of(path, bytes)?;
    let value = header.value;
    if !value.is_integer() {
        return Err(DatasetError::contents(
            path,
            "header",
            "neighbours, which are integers",
            format!("values of type {value}"),
            "name the file that holds the neighbours' ids",
        ));
    }
    let size = value.size();
    let signed = matches!(header.value.name().as_bytes(), [b'i', ..]);
    let ids = bytes[header.data..]
        .chunks_exact(size)
        .map(|id| {
            let mut wide = [0; 8];
            for (i, &byte) in id.iter().enumerate() {
                wide[if header.big_endian { size - 1 - i } else { i }] = byte;
            }
            let negative = signed && wide[size - 1] >= 0x80;
            if negative {
                wide[size..].fill(0xff);
            }
            let id = u64::from_le_bytes(wide);
            // No row has an id beyond i64, and none a negative one: both are refused by those who
            // know the base.
            if signed {
                id as i64
            } else {
                i64::try_from(id).unwrap_or(i64::MAX)
            }
        })
        .collect();
    Ok(RawIds { width, ids })
}

/// The header of an array of two dimensions in C order that the file holds as a whole, with its rows
/// and their width.
pub(crate) fn table_of(
    path: &Path,
    bytes: &[u8],
) -> Result<(NpyHeader, usize, usize), DatasetError> {
    let header = NpyHeader::parse(bytes).map_err(|bad| {
        let looks = looks_like(bytes)
            .filter(|looks| !looks.contains(".npy"))
            .map_or_else(String::new, |looks| {
                format!("; the file looks like {looks}")
            });
        DatasetError::contents(
            path,
            "header",
            bad.expected,
            bad.found + &looks,
            "save the array anew with numpy.save, or correct `format` in the dataset entry",
        )
    })?;
    let shape = &header.shape;
    let (rows, width) = match shape[..] {
        [rows, width] if rows > 0 && width > 0 => (rows, width),
        [rows, width] => {
            return Err(DatasetError::contents(
                path,
                "header",
                "rows of values",
                format!("{rows} rows of {width}, no vectors or ids at all"),
                "download or make the file again",
            ));
        }
        _ => {
            return Err(DatasetError::contents(
                path,
                "header",
                "two dimensions, rows and values",
                format!("shape {shape:?}"),
                "save a table of rows, or name another file",
            ));
        }
    };
    if header.fortran_order {
        return Err(DatasetError::contents(
            path,
            "header",
            "row after row (C order)",
            "column after column (Fortran order)",
            "save numpy.ascontiguousarray(array) in its place",
        ));
    }
    let size = header.value.size() as u128;
    let said = u128::from(rows)
        .checked_mul(u128::from(width))
        .and_then(|cells| cells.checked_mul(size));
    let actual = (bytes.len() - header.data) as u128;
    if said != Some(actual) {
        let cause = if said.is_some_and(|said| said < actual) {
            "over-long"
        } else {
            "truncated"
        };
        return Err(DatasetError::contents(
            path,
            "size",
            format!(
                "{rows} rows of {width} values of type {} after the {} bytes of the header",
                header.value, header.data
            ),
            format!(
                "{actual} bytes, {} whole rows",
                actual / (u128::from(width) * size)
            ),
            format!("the file is {cause}: download or make it again"),
        ));
    }
    // The file holds so many.
    Ok((header, rows as usize, width as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(descr: &str, shape: &str, body: &[u8]) -> Vec<u8> {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((dict.len() as u16).to_le_bytes());
        bytes.extend(dict.as_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn ids_of_every_integer_type_are_read() {
        let path = Path::new("t.npy");
        let cases: [(&str, Vec<u8>, i64); 8] = [
            ("|i1", vec![0xfe], -2),
            ("|u1", vec![0xfe], 254),
            ("<i4", (-7i32).to_le_bytes().to_vec(), -7),
            (">i4", 70_000i32.to_be_bytes().to_vec(), 70_000),
            (">u4", u32::MAX.to_be_bytes().to_vec(), 4_294_967_295),
            ("<i8", (-1i64).to_le_bytes().to_vec(), -1),
            (">i8", (1i64 << 40).to_be_bytes().to_vec(), 1 << 40),
            ("<u8", u64::MAX.to_le_bytes().to_vec(), i64::MAX),
        ];
        for (descr, body, id) in cases {
            let raw = read_npy_ids(path, &npy(descr, "(1, 1)", &body)).unwrap();
            assert_eq!((raw.width, raw.ids), (1, vec![id]), "{descr}");
        }
        let refusal = read_npy_ids(path, &npy("<f4", "(1, 1)", &[0; 4])).unwrap_err();
        assert!(refusal.to_string().contains("integers"), "{refusal}");
    }

    #[test]
    fn sizes_that_lie_are_refused() {
        let path = Path::new("t.npy");
        for (shape, word) in [
            ("(2, 3)", "truncated"),
            ("(1, 1)", "over-long"),
            ("(18446744073709551615, 18446744073709551615)", "truncated"),
            ("(0, 2)", "no vectors"),
            ("(2,)", "two dimensions"),
        ] {
            let refusal = read_npy_ids(path, &npy("<i4", shape, &[0; 8])).unwrap_err();
            assert!(refusal.to_string().contains(word), "{refusal}");
        }
    }
}
