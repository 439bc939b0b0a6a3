use crate::source::Span;

/// A value and its place. What an alias stands for keeps the place of its definition.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands; of a list or a mapping, where it begins.
    pub span: Span,
    /// Whether it has an anchor (`&name`).
    pub anchored: bool,
    /// What it is.
    pub data: Data,
}

/// What a [`Node`] is.
#[derive(Clone, Debug)]
pub enum Data {
    /// A single value.
    Scalar(Scalar),
    /// A list, in the order of the text.
    List(Vec<Node>),
    /// A mapping, in the order of the text, keys distinct.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its text, never empty.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A single value.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// As it stands in the text, quotes and escapes resolved.
    pub raw: String,
    /// What it means.
    pub value: Value,
}

/// What a scalar means by the core schema of YAML 1.2 (section 10.3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Another number, finite; never -0.0.
    Float(f64),
    /// Text: [`Scalar::raw`].
    Text {
        /// Whether it stood without quotes.
        plain: bool,
    },
}

impl Node {
    /// What stands here, for messages.
    pub fn found(&self) -> String {
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
    pub fn holds_anchor(&self) -> bool {
        self.anchored
            || match &self.data {
                Data::Scalar(_) => false,
                Data::List(items) => items.iter().any(Node::holds_anchor),
                Data::Map(entries) => entries.iter().any(|(_, value)| value.holds_anchor()),
            }
    }
}

/// `text` as it fits into a message.
pub fn shortened(text: &str) -> String {
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
