//! Packed bits under hamming: FAISS's binary indexes, which are classes of their own beside those of
//! floats, with a factory of their own.

mod index;
mod kind;
mod native;
mod searcher;

pub(crate) use index::{build, load};
pub(crate) use kind::{Kind, names_bits};
