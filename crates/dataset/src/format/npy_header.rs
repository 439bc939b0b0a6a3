//! The header of NumPy's `.npy` files, versions 1 to 3:
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use crate::value::ValueType;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// What a `.npy` file says of its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub(crate) value: ValueType,
    pub(crate) big_endian: bool,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
    /// Where the values start.
    pub(crate) data: usize,
}

/// What is wrong with a header: what was expected, and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadNpy {
    pub(super) expected: &'static str,
    pub(super) found: String,
}

/// Longest piece of a header that is shown.
const SHOWN: usize = 120;

fn bad<T>(expected: &'static str, found: impl Into<String>) -> Result<T, BadNpy> {
    let mut found: String = found.into();
    if found.chars().count() > SHOWN {
        found = found.chars().take(SHOWN).collect::<String>() + "…";
    }
    Err(BadNpy { expected, found })
}

impl NpyHeader {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BadNpy> {
        let (start, len) = match bytes {
            _ if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) => {
                return bad("a NumPy .npy file", "other bytes at its start");
            }
            [_, _, _, _, _, _, 1, _, a, b, ..] => (10, u32::from(u16::from_le_bytes([*a, *b]))),
            [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => {
                (12, u32::from_le_bytes([*a, *b, *c, *d]))
            }
            [_, _, _, _, _, _, major @ (0 | 4..), minor, ..] => {
                return bad(
                    "version 1, 2 or 3 of the .npy format",
                    format!("{major}.{minor}"),
                );
            }
            _ => return bad("a whole header", format!("a file of {} bytes", bytes.len())),
        };
        let data = usize::try_from(len)
            .ok()
            .and_then(|len| len.checked_add(start));
        let Some((data, text)) = data.and_then(|end| Some((end, bytes.get(start..end)?))) else {
            return bad(
                "a whole header",
                format!("one of {len} bytes in a file of {}", bytes.len()),
            );
        };
        let Ok(text) = std::str::from_utf8(text) else {
            return bad("a header of text", "bytes that are none");
        };
        Self::of_text(text, data)
    }

    /// Reads the Python dictionary that a header is.
    fn of_text(text: &str, data: usize) -> Result<Self, BadNpy> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        let mut rest = Rest(text);
        let whole = || {
            bad(
                "a dictionary with descr, fortran_order and shape",
                text.trim(),
            )
        };
        if !rest.takes('{') {
            return whole();
        }
        while !rest.takes('}') {
            let Some(key) = rest.quoted() else {
                return whole();
            };
            if !rest.takes(':') {
                return whole();
            }
            let read = match key {
                "descr" if descr.is_none() => {
                    descr = rest.quoted();
                    if descr.is_none() {
                        return bad("one plain type as descr", text.trim());
                    }
                    true
                }
                "fortran_order" if order.is_none() => {
                    order = rest.boolean();
                    order.is_some()
                }
                "shape" if shape.is_none() => {
                    shape = rest.sizes();
                    shape.is_some()
                }
                _ => false,
            };
            if !read || !(rest.takes(',') || rest.0.trim_start().starts_with('}')) {
                return whole();
            }
        }
        let (Some(descr), Some(fortran_order), Some(shape)) = (descr, order, shape) else {
            return whole();
        };
        if !rest.0.trim().is_empty() {
            return whole();
        }
        let Some((value, big_endian)) = value_of(descr) else {
            return bad(
                "values of type f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 or b1",
                format!("'{descr}'"),
            );
        };
        Ok(Self {
            value,
            big_endian,
            fortran_order,
            shape,
            data,
        })
    }
}

/// The type that NumPy writes as `descr`, and whether it is big-endian.
fn value_of(descr: &str) -> Option<(ValueType, bool)> {
    let mut letters = descr.chars();
    let order = letters.next()?;
    let value = match letters.as_str() {
        "f2" => ValueType::F16,
        "f4" => ValueType::F32,
        "f8" => ValueType::F64,
        "i1" => ValueType::I8,
        "u1" => ValueType::U8,
        "i2" => ValueType::I16,
        "u2" => ValueType::U16,
        "i4" => ValueType::I32,
        "u4" => ValueType::U32,
        "i8" => ValueType::I64,
        "u8" => ValueType::U64,
        "b1" => ValueType::Bool,
        _ => return None,
    };
    match order {
        '<' => Some((value, false)),
        '>' => Some((value, value.size() > 1)),
        '|' if value.size() == 1 => Some((value, false)),
        _ => None,
    }
}

