use super::flat_header::FlatHeader;
use super::table::{ByteRows, Rows, rows_fit};
use super::{Format, HEADER_BYTES, Table, Wanted, looks_like};
use crate::DatasetError;
use crate::catalogue::VectorsPart;
use crate::value::ValueType;
use std::path::Path;

/// Finds the values of a whole fbin, f16bin, i8bin or u8bin file `bytes`.
pub(super) fn find<'f>(
    path: &Path,
    bytes: &'f [u8],
    part: &VectorsPart,
    wanted: &Wanted<'_>,
) -> Result<Table<'f>, DatasetError> {
    let format = part.format;
    let value = format.value().unwrap_or(ValueType::U8);
    // Rows and values that do not fit this machine fit no file on it.
    let shape_fits = |rows: u64, width: u64| {
        usize::try_from(rows).is_ok_and(|rows| rows_fit(part, rows))
            && usize::try_from(width).is_ok_and(|width| wanted.takes(value, width))
    };
    let Some(header) = FlatHeader::of(bytes, &[value.size()], shape_fits) else {
        return Err(DatasetError::contents(
            path,
            "header",
            format!("{HEADER_BYTES} bytes, u32 rows and u32 components"),
            format!("a file of {} bytes", bytes.len()),
            "the file is truncated: move it away and download it again",
        ));
    };
    let FlatHeader { rows, width, .. } = header;
    let said = format!("{rows} rows of {width}");
    let expected = wanted.rows_in_words(part.rows, value);
    let other_format =
        looks_like(bytes).filter(|looks| !looks.split(' ').any(|word| word == format.name()));
    if rows == 0 || width == 0 {
        return Err(DatasetError::contents(
            path,
            "header",
            expected,
            other_format.map_or_else(
                || format!("{said}, no vectors at all"),
                |looks| format!("{said}; the file looks like {looks}"),
            ),
            "download or make the file again, or correct `format` in the dataset entry",
        ));
    }
    let fits = shape_fits(rows, width);
    let actual = (bytes.len() - header.bytes) as u128;
    let body = header.body(value.size());
    if body != Some(actual) {
        return Err(match body {
            Some(body) if fits && other_format.is_none() => {
                let whole = actual / (u128::from(width) * value.size() as u128);
                DatasetError::contents(
                    path,
                    "size",
                    format!(
                        "{} bytes, as the header says {said}",
                        body + header.bytes as u128
                    ),
                    format!("{} bytes, {whole} whole rows", bytes.len()),
                    if actual < body {
                        "the file is truncated: move it away and download it again"
                    } else {
                        "the file is over-long: move it away and download it again"
                    },
                )
            }
            _ => not_this_format(path, bytes, format, &said),
        });
    }
    if !fits {
        return Err(DatasetError::contents(
            path,
            "header",
            expected,
            said,
            "this is another file, or the entry describes another: correct the one or the other",
        ));
    }
    // They are what the entry says, or the file holds so many.
    let width = width as usize;
    Ok(Table {
        value,
        width,
        place: String::new(),
        rows: Rows::Bytes(ByteRows {
            bytes,
            start: header.bytes,
            stride: width * value.size(),
            swapped: false,
        }),
    })
}

fn not_this_format(path: &Path, bytes: &[u8], format: Format, said: &str) -> DatasetError {
    let looks = looks_like(bytes).map_or_else(
        || format!("{} bytes whose header would say {said}", bytes.len()),
        |looks| format!("what looks like {looks}"),
    );
    DatasetError::contents(
        path,
        "contents",
        format!("a file of format {format}"),
        looks,
        "correct `format` in the dataset entry, or the file",
    )
}
