//! [FAISS](https://github.com/facebookresearch/faiss) behind the annbench contract.
//!
//! FAISS is compiled from the source that faiss-sys carries. A C++ shim of this crate gives what
//! its C API lacks: search parameters that belong to a call, so that two searchers of one index
//! keep their own. Packed bits go to FAISS's binary indexes, which are classes of their own.

mod adapter;
mod bits;
mod counters;
mod factory;
mod facts;
mod ffi;
mod index;
mod judged;
mod native;
mod params;
mod searcher;

pub use adapter::Faiss;

// Only its static libraries are used.
use faiss_sys as _;
