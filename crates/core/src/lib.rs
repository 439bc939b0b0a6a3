//! The contract between annbench and an ANN library, and the worker process that measures it.
//!
//! An adapter implements [`Adapter`], [`Index`] and [`Searcher`] and calls [`worker::run`] from
//! its `main`. Everything here is ignorant of files of datasets, of YAML, of ground truth and of
//! recall: a worker sees mapped vectors and a parameter point, and returns ids and times.

mod contract;
mod distance;
mod element;
mod given;
mod metric;
mod neighbors;
pub mod npy;
mod params;
mod rows;
mod tolerance;
mod vectors;
pub mod wire;
pub mod worker;

pub use contract::{
    Adapter, AdapterError, BuildSpec, Counters, Descriptor, Index, MemoryReport, Mode, ParamDoc,
    ParamKind, PointSpec, SearchSpec, Searcher, Support,
};
pub use distance::{distance, norm};
pub use element::ElementType;
pub use given::{bit_base, bit_queries, bit_query, row_base, row_queries, row_query};
pub use metric::Metric;
pub use neighbors::{EMPTY_SLOT, InvalidId, NeighborId, NeighborRows, Slot, TopK};
pub use params::{ParamError, ParamReader, ParamValue, Params};
pub use rows::{BitRows, Bits, Component, Rows, Set, SetRows};
pub use tolerance::TieTolerance;
pub use vectors::{Vector, Vectors};
