// Searching with parameters that belong to the call, not to the index.

#include <omp.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>

#include "error.hpp"

using annbench::guarded;

/// FAISS's search parameters for one index, nested as the index is.
struct AnnbenchFaissPlan {
    std::vector<std::unique_ptr<faiss::SearchParameters>> owned;
    const faiss::SearchParameters* root = nullptr;
    int threads = 1;

    template <class T>
    T* make() {
        owned.push_back(std::make_unique<T>());
        return static_cast<T*>(owned.back().get());
    }
};

namespace {

struct Values {
    size_t nprobe;
    int ef_search;
    float k_factor;
};

faiss::SearchParameters* plan_graph(
        const faiss::IndexHNSW& graph,
        const Values& values,
        AnnbenchFaissPlan& plan) {
    auto params = plan.make<faiss::SearchParametersHNSW>();
    params->efSearch = values.ef_search;
    params->check_relative_distance = graph.hnsw.check_relative_distance;
    params->bounded_queue = graph.hnsw.search_bounded_queue;
    return params;
}

faiss::SearchParameters* plan_index(
        const faiss::Index* index,
        const Values& values,
        AnnbenchFaissPlan& plan) {
    if (auto chain = dynamic_cast<const faiss::IndexPreTransform*>(index)) {
        auto inner = plan_index(chain->index, values, plan);
        if (!inner) {
            return nullptr;
        }
        auto params = plan.make<faiss::SearchParametersPreTransform>();
        params->index_params = inner;
        return params;
    }
    if (auto refine = dynamic_cast<const faiss::IndexRefine*>(index)) {
        auto params = plan.make<faiss::IndexRefineSearchParameters>();
        params->k_factor = values.k_factor;
        params->base_index_params = plan_index(refine->base_index, values, plan);
        return params;
    }
    if (auto ivf = dynamic_cast<const faiss::IndexIVF*>(index)) {
        auto params = plan.make<faiss::SearchParametersIVF>();
        params->nprobe = values.nprobe;
        params->max_codes = ivf->max_codes;
        if (auto graph = dynamic_cast<const faiss::IndexHNSW*>(ivf->quantizer)) {
            params->quantizer_params = plan_graph(*graph, values, plan);
        }
        return params;
    }
    if (auto graph = dynamic_cast<const faiss::IndexHNSW*>(index)) {
        return plan_graph(*graph, values, plan);
    }
    return nullptr;
}

} // namespace

extern "C" {

int annbench_faiss_plan(
        const faiss::Index* index,
        uint64_t nprobe,
        int ef_search,
        float k_factor,
        int threads,
        AnnbenchFaissPlan** out) {
    return guarded([&] {
        auto plan = std::make_unique<AnnbenchFaissPlan>();
        plan->threads = threads;
        plan->root = plan_index(index, Values{nprobe, ef_search, k_factor}, *plan);
        *out = plan.release();
    });
}

void annbench_faiss_plan_free(AnnbenchFaissPlan* plan) {
    guarded([&] { delete plan; });
}

/// `queries` [n, dim] in, `distances` and `labels` [n, k] out; a label is -1 where nothing was
/// found.
int annbench_faiss_search(
        const faiss::Index* index,
        const AnnbenchFaissPlan* plan,
        int64_t n,
        const float* queries,
        int64_t k,
        float* distances,
        int64_t* labels) {
    return guarded([&] {
        // Per thread, and another searcher on this thread may have set it: a read, seldom a write.
        if (omp_get_max_threads() != plan->threads) {
            omp_set_num_threads(plan->threads);
        }
        index->search(n, queries, k, distances, labels, plan->root);
    });
}

/// The process-wide counters of FAISS: distances and graph hops or lists.
void annbench_faiss_hnsw_counters(uint64_t* distances, uint64_t* visited) {
    *distances = faiss::hnsw_stats.ndis;
    *visited = faiss::hnsw_stats.nhops;
}

void annbench_faiss_ivf_counters(uint64_t* distances, uint64_t* visited) {
    *distances = faiss::indexIVF_stats.ndis;
    *visited = faiss::indexIVF_stats.nlist;
}

} // extern "C"
