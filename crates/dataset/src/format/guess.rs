use super::u32_at;

/// Bytes of a file's start that are enough to recognise it.
const HEAD: usize = 512;

/// No dataset has more components; a larger "dimension" is something else.
const MAX_DIM: u64 = 1 << 20;

/// What the file looks like by its contents, in words; `None` when it looks like nothing known.
pub(crate) fn looks_like(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let signatures: [(&[u8], &str); 7] = [
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"\x1f\x8b", "a gzip archive, still to be unpacked"),
        (b"PK\x03\x04", "a zip archive, still to be unpacked"),
        (b"\x93NUMPY", "a NumPy .npy file"),
        (b"PAR1", "a parquet file"),
        (
            b"version https://git-lfs",
            "a Git LFS pointer, not the file itself",
        ),
        (b"<", "an HTML or XML page, probably of a failed download"),
    ];
    if bytes.is_empty() {
        return Some("an empty file".to_owned());
    }
    if let Some((_, name)) = signatures.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some((*name).to_owned());
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive, still to be unpacked".to_owned());
    }
    texmex(bytes).or_else(|| flat(bytes))
}

/// Two records that start with the same dimension are hardly a coincidence.
fn texmex(bytes: &[u8]) -> Option<String> {
    let dim = u64::from(u32_at(bytes, 0)?);
    if dim == 0 || dim > MAX_DIM {
        return None;
    }
    let len = bytes.len() as u64;
    for (size, name) in [(4, "fvecs or ivecs"), (1, "bvecs")] {
        let record = 4 + dim * size;
        let second = usize::try_from(record)
            .ok()
            .and_then(|at| u32_at(bytes, at));
        if second.map(u64::from) == Some(dim) {
            return Some(if len.is_multiple_of(record) {
                format!("{name} of {} rows of {dim}", len / record)
            } else {
                format!(
                    "{name} of rows of {dim}, {} bytes cut off",
                    record - len % record
                )
            });
        }
    }
    None
}

fn flat(bytes: &[u8]) -> Option<String> {
    let n = u64::from(u32_at(bytes, 0)?);
    let dim = u64::from(u32_at(bytes, 4)?);
    let cells = n.checked_mul(dim).filter(|&cells| cells > 0)?;
    let body = bytes.len() as u64 - 8;
    let name = match body {
        body if body == cells => "u8bin or i8bin",
        body if Some(body) == cells.checked_mul(2) => "f16bin",
        body if Some(body) == cells.checked_mul(4) => "fbin or ibin",
        body if Some(body) == cells.checked_mul(8) => "big-ann truth with distances",
        _ => return None,
    };
    Some(format!("{name} of {n} rows of {dim}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_starts_are_named() {
        assert_eq!(looks_like(b"").as_deref(), Some("an empty file"));
        let html = looks_like(b"<!DOCTYPE html><title>404</title>").unwrap();
        assert!(html.contains("HTML"), "{html}");
        let row = [2u32, 7, 8].map(u32::to_le_bytes).concat();
        let fvecs = looks_like(&row.repeat(3)).unwrap();
        assert_eq!(fvecs, "fvecs or ivecs of 3 rows of 2");
        let flat = looks_like(&[3, 0, 0, 0, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(flat, "u8bin or i8bin of 3 rows of 2");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = looks_like(&bytes);
        }
    }
}
