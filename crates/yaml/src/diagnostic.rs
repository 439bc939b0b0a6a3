use crate::excerpt::excerpt;
use crate::source::Span;
use std::fmt;
use thiserror::Error;

/// What is wrong with a text, for those who must tell errors apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are no text that YAML permits.
    Encoding,
    /// The text is no YAML, or YAML beyond what is read here (tags, merges, several documents).
    Syntax,
    /// The text, its nesting, its aliases or what it multiplies to exceed a fixed bound.
    TooLarge,
    /// A key that nothing reads.
    UnknownKey,
    /// A key, name or value that is given twice.
    Duplicate,
    /// A key that must be there is not.
    Missing,
    /// A value of another type than the key takes.
    Type,
    /// A value outside what the key takes.
    Value,
    /// A name that refers to nothing.
    UnknownName,
    /// Two things that exclude each other.
    Conflict,
}

/// A text that was refused: file, place, what was expected, what was found, what to do next.
///
/// [`fmt::Display`] gives the whole screen, several lines without a final newline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Diagnostic(Box<Screen>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Screen {
    kind: ErrorKind,
    place: Option<Place>,
    problem: String,
    expected: Option<String>,
    found: Option<String>,
    next: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: String,
    span: Span,
    line: String,
    caret: String,
}

impl Diagnostic {
    /// An error at `span` of `text`, the contents of `file`.
    pub fn at(
        file: &str,
        text: &str,
        span: Span,
        kind: ErrorKind,
        problem: impl Into<String>,
    ) -> Self {
        let (line, caret) = excerpt(text, span);
        let mut error = Self::without_place(kind, problem);
        error.0.place = Some(Place {
            file: file.to_owned(),
            span,
            line,
            caret,
        });
        error
    }

    /// An error that no place in a file stands for, such as a filter of the command line.
    pub fn without_place(kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self(Box::new(Screen {
            kind,
            place: None,
            problem: problem.into(),
            expected: None,
            found: None,
            next: None,
        }))
    }

    /// The same with what was expected.
    #[must_use]
    pub fn expected(mut self, text: impl Into<String>) -> Self {
        self.0.expected = Some(text.into());
        self
    }

    /// The same with what was found.
    #[must_use]
    pub fn found(mut self, text: impl Into<String>) -> Self {
        self.0.found = Some(text.into());
        self
    }

    /// The same with what to do next.
    #[must_use]
    pub fn next(mut self, text: impl Into<String>) -> Self {
        self.0.next = Some(text.into());
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The error in one line, without its place.
    pub fn problem(&self) -> &str {
        &self.0.problem
    }

    /// File, line and column (both from 1, the column in characters), where there is a place.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        let place = self.0.place.as_ref()?;
        Some((&place.file, place.span.line, place.span.column))
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            None => f.write_str(&self.problem)?,
            Some(place) => {
                let number = place.span.line.to_string();
                let margin = " ".repeat(number.len());
                write!(
                    f,
                    "{}:{}:{}: {}\n {margin} |\n {number} | {}\n {margin} | {}",
                    place.file,
                    place.span.line,
                    place.span.column,
                    self.problem,
                    place.line,
                    place.caret
                )?;
            }
        }
        for (label, text) in [
            ("expected", &self.expected),
            ("found   ", &self.found),
            ("next    ", &self.next),
        ] {
            if let Some(text) = text {
                write!(f, "\n  {label}  {text}")?;
            }
        }
        Ok(())
    }
}
