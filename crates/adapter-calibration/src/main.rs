//! Searchers with known answers and known durations.

fn main() {}
