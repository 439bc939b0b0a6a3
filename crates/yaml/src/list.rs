use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::node::{Data, Node};
use crate::source::Source;

/// Lists. `what` names the thing read, as the subject of a sentence: "`k`", "`datasets`".
impl Source {
    /// The items of a list that must not be empty.
    ///
    /// # Errors
    /// [`ErrorKind::Type`] when it is no list, [`ErrorKind::Value`] when it is empty.
    pub fn list<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], Diagnostic> {
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
    ///
    /// # Errors
    /// As [`Source::list`].
    pub fn one_or_many<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], Diagnostic> {
        match &node.data {
            Data::Scalar(_) => Ok(std::slice::from_ref(node)),
            _ => self.list(node, what),
        }
    }

    /// As [`Source::one_or_many`], of a length that people write.
    ///
    /// # Errors
    /// As [`Source::list`], and [`ErrorKind::TooLarge`].
    pub fn few<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], Diagnostic> {
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
    ///
    /// # Errors
    /// As [`Source::few`] and `read`, and [`ErrorKind::Duplicate`].
    pub fn distinct<T: PartialEq>(
        &self,
        node: &Node,
        what: &str,
        read: impl Fn(&Node) -> Result<T, Diagnostic>,
    ) -> Result<Vec<T>, Diagnostic> {
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

    /// An error about an item that the list has already.
    pub fn given_twice(&self, item: &Node, what: &str) -> Diagnostic {
        self.error(
            ErrorKind::Duplicate,
            item.span,
            format!("{what} gives the same value twice"),
        )
        .expected("different values: each counts once")
        .found(item.found())
        .next("remove one of the two")
    }
}
