// What Rust is told of an index.

#pragma once

#include <cstdint>

extern "C" {

/// What of an index can be set per search.
struct AnnbenchFaissShape {
    /// Inverted lists, or 0.
    int64_t nlist;
    /// 0: no HNSW graph; 1: the index is one; 2: the coarse quantiser is one.
    int32_t hnsw;
    /// Whether results are refined.
    int32_t refine;
    /// Whether FAISS counts, process-wide, the distances that this kind of index computes.
    int32_t counted;
};
}
