// Indexes of packed bits: making, filling and storing them, and searching them with parameters that
// belong to the call.
//
// FAISS 1.12 takes no search parameters for them: IndexBinaryHNSW::search and IndexBinaryIVF::search
// refuse any, and read efSearch and nprobe from the index, which all searchers share. What those two
// functions call does take parameters: HNSW::search and IndexBinaryIVF::search_preassigned. So the
// bodies of the two stand here again, call for call with the same allocations and parallel regions,
// so that they cost what FAISS's own cost, but with a plan's values in place of the index's. They
// only read the index, and a plan has one searcher: nothing is shared, nothing needs a lock.

#include <omp.h>

#include <cmath>
#include <cstdint>
#include <memory>

#include <faiss/IndexBinary.h>
#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHNSW.h>
#include <faiss/IndexBinaryIVF.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/DistanceComputer.h>
#include <faiss/impl/ResultHandler.h>
#include <faiss/index_factory.h>
#include <faiss/index_io.h>

#include "error.hpp"
#include "shape.hpp"

using annbench::guarded;
using annbench::Refused;
using faiss::idx_t;

/// How one searcher searches one index, and the work that it did.
struct AnnbenchFaissBinaryPlan {
    /// The index, where it has inverted lists.
    const faiss::IndexBinaryIVF* lists = nullptr;
    /// The graph of its vectors, or of its lists' centroids.
    const faiss::IndexBinaryHNSW* graph = nullptr;
    faiss::SearchParametersIVF lists_params;
    faiss::SearchParametersHNSW graph_params;
    int threads = 1;
    /// What HNSW::search says it did. IndexBinaryHNSW::search drops it.
    uint64_t graph_distances = 0;
    uint64_t graph_hops = 0;
};

namespace {

/// IndexBinaryHNSW::search with the plan's efSearch.
void search_graph(
        AnnbenchFaissBinaryPlan& plan,
        idx_t n,
        const uint8_t* queries,
        idx_t k,
        int32_t* distances,
        idx_t* labels) {
    using Results = faiss::HeapBlockResultHandler<faiss::HNSW::C>;
    const faiss::IndexBinaryHNSW& index = *plan.graph;
    // The graph works in floats; the buffer becomes integers in place.
    auto as_floats = reinterpret_cast<float*>(distances);
    Results block(n, as_floats, labels, k);
    uint64_t computed = 0, hops = 0;

#pragma omp parallel reduction(+ : computed, hops)
    {
        faiss::VisitedTable visited(index.ntotal);
        std::unique_ptr<faiss::DistanceComputer> distance(index.get_distance_computer());
        Results::SingleResultHandler results(block);

#pragma omp for
        for (idx_t i = 0; i < n; i++) {
            results.begin(i);
            distance->set_query(
                    reinterpret_cast<const float*>(queries + i * index.code_size));
            faiss::HNSWStats done =
                    index.hnsw.search(*distance, results, visited, &plan.graph_params);
            results.end();
            computed += done.ndis;
            hops += done.nhops;
        }
    }
    plan.graph_distances += computed;
    plan.graph_hops += hops;

#pragma omp parallel for
    for (idx_t i = 0; i < n * k; i++) {
        distances[i] = static_cast<int32_t>(std::round(as_floats[i]));
    }
}

/// IndexBinaryIVF::search with the plan's nprobe, and efSearch where the centroids have a graph.
void search_lists(
        AnnbenchFaissBinaryPlan& plan,
        idx_t n,
        const uint8_t* queries,
        idx_t k,
        int32_t* distances,
        idx_t* labels) {
    const faiss::IndexBinaryIVF& index = *plan.lists;
    const idx_t nprobe = static_cast<idx_t>(plan.lists_params.nprobe);
    std::unique_ptr<idx_t[]> keys(new idx_t[n * nprobe]);
    std::unique_ptr<int32_t[]> coarse(new int32_t[n * nprobe]);
    if (plan.graph) {
        search_graph(plan, n, queries, nprobe, coarse.get(), keys.get());
    } else {
        index.quantizer->search(n, queries, nprobe, coarse.get(), keys.get());
    }
    index.invlists->prefetch_lists(keys.get(), n * nprobe);
    index.search_preassigned(
            n,
            queries,
            k,
            keys.get(),
            coarse.get(),
            distances,
            labels,
            false,
            &plan.lists_params);
}

/// The graph that the index is, or that its centroids have.
const faiss::IndexBinaryHNSW* find_graph(const faiss::IndexBinary* index) {
    if (auto lists = dynamic_cast<const faiss::IndexBinaryIVF*>(index)) {
        return dynamic_cast<const faiss::IndexBinaryHNSW*>(lists->quantizer);
    }
    return dynamic_cast<const faiss::IndexBinaryHNSW*>(index);
}

} // namespace

