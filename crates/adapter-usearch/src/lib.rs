//! The usearch library behind the annbench contract.

mod adapter;
mod facts;
mod form;
mod graph;
mod insert;
mod lanes;
mod native;
mod params;
mod quantization;
mod searcher;
mod store;

pub use adapter::Usearch;
