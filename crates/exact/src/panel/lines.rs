/// The words of a row of a tile. Tiles are loaded several times slower from rows that cross the
/// lines of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Line([u32; 16]);

/// Words that begin with a line of the cache.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<Line>);

impl Lines {
    /// Zeroes.
    pub(crate) fn zeroed(words: usize) -> Self {
        let mut lines = Self::default();
        lines.resize(words);
        lines
    }

    /// Makes it hold `words`, a multiple of 16; new ones are zero.
    pub(crate) fn resize(&mut self, words: usize) {
        debug_assert!(words.is_multiple_of(16));
        self.0.resize(words.div_ceil(16), Line::default());
    }

    pub(crate) fn words(&self) -> &[u32] {
        // SAFETY: a line is 16 words and nothing else, and lines lie without gaps.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 16) }
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above, and every pattern of bits is a word.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 16) }
    }
}

/// Sums of a strip, aligned for the same reason.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_keep_what_they_hold() {
        let mut lines = Lines::zeroed(48);
        assert!(lines.words().as_ptr().align_offset(64) == 0);
        lines.words_mut()[47] = 9;
        lines.resize(64);
        assert_eq!(lines.words()[47..49], [9, 0]);
        assert_eq!(lines.words().len(), 64);
    }
}
