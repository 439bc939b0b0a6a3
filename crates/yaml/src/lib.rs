//! YAML as people write it by hand: a small tree in which every key and value knows its place, and
//! errors that show that place.
//!
//! A [`Source`] is a text, the name it goes by and the [`Form`] that it is meant to have.
//! [`Source::compose`] makes a tree of [`Node`]s of it; [`Source::fields`], [`Source::text`],
//! [`Source::integer`] and their like read the tree, and whatever is not as it should be is a
//! [`Diagnostic`]: file, line, column, the source line with a caret, what was expected, what was
//! found, what to do next.
//!
//! Refused: tags, merges (`<<`), duplicate keys, keys that are no text, several documents, numbers
//! that are not finite, do not fit or are not in decimal or hexadecimal notation, nesting and alias
//! expansion beyond fixed bounds.
//!
//! What a key means is the business of the crates that use this one.

mod compose;
mod decode;
mod diagnostic;
mod excerpt;
mod fields;
mod list;
mod node;
mod scalar;
mod source;
mod suggest;
mod value;
mod yaml11;

pub use decode::decode;
pub use diagnostic::{Diagnostic, ErrorKind};
pub use fields::Fields;
pub use node::{Data, Key, Node, Scalar, Value, shortened};
pub use scalar::{Misread, number};
pub use source::{Form, Source, Span, Spanned};
pub use suggest::{listed, nearest};
pub use yaml11::Yaml11;
