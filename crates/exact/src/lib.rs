//! Exact k-nearest-neighbour search.
//!
//! Every distance is the reference [`annbench_core::distance`], bit for bit, and every answer is in
//! canonical order: by distance, then by id. The engine is blocked over base rows and queries and
//! runs on the rayon pool it is given, never on the global one.

mod candidates;
mod error;
mod flat;
mod kernel;
mod neighbors;
mod plan;
mod searcher;

pub use candidates::Candidate;
pub use error::ExactError;
pub use flat::{Flat, search};
pub use kernel::simd_level;
pub use neighbors::Neighbors;
pub use searcher::FlatSearcher;
