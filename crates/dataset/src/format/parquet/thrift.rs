//! The compact protocol of Thrift, as far as parquet's footers and page headers need it:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

/// Structures within structures that are read; more are damage.
const DEPTH: usize = 16;

/// What is left to read. Every method gives `None` where the bytes end or are none of the protocol.
#[derive(Clone, Copy)]
pub(super) struct Thrift<'b> {
    rest: &'b [u8],
}

/// The type of a field or of a list's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List,
    Set,
    Map,
    Struct,
}

impl Kind {
    fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Byte,
            4 => Kind::I16,
            5 => Kind::I32,
            6 => Kind::I64,
            7 => Kind::Double,
            8 => Kind::Binary,
            9 => Kind::List,
            10 => Kind::Set,
            11 => Kind::Map,
            12 => Kind::Struct,
            _ => return None,
        })
    }
}

impl<'b> Thrift<'b> {
    pub(super) fn new(rest: &'b [u8]) -> Self {
        Self { rest }
    }

    /// Bytes that are not read yet.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// An integer of any width.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A text or other bytes.
    pub(super) fn binary(&mut self) -> Option<&'b [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Hands every field of a structure to `take`, which reads its value or says that it did not.
    pub(super) fn fields(
        &mut self,
        mut take: impl FnMut(&mut Self, i64, Kind) -> Option<bool>,
    ) -> Option<()> {
        let mut id = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            let kind = Kind::of(head & 0x0f)?;
            id = match head >> 4 {
                0 => self.integer()?,
                delta => id.checked_add(i64::from(delta))?,
            };
            if !take(self, id, kind)? {
                self.skip(kind, DEPTH)?;
            }
        }
    }

    /// The type and number of a list's items, of which each takes a byte at least.
    pub(super) fn list(&mut self) -> Option<(Kind, usize)> {
        let head = self.byte()?;
        let kind = Kind::of(head & 0x0f)?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            few => usize::from(few),
        };
        (count <= self.rest.len()).then_some((kind, count))
    }

    fn skip(&mut self, kind: Kind, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            Kind::True | Kind::False => {}
            Kind::Byte => drop(self.byte()?),
            Kind::I16 | Kind::I32 | Kind::I64 => drop(self.varint()?),
            Kind::Double => self.rest = self.rest.get(8..)?,
            Kind::Binary => drop(self.binary()?),
            Kind::List | Kind::Set => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    match kind {
                        // Items are a byte each, fields none.
                        Kind::True | Kind::False => drop(self.byte()?),
                        kind => self.skip(kind, depth)?,
                    }
                }
            }
            Kind::Map => {
                let count = usize::try_from(self.varint()?).ok()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    let (key, value) = (Kind::of(kinds >> 4)?, Kind::of(kinds & 0x0f)?);
                    if count > self.rest.len() {
                        return None;
                    }
                    for _ in 0..count {
                        self.skip(key, depth)?;
                        self.skip(value, depth)?;
                    }
                }
            }
            Kind::Struct => loop {
                let head = self.byte()?;
                if head == 0 {
                    break;
                }
                if head >> 4 == 0 {
                    self.integer()?;
                }
                self.skip(Kind::of(head & 0x0f)?, depth)?;
            },
        }
        Some(())
    }
}
