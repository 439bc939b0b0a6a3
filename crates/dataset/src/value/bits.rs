/// Packs rows of `dim` bytes, each 0 or 1, into rows of bits, the first the most significant of its
/// byte, and appends them to `out`.
///
/// # Errors
/// The position and value of a byte that is neither.
pub(super) fn pack(bytes: &[u8], dim: usize, out: &mut Vec<u8>) -> Result<(), (usize, u8)> {
    if let Some(at) = bytes.iter().position(|&byte| byte > 1) {
        return Err((at, bytes[at]));
    }
    for row in bytes.chunks_exact(dim) {
        out.extend(row.chunks(8).map(|eight| {
            eight
                .iter()
                .zip(0..)
                .fold(0, |byte, (&bit, i)| byte | (bit << (7 - i)))
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bit_is_the_most_significant() {
        let mut out = Vec::new();
        pack(
            &[1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
            10,
            &mut out,
        )
        .unwrap();
        assert_eq!(out, [0x82, 0xc0, 0xe0, 0x00]);
        assert_eq!(pack(&[0, 1, 2], 3, &mut out), Err((2, 2)));
        assert_eq!(pack(&[255], 1, &mut out), Err((0, 255)));
    }
}
