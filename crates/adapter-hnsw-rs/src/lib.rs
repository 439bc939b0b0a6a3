//! The hnsw_rs library behind the annbench contract.

mod adapter;
mod graph;
mod normalise;
mod params;
mod searcher;
mod store;

pub use adapter::HnswRs;
