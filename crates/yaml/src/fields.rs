use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::node::{Data, Key, Node, Scalar, Value, shortened};
use crate::source::{Source, Span};
use crate::suggest::{listed, nearest};

/// A mapping whose keys were all checked to be known.
pub struct Fields<'n> {
    source: &'n Source,
    span: Span,
    what: &'static str,
    entries: &'n [(Key, Node)],
}

impl<'n> Fields<'n> {
    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.entry(name).map(|(_, value)| value)
    }

    /// `name` with its value.
    pub fn entry(&self, name: &str) -> Option<&'n (Key, Node)> {
        self.entries.iter().find(|(key, _)| key.name == name)
    }

    /// Whether the mapping has no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of `name`; `example` shows how it would look.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] at the mapping.
    pub fn required(&self, name: &str, example: &str) -> Result<&'n Node, Diagnostic> {
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

/// Mappings. `what` names the thing read, as the subject of a sentence: "`k`", "a group".
impl Source {
    /// The keys and values of a mapping whose keys are free names.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] when `node` is no mapping.
    pub fn entries<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [(Key, Node)], Diagnostic> {
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
                    _ => error.next(format!(
                        "give every value its key; {} has an example",
                        self.form().manual
                    )),
                })
            }
        }
    }

    /// The mapping `node`, once all its keys are among `known`. A key that is not is refused before
    /// anything else is read, so that a misspelt key is never reported as a missing one.
    ///
    /// # Errors
    /// [`ErrorKind::Type`], or [`ErrorKind::UnknownKey`] with the key that was probably meant.
    pub fn fields<'n>(
        &'n self,
        node: &'n Node,
        what: &'static str,
        known: &[&str],
    ) -> Result<Fields<'n>, Diagnostic> {
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

    /// An error about the name `given`, which is none of `known`.
    pub fn unknown<'k>(
        &self,
        kind: ErrorKind,
        span: Span,
        problem: String,
        given: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Diagnostic {
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
}
