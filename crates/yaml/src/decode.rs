use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::source::Span;

/// The text that `bytes`, the contents of `file`, are in UTF-8.
///
/// # Errors
/// The place of the first byte that is not UTF-8.
pub fn decode<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, Diagnostic> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, bad) = bytes.split_at(error.valid_up_to());
        let text = String::from_utf8_lossy(good);
        let line = text.split('\n').count();
        let column = text
            .rsplit('\n')
            .next()
            .map_or(0, |last| last.chars().count())
            + 1;
        let span = Span {
            line,
            column,
            width: 1,
        };
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        Diagnostic::at(
            file,
            &text,
            span,
            ErrorKind::Encoding,
            "the file is not UTF-8 text",
        )
        .expected("UTF-8")
        .found(format!(
            "the byte 0x{:02x} at offset {}",
            bad.first().copied().unwrap_or(0),
            error.valid_up_to()
        ))
        .next(if utf16 {
            "the file is UTF-16: save it as UTF-8"
        } else {
            "save the file as UTF-8; check that it is the file you meant"
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_placed() {
        let error = decode("a.yaml", b"name: x\nsource: \xff\n").expect_err("not UTF-8");
        assert_eq!(error.kind(), ErrorKind::Encoding);
        assert_eq!(error.place(), Some(("a.yaml", 2, 9)));
        assert!(error.to_string().contains("the byte 0xff at offset 16"));
        let utf16 = decode("a.yaml", b"\xff\xfea\0").expect_err("UTF-16");
        assert!(utf16.to_string().contains("UTF-16"));
        assert_eq!(decode("a.yaml", "größe".as_bytes()), Ok("größe"));
    }
}
