//! The hnsw_rs library behind the annbench contract.

mod adapter;
mod bits;
mod graph;
mod item;
mod normalise;
mod params;
mod searcher;
mod store;

pub use adapter::HnswRs;
