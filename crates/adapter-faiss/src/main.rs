//! The FAISS library as an adapter.

fn main() {}
