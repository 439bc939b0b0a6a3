//! Bytes that are nearly those of a seed: the same ones every time.

/// Numbers at which sizes go wrong.
const SIZES: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

/// Changes seeds by a sequence that a number begins.
pub struct Mutation(u64);

impl Mutation {
    /// The sequence that begins at `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Xorshift.
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below.max(1)
    }

    /// One of `seeds`, changed in one place or a few.
    pub fn of(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.next(seeds.len())].clone();
        for _ in 0..=self.next(4) {
            let at = self.next(bytes.len());
            match self.next(9) {
                0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << self.next(8),
                2 if !bytes.is_empty() => bytes[at] = self.next(256) as u8,
                3 => bytes.truncate(at),
                4 => {
                    let byte = self.next(256) as u8;
                    bytes.insert(at, byte);
                }
                5 if !bytes.is_empty() => drop(bytes.remove(at)),
                6 | 7 => {
                    // A size, aligned as headers are.
                    let (size, width) = (SIZES[self.next(SIZES.len())], [1, 2, 4, 8][self.next(4)]);
                    let at = at / width * width;
                    if let Some(place) = bytes.get_mut(at..at + width) {
                        place.copy_from_slice(&size.to_le_bytes()[..width]);
                    }
                }
                _ => {
                    // The end of another.
                    let other = &seeds[self.next(seeds.len())];
                    let from = self.next(other.len());
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
            }
        }
        bytes
    }
}
