//! The pages of a column, decompressed, and the numbers in them.

use super::footer::{Column, PageHeader};
use super::levels::Hybrid;
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// One page's numbers, with the level of each.
pub(super) struct Page<'p> {
    repetition: Option<Hybrid<'p>>,
    definition: Option<Hybrid<'p>>,
    values: Values<'p>,
    size: usize,
    most_definition: u32,
}

enum Values<'p> {
    /// One after another.
    Plain { rest: &'p [u8] },
    /// Numbers of a dictionary.
    Dictionary {
        at: Hybrid<'p>,
        dictionary: &'p [u8],
    },
    /// The first bytes of all, the second bytes of all, and so on.
    Split {
        bytes: &'p [u8],
        count: usize,
        next: usize,
    },
}

/// A number, if there is one, and whether it is the first of a row.
pub(super) enum Item {
    Value {
        first: bool,
        bytes: [u8; 8],
    },
    /// Nothing, or no list.
    Null,
}

/// What was expected of a page, and what it is.
#[derive(Debug)]
pub(super) struct BadPage {
    pub(super) expected: &'static str,
    pub(super) found: String,
}

pub(super) fn bad<T>(expected: &'static str, found: impl Into<String>) -> Result<T, BadPage> {
    Err(BadPage {
        expected,
        found: found.into(),
    })
}

impl<'p> Page<'p> {
    /// The page of `header` with decompressed `body`, for version 2 without its levels, which are
    /// `levels`.
    pub(super) fn of(
        column: &Column,
        header: &PageHeader,
        levels: &'p [u8],
        body: &'p [u8],
        dictionary: Option<&'p [u8]>,
    ) -> Result<Self, BadPage> {
        let mut rest = body;
        let bits = |most: u32| u32::BITS - most.leading_zeros();
        let (mut repetition, mut definition) = (None, None);
        if header.kind == 3 {
            let (rep, def) = levels.split_at(header.repetition_bytes.min(levels.len()));
            if column.most_repetition > 0 {
                repetition = Some(Hybrid::new(rep, bits(column.most_repetition)));
            }
            if column.most_definition > 0 {
                definition = Some(Hybrid::new(def, bits(column.most_definition)));
            }
        } else {
            let used = [
                (column.most_definition, header.level_encodings[0]),
                (column.most_repetition, header.level_encodings[1]),
            ];
            if let Some((_, other)) = used.iter().find(|&&(most, coded)| most > 0 && coded != 3) {
                return bad("levels in runs (RLE)", format!("encoding {other}"));
            }
            for (most, hybrid) in [
                (column.most_repetition, &mut repetition),
                (column.most_definition, &mut definition),
            ] {
                if most > 0 {
                    *hybrid = Some(Hybrid::new(prefixed(&mut rest)?, bits(most)));
                }
            }
        }
        let size = column.value.size();
        let values = match header.encoding {
            0 => Values::Plain { rest },
            2 | 8 => {
                let Some(dictionary) = dictionary else {
                    return bad("a dictionary before its numbers", "none");
                };
                let Some((&bits, rest)) = rest.split_first() else {
                    return bad("the numbers of a dictionary", "nothing");
                };
                Values::Dictionary {
                    at: Hybrid::new(rest, u32::from(bits)),
                    dictionary,
                }
            }
            9 if rest.len().is_multiple_of(size) => Values::Split {
                bytes: rest,
                count: rest.len() / size,
                next: 0,
            },
            other => {
                return bad(
                    "values as they are, of a dictionary, or split into bytes (PLAIN, RLE_DICTIONARY, BYTE_STREAM_SPLIT)",
                    format!("encoding {other}"),
                );
            }
        };
        Ok(Self {
            repetition,
            definition,
            values,
            size,
            most_definition: column.most_definition,
        })
    }

    /// The next number; `None` where the page ends too early.
    pub(super) fn next(&mut self) -> Option<Item> {
        let repetition = match &mut self.repetition {
            Some(levels) => levels.next()?,
            None => 0,
        };
        let definition = match &mut self.definition {
            Some(levels) => levels.next()?,
            None => 0,
        };
        if definition != self.most_definition {
            return Some(Item::Null);
        }
        let size = self.size;
        let mut bytes = [0; 8];
        match &mut self.values {
            Values::Plain { rest } => {
                let (value, after) = rest.split_at_checked(size)?;
                bytes[..size].copy_from_slice(value);
                *rest = after;
            }
            Values::Dictionary { at, dictionary } => {
                let start = (at.next()? as usize).checked_mul(size)?;
                bytes[..size].copy_from_slice(dictionary.get(start..start.checked_add(size)?)?);
            }
            Values::Split {
                bytes: all,
                count,
                next,
            } => {
                if *next == *count {
                    return None;
                }
                for (i, byte) in bytes[..size].iter_mut().enumerate() {
                    *byte = all[i * *count + *next];
                }
                *next += 1;
            }
        }
        Some(Item::Value {
            first: repetition == 0,
            bytes,
        })
    }
}

/// Takes bytes that their number stands in front of.
fn prefixed<'p>(rest: &mut &'p [u8]) -> Result<&'p [u8], BadPage> {
    let split = rest.split_at_checked(4).and_then(|(len, rest)| {
        let len = u32::from_le_bytes(len.try_into().ok()?);
        rest.split_at_checked(usize::try_from(len).ok()?)
    });
    let Some((levels, after)) = split else {
        return bad("levels as long as they say", "fewer bytes");
    };
    *rest = after;
    Ok(levels)
}

/// The bytes that `stored` are compressed from by `codec`, of which there are to be `size`. No more is
/// set aside than such bytes can be compressed from.
pub(super) fn decompressed(
    codec: i64,
    stored: &[u8],
    size: usize,
) -> Result<Cow<'_, [u8]>, BadPage> {
    let bytes = match codec {
        0 => Cow::Borrowed(stored),
        1 => {
            // Three bytes stand for 64 at most.
            if size / 32 > stored.len() {
                return bad(
                    "a page of the size it says",
                    format!("{} bytes of Snappy", stored.len()),
                );
            }
            let mut out = vec![0; size];
            match snap::raw::Decoder::new().decompress(stored, &mut out) {
                Ok(len) => out.truncate(len),
                Err(error) => return bad("a page compressed by Snappy", error.to_string()),
            }
            Cow::Owned(out)
        }
        2 => read(
            "a page compressed by gzip",
            MultiGzDecoder::new(stored),
            size,
        )?,
        6 => match ruzstd::decoding::StreamingDecoder::new(stored) {
            Ok(decoder) => read("a page compressed by Zstandard", decoder, size)?,
            Err(error) => return bad("a page compressed by Zstandard", error.to_string()),
        },
        other => {
            let name = match other {
                3 => "LZO",
                4 => "Brotli",
                5 | 7 => "LZ4",
                _ => "a codec that is not known",
            };
            return bad(
                "pages that are plain or compressed by Snappy, gzip or Zstandard",
                name,
            );
        }
    };
    match bytes.len() == size {
        true => Ok(bytes),
        false => bad(
            "a page of the size it says",
            format!("{} bytes in place of {size}", bytes.len()),
        ),
    }
}

/// Reads up to one byte more than `size`: the buffer grows with what there is.
fn read(
    expected: &'static str,
    from: impl Read,
    size: usize,
) -> Result<Cow<'static, [u8]>, BadPage> {
    let mut out = Vec::new();
    match from.take(size as u64 + 1).read_to_end(&mut out) {
        Ok(_) => Ok(Cow::Owned(out)),
        Err(error) => bad(expected, error.to_string()),
    }
}
