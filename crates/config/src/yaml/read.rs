use super::{Data, Key, Node, Scalar, Value};
use crate::error::{ConfigError, ErrorKind};
use crate::source::{Source, Span, Spanned};
use crate::suggest::{listed, nearest};
use annbench_core::ParamValue;
use std::ops::RangeInclusive;

impl Node {
    /// What stands here, for messages.
    pub(crate) fn found(&self) -> String {
        match &self.data {
            Data::List(items) if items.is_empty() => "an empty list".to_owned(),
            Data::List(_) => "a list".to_owned(),
            Data::Map(_) => "a mapping".to_owned(),
            Data::Scalar(scalar) => match &scalar.value {
                Value::Null => "nothing".to_owned(),
                Value::Bool(v) => format!("the boolean {v}"),
                Value::Int(v) => format!("the integer {v}"),
                Value::Float(_) => format!("the number {}", scalar.raw),
                Value::Text { .. } => format!("the text `{}`", shortened(&scalar.raw)),
            },
        }
    }

    /// Whether this node or one inside it has an anchor.
    pub(crate) fn holds_anchor(&self) -> bool {
        self.anchored
            || match &self.data {
                Data::Scalar(_) => false,
                Data::List(items) => items.iter().any(Node::holds_anchor),
                Data::Map(entries) => entries.iter().any(|(_, value)| value.holds_anchor()),
            }
    }
}

/// `text` as it fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// A mapping whose keys were all checked to be known.
pub(crate) struct Fields<'n> {
    source: &'n Source,
    span: Span,
    what: &'static str,
    entries: &'n [(Key, Node)],
}

impl<'n> Fields<'n> {
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.entry(name).map(|(_, value)| value)
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&'n (Key, Node)> {
        self.entries.iter().find(|(key, _)| key.name == name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn required(&self, name: &str, example: &str) -> Result<&'n Node, ConfigError> {
        self.get(name).ok_or_else(|| {
            self.source
                .error(
                    ErrorKind::Missing,
                    self.span,
                    format!("{} lacks the key `{name}`", self.what),
                )
                .expected(example)
                .next(format!("add `{name}`"))
        })
    }
}

/// Typed reading. `what` names the thing read, as the subject of a sentence: "`k`", "a group".
impl Source {
    pub(crate) fn wrong_type(&self, node: &Node, what: &str, expected: &str) -> ConfigError {
        self.error(
            ErrorKind::Type,
            node.span,
            format!("{what} has the wrong type"),
        )
        .expected(expected)
        .found(node.found())
    }

