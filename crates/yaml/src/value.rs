use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::node::{Data, Node, Value, shortened};
use crate::source::{Source, Spanned};
use crate::yaml11::Yaml11;
use std::ops::RangeInclusive;

/// Single values. `what` names the thing read, as the subject of a sentence: "`k`", "a mode".
impl Source {
    /// An error about a value of another type than `expected`; the caller adds what to do next.
    pub fn wrong_type(&self, node: &Node, what: &str, expected: &str) -> Diagnostic {
        self.error(
            ErrorKind::Type,
            node.span,
            format!("{what} has the wrong type"),
        )
        .expected(expected)
        .found(node.found())
    }

    /// Text with something in it.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] for another type, nothing and blank text.
    pub fn text(&self, node: &Node, what: &str) -> Result<Spanned<String>, Diagnostic> {
        match &node.data {
            Data::Scalar(scalar)
                if matches!(scalar.value, Value::Text { .. }) && !scalar.raw.trim().is_empty() =>
            {
                Ok(Spanned {
                    value: scalar.raw.clone(),
                    span: node.span,
                })
            }
            Data::Scalar(scalar) if !matches!(scalar.value, Value::Text { .. } | Value::Null) => {
                Err(self
                    .wrong_type(node, what, "text")
                    .next(format!("quote it: \"{}\"", shortened(&scalar.raw))))
            }
            Data::Scalar(_) => Err(self
                .wrong_type(node, what, "text")
                .next("write the text after the `:`")),
            _ => Err(self
                .wrong_type(node, what, "text, a single value")
                .next("replace it by one value")),
        }
    }

    /// An integer within `range`.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] for another type, [`ErrorKind::Value`] outside of the range.
    pub fn integer(
        &self,
        node: &Node,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, Diagnostic> {
        let expected = format!("an integer from {} to {}", range.start(), range.end());
        let Data::Scalar(scalar) = &node.data else {
            return Err(self
                .wrong_type(node, what, &expected)
                .next("replace it by one integer"));
        };
        match scalar.value {
            Value::Int(value) => match u64::try_from(value) {
                Ok(value) if range.contains(&value) => Ok(value),
                _ => Err(self
                    .error(
                        ErrorKind::Value,
                        node.span,
                        format!("{what} is out of range"),
                    )
                    .expected(expected)
                    .found(value.to_string())
                    .next("choose a value in the range")),
            },
            _ => {
                let next = match scalar.in_yaml_1_1() {
                    Some(Yaml11::Number {
                        decimal: Some(decimal),
                    }) => format!("write {decimal}"),
                    _ => "write an integer without quotes, separators or decimals".to_owned(),
                };
                Err(self.wrong_type(node, what, &expected).next(next))
            }
        }
    }

    /// What one of a fixed set of words stands for.
    ///
    /// # Errors
    /// As [`Source::text`], and [`ErrorKind::Value`] with the word that was probably meant.
    pub fn word<T: Copy>(
        &self,
        node: &Node,
        what: &str,
        words: &[(&str, T)],
    ) -> Result<T, Diagnostic> {
        let text = self.text(node, what)?;
        words
            .iter()
            .find(|(word, _)| *word == text.value)
            .map(|&(_, value)| value)
            .ok_or_else(|| {
                self.unknown(
                    ErrorKind::Value,
                    node.span,
                    format!("{what} cannot be `{}`", shortened(&text.value)),
                    &text.value,
                    words.iter().map(|&(word, _)| word),
                )
            })
    }
}
