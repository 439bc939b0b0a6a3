use unicode_width::UnicodeWidthStr;

/// On which side a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows of cells set in columns as wide as their widest cell, by display width.
#[derive(Debug)]
pub(crate) struct Columns {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub(crate) fn new(sides: &[Side]) -> Self {
        Self {
            sides: sides.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty, and a row has no more cells than there are columns.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert!(cells.len() <= self.sides.len());
        cells.resize(self.sides.len(), String::new());
        self.rows.push(cells);
    }

    /// The lines, without trailing blanks. A column that is empty throughout is left out.
    pub(crate) fn lines(&self, gap: usize) -> Vec<String> {
        let widths: Vec<usize> = (0..self.sides.len())
            .map(|c| self.rows.iter().map(|r| r[c].width()).max().unwrap_or(0))
            .collect();
        self.rows
            .iter()
            .map(|row| {
                let mut line = String::new();
                for (c, cell) in row.iter().enumerate().filter(|&(c, _)| widths[c] > 0) {
                    if !line.is_empty() {
                        line.extend(std::iter::repeat_n(' ', gap));
                    }
                    let blanks = std::iter::repeat_n(' ', widths[c] - cell.width());
                    match self.sides[c] {
                        Side::Left => {
                            line += cell;
                            line.extend(blanks);
                        }
                        Side::Right => {
                            line.extend(blanks);
                            line += cell;
                        }
                    }
                }
                line.truncate(line.trim_end().len());
                line
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        let mut columns = Columns::new(&[Side::Left, Side::Right]);
        columns.row(["図書", "1"]);
        columns.row(["abc", "10"]);
        assert_eq!(columns.lines(2), ["図書   1", "abc   10"]);
    }

    #[test]
    fn empty_columns_vanish() {
        let mut columns = Columns::new(&[Side::Left, Side::Left, Side::Right]);
        columns.row(["a", "", "1"]);
        columns.row(["b"]);
        assert_eq!(columns.lines(1), ["a 1", "b"]);
    }
}
