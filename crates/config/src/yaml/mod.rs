//! YAML as sweeps use it: a small tree in which every key and value knows its place.
//!
//! Refused: tags, merges (`<<`), duplicate keys, keys that are no text, several documents,
//! numbers that are not finite or do not fit, nesting and alias expansion beyond fixed bounds.

mod compose;
mod read;
mod scalar;

pub(crate) use compose::compose;
pub(crate) use read::{Fields, shortened};
pub(crate) use scalar::number;

use crate::source::Span;

/// A value and its place. What an alias stands for keeps the place of its definition.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) anchored: bool,
    pub(crate) data: Data,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Scalar(Scalar),
    List(Vec<Node>),
    /// In the order of the text, keys distinct.
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// As it stands in the text, quotes and escapes resolved.
    pub(crate) raw: String,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// `plain` when it stood without quotes.
    Text {
        plain: bool,
    },
}
