//! The little of NumPy's `.npy` format that raw results need: version 1.0, little-endian, C order.
//!
//! Layout: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::io::{self, Write};
use std::path::Path;
use thiserror::Error;

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";

/// A component type that raw results use.
pub trait NpyElement: bytemuck::Pod {
    /// NumPy's type string.
    const DESCR: &'static str;
}

impl NpyElement for u8 {
    const DESCR: &'static str = "|u1";
}

impl NpyElement for f64 {
    const DESCR: &'static str = "<f8";
}

impl NpyElement for u32 {
    const DESCR: &'static str = "<u4";
}

impl NpyElement for u64 {
    const DESCR: &'static str = "<u8";
}

/// Why a `.npy` file could not be read.
#[derive(Debug, Error)]
pub enum NpyError {
    /// The file could not be read at all.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The cause; the text holds it, so it is no `source()`.
        cause: io::Error,
    },
    /// The contents are not what was expected.
    #[error("{path}: expected {expected}, found {found}")]
    Contents {
        /// The file.
        path: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
}

/// Writes `data` as an array of `shape` (its product must be the length) and syncs the file.
///
/// # Errors
/// Any write error, among them a full disk; `InvalidInput` when shape and length disagree.
pub fn write<T: NpyElement>(path: &Path, shape: &[usize], data: &[T]) -> io::Result<()> {
    if shape.iter().product::<usize>() != data.len() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("shape {shape:?} does not hold {} values", data.len()),
        ));
    }
    let dims: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let dict = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        T::DESCR,
        if shape.len() == 1 {
            dims.trim_end()
        } else {
            dims.trim_end_matches(", ")
        }
    );
    // The header is padded with spaces so that the data starts at a multiple of 64 bytes.
    let unpadded = MAGIC.len() + 2 + dict.len() + 1;
    let padding = unpadded.next_multiple_of(64) - unpadded;
    let header_len = (dict.len() + padding + 1) as u16;
    let mut file = std::fs::File::create(path)?;
    let mut header = Vec::with_capacity(unpadded + padding);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&header_len.to_le_bytes());
    header.extend_from_slice(dict.as_bytes());
    header.resize(header.len() + padding, b' ');
    header.push(b'\n');
    file.write_all(&header)?;
    file.write_all(bytemuck::cast_slice(data))?;
    file.sync_all()
}

/// Reads an array: its shape and its values.
///
/// # Errors
/// [`NpyError`] when the file is missing, of another type or shorter or longer than its header
/// says.
pub fn read<T: NpyElement>(path: &Path) -> Result<(Vec<usize>, Vec<T>), NpyError> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|cause| NpyError::Io {
        path: name(),
        cause,
    })?;
    let contents = |expected: &str, found: String| NpyError::Contents {
        path: name(),
        expected: expected.to_owned(),
        found,
    };
    if bytes.len() < 10 || &bytes[..8] != MAGIC {
        return Err(contents(
            "a .npy file of version 1.0",
            format!("{} bytes that start otherwise", bytes.len()),
        ));
    }
    let header_end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = bytes
        .get(10..header_end)
        .and_then(|h| std::str::from_utf8(h).ok())
        .ok_or_else(|| contents("a whole header", format!("{} bytes", bytes.len())))?;
    let descr = format!("'{}'", T::DESCR);
    if !header.contains(&descr) || header.contains("True") {
        return Err(contents(
            &format!("values of type {descr} in C order"),
            header.trim().to_owned(),
        ));
    }
    let shape =
        parse_shape(header).ok_or_else(|| contents("a shape tuple", header.trim().to_owned()))?;
    let size = size_of::<T>();
    let body = &bytes[header_end..];
    let expected = shape
        .iter()
        .try_fold(size, |product, &d| product.checked_mul(d));
    if expected != Some(body.len()) {
        return Err(contents(
            &format!("shape {shape:?} of {size}-byte values after the header"),
            format!("{} bytes", body.len()),
        ));
    }
    Ok((shape, bytemuck::allocation::pod_collect_to_vec(body)))
}

fn parse_shape(header: &str) -> Option<Vec<usize>> {
    let (_, rest) = header.split_once("'shape':")?;
    let (_, rest) = rest.split_once('(')?;
    let (tuple, _) = rest.split_once(')')?;
    tuple
        .split(',')
        .map(str::trim)
        .filter(|d| !d.is_empty())
        .map(|d| d.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_with_their_shape() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        for shape in [vec![6], vec![2, 3], vec![1, 2, 3], vec![0, 3]] {
            let data: Vec<u32> = (0..shape.iter().product::<usize>() as u32).collect();
            write(&path, &shape, &data).unwrap();
            assert_eq!(read::<u32>(&path).unwrap(), (shape, data));
        }
    }

    #[test]
    fn a_truncated_file_and_another_type_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        write(&path, &[2], &[1u64, 2]).unwrap();
        assert!(read::<u32>(&path).is_err());
        let bytes = std::fs::read(&path).unwrap();
        for len in [0, 5, 20, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..len]).unwrap();
            assert!(read::<u64>(&path).is_err(), "{len} bytes");
        }
    }
}
