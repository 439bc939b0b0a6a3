//! An adapter that fails in every known way, for the runner's tests.

fn main() {}
