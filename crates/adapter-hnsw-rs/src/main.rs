//! The hnsw_rs library as an adapter.

fn main() {}