extern "C" {

int annbench_faiss_binary_create(int dim, const char* factory, faiss::IndexBinary** out) {
    return guarded([&] { *out = faiss::index_binary_factory(dim, factory); });
}

void annbench_faiss_binary_free(faiss::IndexBinary* index) {
    guarded([&] { delete index; });
}

int annbench_faiss_binary_describe(const faiss::IndexBinary* index, AnnbenchFaissShape* out) {
    return guarded([&] {
        *out = AnnbenchFaissShape{};
        auto lists = dynamic_cast<const faiss::IndexBinaryIVF*>(index);
        auto graph = find_graph(index);
        if (lists) {
            out->nlist = static_cast<int64_t>(lists->nlist);
            out->hnsw = graph ? 2 : 0;
            out->counted = 1;
        } else if (graph) {
            out->hnsw = 1;
        } else if (!dynamic_cast<const faiss::IndexBinaryFlat*>(index)) {
            throw Refused("an index of bits that is none of BFlat, BHNSW and BIVF");
        }
    });
}

int annbench_faiss_binary_set_ef_construction(faiss::IndexBinary* index, int ef_construction) {
    return guarded([&] {
        auto graph = const_cast<faiss::IndexBinaryHNSW*>(find_graph(index));
        if (!graph) {
            throw Refused("no HNSW graph in this index");
        }
        graph->hnsw.efConstruction = ef_construction;
    });
}

/// Trains on all `n` >= 1 rows of d / 8 bytes, where the index wants training, then adds them.
int annbench_faiss_binary_fill(faiss::IndexBinary* index, int64_t n, const uint8_t* rows) {
    return guarded([&] {
        if (!index->is_trained) {
            index->train(n, rows);
        }
        index->add(n, rows);
    });
}

int annbench_faiss_binary_write(const faiss::IndexBinary* index, const char* path) {
    return guarded([&] { faiss::write_index_binary(index, path); });
}

int annbench_faiss_binary_read(const char* path, faiss::IndexBinary** out) {
    return guarded([&] { *out = faiss::read_index_binary(path); });
}

void annbench_faiss_binary_size(const faiss::IndexBinary* index, int64_t* n, int64_t* dim) {
    *n = index->ntotal;
    *dim = index->d;
}

/// `nprobe` is at most the number of lists.
int annbench_faiss_binary_plan(
        const faiss::IndexBinary* index,
        uint64_t nprobe,
        int ef_search,
        int threads,
        AnnbenchFaissBinaryPlan** out) {
    return guarded([&] {
        auto plan = std::make_unique<AnnbenchFaissBinaryPlan>();
        plan->lists = dynamic_cast<const faiss::IndexBinaryIVF*>(index);
        plan->graph = find_graph(index);
        plan->threads = threads;
        plan->lists_params.nprobe = nprobe;
        if (plan->lists) {
            plan->lists_params.max_codes = plan->lists->max_codes;
        }
        if (plan->graph) {
            const faiss::HNSW& hnsw = plan->graph->hnsw;
            plan->graph_params.efSearch = ef_search;
            plan->graph_params.check_relative_distance = hnsw.check_relative_distance;
            plan->graph_params.bounded_queue = hnsw.search_bounded_queue;
        }
        *out = plan.release();
    });
}

void annbench_faiss_binary_plan_free(AnnbenchFaissBinaryPlan* plan) {
    guarded([&] { delete plan; });
}

/// `queries` [n, dim / 8] in, `distances` and `labels` [n, k] out; a label is -1 where nothing was
/// found.
int annbench_faiss_binary_search(
        const faiss::IndexBinary* index,
        AnnbenchFaissBinaryPlan* plan,
        int64_t n,
        const uint8_t* queries,
        int64_t k,
        int32_t* distances,
        int64_t* labels) {
    return guarded([&] {
        // Per thread, and another searcher on this thread may have set it: a read, seldom a write.
        if (omp_get_max_threads() != plan->threads) {
            omp_set_num_threads(plan->threads);
        }
        if (plan->lists) {
            search_lists(*plan, n, queries, k, distances, labels);
        } else if (plan->graph) {
            search_graph(*plan, n, queries, k, distances, labels);
        } else {
            index->search(n, queries, k, distances, labels);
        }
    });
}

/// FAISS's own search, which reads efSearch from the index and knows no plan: for tests, that the two
/// answer alike. Writes efSearch and nprobe into the index first.
int annbench_faiss_binary_search_as_faiss(
        faiss::IndexBinary* index,
        uint64_t nprobe,
        int ef_search,
        int64_t n,
        const uint8_t* queries,
        int64_t k,
        int32_t* distances,
        int64_t* labels) {
    return guarded([&] {
        if (auto lists = dynamic_cast<faiss::IndexBinaryIVF*>(index)) {
            lists->nprobe = nprobe;
        }
        if (auto graph = const_cast<faiss::IndexBinaryHNSW*>(find_graph(index))) {
            graph->hnsw.efSearch = ef_search;
        }
        index->search(n, queries, k, distances, labels);
    });
}

/// Distances and hops of the plan's searches of a graph.
void annbench_faiss_binary_graph_counters(
        const AnnbenchFaissBinaryPlan* plan,
        uint64_t* distances,
        uint64_t* hops) {
    *distances = plan->graph_distances;
    *hops = plan->graph_hops;
}

} // extern "C"
