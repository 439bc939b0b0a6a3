//! Exact k-nearest-neighbour search.
