use crate::figures::printable;
use crate::summary::WIDTH;
use crate::wrap::wrap;
use std::fmt;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Names that are too long for their place in a table: there they lose their middle, here they stand
/// whole, so that nothing is silently cropped.
///
/// [`fmt::Display`] gives the notes, lines with a final newline each, wrapped to 100 columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footnotes {
    names: Vec<String>,
}

impl Footnotes {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `name` as it is when it has at most `width` terminal columns, else its beginning and its end
    /// with `…` between them and the number of its note.
    pub fn fit(&mut self, name: &str, width: usize) -> String {
        if name.width() <= width {
            return name.to_owned();
        }
        let number = match self.names.iter().position(|known| known == name) {
            Some(at) => at + 1,
            None => {
                self.names.push(name.to_owned());
                self.names.len()
            }
        };
        let mark = format!(" [{number}]");
        format!(
            "{}{mark}",
            abbreviated(name, width.saturating_sub(mark.width()))
        )
    }

    /// Whether every name fitted.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl fmt::Display for Footnotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = format!("[{}] ", self.names.len()).len();
        for (i, name) in self.names.iter().enumerate() {
            let lines = wrap(&printable(name), (WIDTH - indent) as f64, |t| {
                t.width() as f64
            });
            let mut mark = format!("[{}] ", i + 1);
            for line in lines {
                writeln!(f, "{mark:indent$}{line}")?;
                mark.clear();
            }
        }
        Ok(())
    }
}

/// The beginning and the end of `text`, about as much of each, with `…` between: at most `width`
/// terminal columns, but for the `…` itself.
fn abbreviated(text: &str, width: usize) -> String {
    // The width of a sequence is not the sum of its characters' widths, so the result is measured.
    let shorter = (0..width).rev().map(|kept| {
        let half = kept / 2;
        let start = fitting(text.chars(), kept - half);
        let end = fitting(text.chars().rev(), half);
        let end: String = end.chars().rev().collect();
        format!("{start}…{end}")
    });
    shorter
        .into_iter()
        .find(|short| short.width() <= width)
        .unwrap_or_else(|| "…".to_owned())
}

/// As many of `chars` as `width` terminal columns hold, each by itself.
fn fitting(chars: impl Iterator<Item = char>, width: usize) -> String {
    // Characters without a width do not count, and there may be any number of them.
    let most = 4 * width;
    let mut used = 0;
    chars
        .take(most)
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_that_fits_stays_and_has_no_note() {
        let mut notes = Footnotes::new();
        assert_eq!(notes.fit("hnsw_rs 0.3.5", 13), "hnsw_rs 0.3.5");
        assert!(notes.is_empty() && notes.to_string().is_empty());
    }

    #[test]
    fn a_longer_one_loses_its_middle_and_stands_whole_below() {
        let mut notes = Footnotes::new();
        assert_eq!(notes.fit("abcdefghijklmnop 1.2", 13), "abcd… 1.2 [1]");
        assert_eq!(notes.fit("another very long one", 13), "anot… one [2]");
        // The same name has one note.
        assert_eq!(notes.fit("abcdefghijklmnop 1.2", 13), "abcd… 1.2 [1]");
        assert_eq!(
            notes.to_string(),
            "[1] abcdefghijklmnop 1.2\n[2] another very long one\n"
        );
        // Wide characters count twice.
        assert_eq!(
            Footnotes::new().fit("図書館図書館図書館", 12),
            "図書…館 [1]"
        );
    }

    #[test]
    fn a_note_is_wrapped_not_cut() {
        let mut notes = Footnotes::new();
        let name = "x".repeat(250);
        notes.fit(&name, 20);
        let text = notes.to_string();
        assert_eq!(text.lines().count(), 3);
        assert_eq!(text.matches('x').count(), 250);
    }

    proptest! {
        #[test]
        fn what_is_fitted_fits_and_its_note_has_all_of_it(name in "\\PC{0,300}", width in 8usize..60) {
            let mut notes = Footnotes::new();
            let fitted = notes.fit(&name, width);
            prop_assert!(fitted.width() <= width, "{} is wider than {}", fitted, width);
            let kept: String = notes.to_string().chars().filter(|c| !c.is_whitespace()).collect();
            let whole: String = name.chars().filter(|c| !c.is_whitespace()).collect();
            prop_assert!(fitted == name || kept.ends_with(&whole));
        }
    }
}
