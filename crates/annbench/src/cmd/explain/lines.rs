use std::fmt::Write;

/// Lines of a label and what it tells.
#[derive(Default)]
pub(super) struct Lines(String);

impl Lines {
    pub(super) fn add(&mut self, label: &str, what: impl std::fmt::Display) {
        let _ = writeln!(self.0, "  {label:20}  {what}");
    }

    /// A line that begins a part, with an empty line before it.
    pub(super) fn head(&mut self, what: impl std::fmt::Display) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = writeln!(self.0, "{what}");
    }

    /// All lines.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}
