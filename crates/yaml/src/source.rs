use crate::diagnostic::{Diagnostic, ErrorKind};
use std::sync::Arc;

/// A YAML text, the name it goes by in messages and the form it is meant to have. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    file: Arc<str>,
    text: Arc<str>,
    form: &'static Form,
}

/// What a text is meant to be, in the words that messages use.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// What it is with an article, such as "a dataset entry".
    pub what: &'static str,
    /// The same with the keys that make it one.
    pub outline: &'static str,
    /// Where it is described, such as "datasets/README.md".
    pub manual: &'static str,
    /// What to do where somebody wanted a YAML merge.
    pub in_place_of_merges: &'static str,
}

/// Where something stands in a [`Source`]: within one line, counted in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// Characters underlined; 0 means to the end of the line.
    pub width: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl Span {
    /// The first character of a text.
    pub const START: Span = Span {
        line: 1,
        column: 1,
        width: 1,
    };
}

impl Source {
    /// The source of `text`, which goes by the name `file` in messages.
    pub fn new(file: &str, text: &str, form: &'static Form) -> Self {
        Self {
            file: file.into(),
            text: text.into(),
            form,
        }
    }

    /// The name it goes by.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What it is meant to be.
    pub fn form(&self) -> &'static Form {
        self.form
    }

    /// The whole text.
    pub(crate) fn whole(&self) -> &str {
        &self.text
    }

    /// An error at `span` of this text.
    pub fn error(&self, kind: ErrorKind, span: Span, problem: impl Into<String>) -> Diagnostic {
        Diagnostic::at(&self.file, &self.text, span, kind, problem)
    }
}
