/// The run-length and bit-packed hybrid in which parquet keeps levels and numbers of a dictionary.
pub(super) struct Hybrid<'b> {
    rest: &'b [u8],
    bits: u32,
    run: Run<'b>,
}

enum Run<'b> {
    Alike {
        value: u32,
        left: u64,
    },
    Packed {
        bytes: &'b [u8],
        at: usize,
        left: u64,
    },
}

impl<'b> Hybrid<'b> {
    /// Numbers of `bits` each, at most 32.
    pub(super) fn new(rest: &'b [u8], bits: u32) -> Self {
        Self {
            rest,
            bits: bits.min(32),
            run: Run::Alike { value: 0, left: 0 },
        }
    }

    /// The next number; `None` where the bytes end.
    pub(super) fn next(&mut self) -> Option<u32> {
        loop {
            match &mut self.run {
                Run::Alike {
                    value,
                    left: left @ 1..,
                } => {
                    *left -= 1;
                    return Some(*value);
                }
                Run::Packed {
                    bytes,
                    at,
                    left: left @ 1..,
                } => {
                    let value = unpack(bytes, *at, self.bits)?;
                    *at += 1;
                    *left -= 1;
                    return Some(value);
                }
                _ => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> Option<()> {
        let head = self.varint()?;
        if head & 1 == 0 {
            let size = self.bits.div_ceil(8) as usize;
            let (bytes, rest) = self.rest.split_at_checked(size)?;
            let mut value = [0; 4];
            value[..size].copy_from_slice(bytes);
            self.rest = rest;
            self.run = Run::Alike {
                value: u32::from_le_bytes(value),
                left: head >> 1,
            };
        } else {
            let groups = head >> 1;
            let size = usize::try_from(groups.checked_mul(u64::from(self.bits))?).ok()?;
            // The last run may end with what is needed of it.
            let (bytes, rest) = self.rest.split_at(size.min(self.rest.len()));
            self.rest = rest;
            self.run = Run::Packed {
                bytes,
                at: 0,
                left: groups.checked_mul(8)?,
            };
        }
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

/// Number `at` of `bits` each, the lowest bits first.
fn unpack(bytes: &[u8], at: usize, bits: u32) -> Option<u32> {
    if bits == 0 {
        return Some(0);
    }
    let first = at.checked_mul(bits as usize)?;
    let last = first + bits as usize - 1;
    bytes.get(last / 8)?;
    let mut value = 0u64;
    for (i, &byte) in bytes[first / 8..=last / 8].iter().enumerate() {
        value |= u64::from(byte) << (8 * i);
    }
    let value = value >> (first % 8);
    Some((value & ((1u64 << bits) - 1)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_specification() {
        // 0 to 7 in three bits, packed.
        let mut packed = Hybrid::new(&[0x03, 0x88, 0xc6, 0xfa], 3);
        let numbers: Vec<u32> = (0..8).map(|_| packed.next().unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(packed.next(), None);
        let mut alike = Hybrid::new(&[0x06, 0x05], 3);
        assert_eq!(
            [(); 4].map(|()| alike.next()),
            [Some(5), Some(5), Some(5), None]
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), bits in 0u32..40) {
            let mut hybrid = Hybrid::new(&bytes, bits);
            for _ in 0..1000 {
                if hybrid.next().is_none() {
                    break;
                }
            }
        }
    }
}
