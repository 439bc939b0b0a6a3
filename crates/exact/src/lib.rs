//! Exact k-nearest-neighbour search.
//!
//! Every distance is the reference [`annbench_core::distance`], bit for bit, and every answer is in
//! canonical order: by distance, then by id. The engine is blocked over base rows and queries and
//! runs on the rayon pool it is given, never on the global one.

mod candidates;
mod certify;
mod dyadic;
mod error;
mod flat;
mod join;
mod kernel;
mod meter;
mod neighbors;
mod others;
mod panel;
mod plan;
mod proof;
mod searcher;
mod shortlist;
mod stepwise;

pub use candidates::Candidate;
pub use certify::certify;
pub use error::ExactError;
pub use flat::{Flat, Path, search};
pub use join::{JoinError, Part, join};
pub use kernel::{Level, simd_level};
pub use neighbors::Neighbors;
pub use proof::{Certified, Method, Proof, Status, status};
pub use searcher::FlatSearcher;
