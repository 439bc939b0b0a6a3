use std::fmt;
use std::path::PathBuf;

/// What is wrong with an entry, with the line it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryError {
    /// The YAML file.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
    /// The text of the line.
    pub source_line: String,
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(
            f,
            "{}:{}:{}: {}",
            self.path.display(),
            self.line,
            self.column,
            self.message
        )?;
        writeln!(f, "  {number} | {}", self.source_line)?;
        write!(f, "  {margin} | {}^", " ".repeat(self.column - 1))
    }
}

impl std::error::Error for EntryError {}