    pub(crate) fn entries<'n>(
        &self,
        node: &'n Node,
        what: &str,
    ) -> Result<&'n [(Key, Node)], ConfigError> {
        match &node.data {
            Data::Map(entries) => Ok(entries),
            data => {
                let error = self.wrong_type(
                    node,
                    what,
                    "a mapping: `{ key: value, … }` or indented lines",
                );
                Err(match data {
                    Data::Scalar(Scalar {
                        value: Value::Null, ..
                    }) => error.next("write `{}` if it is meant to be empty"),
                    _ => error.next("give every value its key; configs/README.md has an example"),
                })
            }
        }
    }

    pub(crate) fn fields<'n>(
        &'n self,
        node: &'n Node,
        what: &'static str,
        known: &[&str],
    ) -> Result<Fields<'n>, ConfigError> {
        let entries = self.entries(node, what)?;
        for (key, _) in entries {
            if !known.contains(&key.name.as_str()) {
                return Err(self.unknown(
                    ErrorKind::UnknownKey,
                    key.span,
                    format!("{what} has no key `{}`", shortened(&key.name)),
                    &key.name,
                    known.iter().copied(),
                ));
            }
        }
        Ok(Fields {
            source: self,
            span: node.span,
            what,
            entries,
        })
    }

    /// An error about a name that is none of `known`.
    pub(crate) fn unknown<'k>(
        &self,
        kind: ErrorKind,
        span: Span,
        problem: String,
        given: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> ConfigError {
        let error = self
            .error(kind, span, problem)
            .found(format!("`{}`", shortened(given)));
        if known.clone().next().is_none() {
            return error.expected("nothing: there are none").next("remove it");
        }
        let error = error.expected(format!("one of {}", listed(known.clone())));
        match nearest(given, known) {
            Some(name) => error.next(format!("did you mean `{name}`?")),
            None => error.next("use one of the names above"),
        }
    }

    /// The items of a list that must not be empty.
    pub(crate) fn list<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], ConfigError> {
        match &node.data {
            Data::List(items) if items.is_empty() => Err(self
                .error(
                    ErrorKind::Value,
                    node.span,
                    format!("{what} is an empty list"),
                )
                .expected("at least one entry")
                .found("an empty list")
                .next("give a value, or remove the key")),
            Data::List(items) => Ok(items),
            _ => Err(self
                .wrong_type(
                    node,
                    what,
                    "a list: `[ …, … ]` or lines that begin with `- `",
                )
                .next("put it in `[ ]`")),
        }
    }

    /// The items of a list that must not be empty; a scalar is a list of one.
    pub(crate) fn one_or_many<'n>(
        &self,
        node: &'n Node,
        what: &str,
    ) -> Result<&'n [Node], ConfigError> {
        match &node.data {
            Data::Scalar(_) => Ok(std::slice::from_ref(node)),
            _ => self.list(node, what),
        }
    }

    /// As [`Source::one_or_many`], of a length that people write.
    pub(crate) fn few<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], ConfigError> {
        const MOST: usize = 256;
        let items = self.one_or_many(node, what)?;
        if items.len() > MOST {
            return Err(self
                .error(
                    ErrorKind::TooLarge,
                    node.span,
                    format!("{what} is too long a list"),
                )
                .expected(format!("at most {MOST} entries"))
                .found(items.len().to_string())
                .next("shorten the list"));
        }
        Ok(items)
    }

    /// Reads a list (or a scalar, as a list of one) whose values must differ.
    pub(crate) fn distinct<T: PartialEq>(
        &self,
        node: &Node,
        what: &str,
        read: impl Fn(&Node) -> Result<T, ConfigError>,
    ) -> Result<Vec<T>, ConfigError> {
        let mut values: Vec<T> = Vec::new();
        for item in self.few(node, what)? {
            let value = read(item)?;
            if values.contains(&value) {
                return Err(self.given_twice(item, what));
            }
            values.push(value);
        }
        Ok(values)
    }

    pub(crate) fn given_twice(&self, item: &Node, what: &str) -> ConfigError {
        self.error(
            ErrorKind::Duplicate,
            item.span,
            format!("{what} gives the same value twice"),
        )
        .expected("different values: each would be measured once")
        .found(item.found())
        .next("remove one of the two")
    }

    pub(crate) fn text(&self, node: &Node, what: &str) -> Result<Spanned<String>, ConfigError> {
        match &node.data {
            Data::Scalar(scalar)
                if matches!(scalar.value, Value::Text { .. }) && !scalar.raw.is_empty() =>
            {
                Ok(Spanned {
                    value: scalar.raw.clone(),
                    span: node.span,
                })
            }
            Data::Scalar(scalar) if !matches!(scalar.value, Value::Text { .. } | Value::Null) => {
                Err(self
                    .wrong_type(node, what, "text")
                    .next(format!("quote it: \"{}\"", scalar.raw)))
            }
            Data::Scalar(_) => Err(self
                .wrong_type(node, what, "text")
                .next("write the text after the `:`")),
            _ => Err(self
                .wrong_type(node, what, "text, a single value")
                .next("replace it by one value")),
        }
    }

    pub(crate) fn integer(
        &self,
        node: &Node,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ConfigError> {
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
            _ => Err(self
                .wrong_type(node, what, &expected)
                .next("write an integer without quotes, separators or decimals")),
        }
    }

    /// One of a fixed set of words.
    pub(crate) fn word<T: Copy>(
        &self,
        node: &Node,
        what: &str,
        words: &[(&str, T)],
    ) -> Result<T, ConfigError> {
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

    /// A parameter's value: a boolean, a finite number or text.
    pub(crate) fn param_value(&self, node: &Node, what: &str) -> Result<ParamValue, ConfigError> {
        const EXPECTED: &str = "an integer, a number, true, false or text, or a list of those";
        let Data::Scalar(scalar) = &node.data else {
            return Err(self
                .wrong_type(node, what, EXPECTED)
                .next("lists do not nest, and a parameter takes no mapping"));
        };
        match &scalar.value {
            Value::Bool(value) => Ok(ParamValue::Bool(*value)),
            Value::Int(value) => Ok(ParamValue::Int(*value)),
            Value::Float(value) => Ok(ParamValue::Float(*value)),
            Value::Text { plain: true } if reads_as_boolean(&scalar.raw) => {
                Err(self.wrong_type(node, what, EXPECTED).next(format!(
                    "write true or false, or \"{}\" in quotes if text is meant",
                    scalar.raw
                )))
            }
            Value::Text { .. } => Ok(ParamValue::Text(scalar.raw.clone())),
            Value::Null => Err(self
                .wrong_type(node, what, EXPECTED)
                .next("give a value, or remove the parameter to leave it to the library")),
        }
    }
}

/// YAML 1.1 takes these as booleans and 1.2 as text; who writes them means a boolean.
fn reads_as_boolean(raw: &str) -> bool {
    ["yes", "no", "on", "off"]
        .iter()
        .any(|word| raw.eq_ignore_ascii_case(word))
}
