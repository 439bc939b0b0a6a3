use super::{Kernel, Level, Term};
use annbench_core::SetRows;

/// Bits of all maps of a tile: 32 MiB.
const MOST_TILE_BITS: usize = 1 << 28;

/// For every query a map with a bit for each number that a set may hold.
#[derive(Debug, Default)]
pub(crate) struct SetTile {
    words: usize,
    maps: Vec<u64>,
    /// The words that are not zero, so that emptying a tile costs what filling it did.
    used: Vec<usize>,
}

impl SetTile {
    fn clear(&mut self, words: usize, queries: usize) {
        if words == self.words && words * queries <= self.maps.len() {
            for word in self.used.drain(..) {
                self.maps[word] = 0;
            }
        } else {
            self.used.clear();
            self.maps.clear();
            self.maps.resize(words * queries, 0);
            self.words = words;
        }
    }
}

impl<'a> Kernel<'a> for SetRows<'a> {
    type Tile = SetTile;
    type Block<'s> = SetRows<'s>;

    super::view!(SetRows, Sets);

    fn fill(self, tile: &mut SetTile) {
        let words = self.dim().div_ceil(64);
        tile.clear(words, SetRows::n(&self));
        for q in 0..SetRows::n(&self) {
            for &id in self.row(q).ids {
                let word = q * words + id as usize / 64;
                tile.maps[word] |= 1 << (id % 64);
                tile.used.push(word);
            }
        }
    }

    fn block<'s>(self, _scratch: &'s mut Vec<f32>) -> SetRows<'s>
    where
        'a: 's,
    {
        self
    }

    #[inline]
    fn sums<const Q: usize>(
        _level: Level,
        _term: Term,
        tile: &SetTile,
        first: usize,
        block: SetRows<'_>,
        sums: &mut [f64],
    ) {
        let maps = &tile.maps[first * tile.words..(first + Q) * tile.words];
        for (r, sums) in sums.chunks_exact_mut(Q).enumerate() {
            let mut common = [0u64; Q];
            for &id in block.row(r).ids {
                let (word, bit) = (id as usize / 64, id % 64);
                for (common, map) in common.iter_mut().zip(maps.chunks_exact(tile.words)) {
                    *common += (map[word] >> bit) & 1;
                }
            }
            for (sum, common) in sums.iter_mut().zip(common) {
                *sum = common as f64;
            }
        }
    }

    fn most_queries(dim: usize) -> usize {
        (MOST_TILE_BITS / dim.next_multiple_of(64)).max(1)
    }
}
