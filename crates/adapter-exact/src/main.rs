//! The exact (Flat) engine of this project as an adapter.

fn main() {}