/// What is left to read of a Python literal.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn takes(&mut self, mark: char) -> bool {
        match self.0.trim_start().strip_prefix(mark) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn quoted(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (inside, rest) = text[1..].split_once(quote)?;
        self.0 = rest;
        Some(inside)
    }

    fn boolean(&mut self) -> Option<bool> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.trim_start().strip_prefix(word) {
                self.0 = rest;
                return Some(value);
            }
        }
        None
    }

    fn sizes(&mut self) -> Option<Vec<u64>> {
        let (tuple, rest) = self.0.trim_start().strip_prefix('(')?.split_once(')')?;
        self.0 = rest;
        let mut sizes: Vec<&str> = tuple.split(',').map(str::trim).collect();
        // A comma may follow the last size, and does the only one.
        if sizes.last().is_some_and(|last| last.is_empty()) {
            sizes.pop();
        }
        sizes.into_iter().map(|size| size.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(version: u8, dict: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        let len = dict.len() as u32;
        match version {
            1 => bytes.extend((len as u16).to_le_bytes()),
            _ => bytes.extend(len.to_le_bytes()),
        }
        bytes.extend(dict.as_bytes());
        bytes
    }

    #[test]
    fn headers_of_every_version_are_read() {
        let dict = "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }          \n";
        for version in 1..=3 {
            let bytes = file(version, dict);
            let header = NpyHeader::parse(&bytes).unwrap();
            assert_eq!((header.value, header.big_endian), (ValueType::F32, true));
            assert_eq!(header.shape, [3, 2]);
            assert_eq!(header.data, bytes.len());
            assert!(!header.fortran_order);
        }
        let other = r#"{"shape": (7,), "fortran_order": True, "descr": "|b1"}"#;
        let header = NpyHeader::parse(&file(1, other)).unwrap();
        assert_eq!(header.shape, [7]);
        assert_eq!(header.value, ValueType::Bool);
        assert!(header.fortran_order);
    }

    #[test]
    fn other_headers_are_refused_with_what_they_say() {
        let refusal = |bytes: &[u8]| NpyHeader::parse(bytes).unwrap_err().found;
        assert_eq!(refusal(b"\x93NUMPY\x04\x00\x00\x00"), "4.0");
        assert!(refusal(b"").contains("0 bytes"));
        assert!(refusal(b"\x93NUMP").contains("5 bytes"));
        assert!(refusal(b"hello, this is no array").contains("other bytes"));
        let lie = [&b"\x93NUMPY\x02\x00"[..], &u32::MAX.to_le_bytes(), b"{}"].concat();
        assert!(refusal(&lie).contains("4294967295 bytes in a file of 14"));
        for (dict, word) in [
            (
                "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 2)}",
                "<c8",
            ),
            (
                "{'descr': '|f4', 'fortran_order': False, 'shape': (1, 2)}",
                "|f4",
            ),
            (
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                "'a'",
            ),
            ("{'descr': '<f4', 'fortran_order': False}", "False}"),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}",
                "-1",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
                "1 2",
            ),
            (
                "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                "descr",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)} import os",
                "import",
            ),
            ("", ""),
        ] {
            let found = refusal(&file(1, dict));
            assert!(found.contains(word), "{found}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            start in prop_oneof![
                Just(&b"\x93NUMPY\x01\x00\x30\x00"[..]),
                Just(&b"\x93NUMPY"[..]),
                Just(&b""[..])
            ],
            rest in prop::collection::vec(any::<u8>(), 0..80),
            text in "\\PC{0,80}|[{}'(),:descrshape0-9 <>f]{0,60}",
        ) {
            let _ = NpyHeader::parse(&[start, &rest].concat());
            let _ = NpyHeader::parse(&file(1, &text));
        }
    }
}
