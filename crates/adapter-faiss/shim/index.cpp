// Making, filling, describing and storing an index.

#include <cstdint>
#include <memory>
#include <string>

#include <faiss/Index2Layer.h>
#include <faiss/IndexFlatCodes.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/IndexIVF.h>
#include <faiss/IndexIVFAdditiveQuantizerFastScan.h>
#include <faiss/IndexNNDescent.h>
#include <faiss/IndexNSG.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/FaissAssert.h>
#include <faiss/index_factory.h>
#include <faiss/index_io.h>
#include <faiss/utils/distances.h>

#include "error.hpp"
#include "shape.hpp"

using annbench::guarded;
using annbench::Refused;

namespace {

template <class T>
const T* as(const faiss::Index* index) {
    return dynamic_cast<const T*>(index);
}

void describe_coarse(const faiss::Index* quantizer, AnnbenchFaissShape& shape) {
    if (as<faiss::IndexNSG>(quantizer) || as<faiss::IndexNNDescent>(quantizer)) {
        throw Refused("a coarse quantiser whose search width FAISS does not take per search");
    }
    if (as<faiss::IndexHNSW>(quantizer)) {
        shape.hnsw = 2;
    } else if (
            as<faiss::IndexIVF>(quantizer) || as<faiss::IndexRefine>(quantizer) ||
            as<faiss::IndexPreTransform>(quantizer)) {
        throw Refused("a coarse quantiser that has search parameters of its own");
    }
}

void describe(const faiss::Index* index, AnnbenchFaissShape& shape) {
    if (as<faiss::IndexIDMap>(index)) {
        throw Refused("IDMap: ids are row numbers, which every index gives by itself");
    }
    if (auto chain = as<faiss::IndexPreTransform>(index)) {
        return describe(chain->index, shape);
    }
    if (auto refine = as<faiss::IndexRefine>(index)) {
        if (shape.refine) {
            throw Refused("refinement of a refinement");
        }
        // Others throw out of a parallel region, which ends the process.
        if (!as<faiss::IndexFlatCodes>(refine->refine_index)) {
            throw Refused("refinement by an index that cannot measure single vectors");
        }
        shape.refine = 1;
        describe(refine->base_index, shape);
        // The distances of the refinement itself are not counted.
        shape.counted = 0;
        return;
    }
    if (auto ivf = as<faiss::IndexIVF>(index)) {
        if (as<faiss::IndexIVFAdditiveQuantizerFastScan>(index)) {
            throw Refused("this index takes no nprobe per search in FAISS");
        }
        shape.nlist = static_cast<int64_t>(ivf->nlist);
        shape.counted = 1;
        return describe_coarse(ivf->quantizer, shape);
    }
    if (as<faiss::IndexHNSW2Level>(index) || as<faiss::IndexNSG>(index) ||
        as<faiss::IndexNNDescent>(index)) {
        throw Refused("this index takes no search width per search in FAISS");
    }
    if (as<faiss::Index2Layer>(index)) {
        throw Refused("this index is a code for others and cannot be searched");
    }
    if (as<faiss::IndexHNSW>(index)) {
        shape.hnsw = 1;
        shape.counted = 1;
    }
}

faiss::IndexHNSW* find_hnsw(faiss::Index* index) {
    if (auto chain = dynamic_cast<faiss::IndexPreTransform*>(index)) {
        return find_hnsw(chain->index);
    }
    if (auto refine = dynamic_cast<faiss::IndexRefine*>(index)) {
        return find_hnsw(refine->base_index);
    }
    if (auto ivf = dynamic_cast<faiss::IndexIVF*>(index)) {
        return dynamic_cast<faiss::IndexHNSW*>(ivf->quantizer);
    }
    return dynamic_cast<faiss::IndexHNSW*>(index);
}

} // namespace

extern "C" {

/// An empty index. Without `own_lists` an IVF index has no inverted lists: enough to be described,
/// and free however many lists it asks for.
int annbench_faiss_create(
        int dim,
        const char* factory,
        int inner_product,
        int own_lists,
        faiss::Index** out) {
    return guarded([&] {
        auto metric = inner_product ? faiss::METRIC_INNER_PRODUCT : faiss::METRIC_L2;
        *out = faiss::index_factory(dim, factory, metric, own_lists != 0);
    });
}

void annbench_faiss_free(faiss::Index* index) {
    guarded([&] { delete index; });
}

int annbench_faiss_describe(const faiss::Index* index, AnnbenchFaissShape* out) {
    return guarded([&] {
        *out = AnnbenchFaissShape{};
        describe(index, *out);
    });
}

int annbench_faiss_set_ef_construction(faiss::Index* index, int ef_construction) {
    return guarded([&] {
        auto graph = find_hnsw(index);
        if (!graph) {
            throw Refused("no HNSW graph in this index");
        }
        graph->hnsw.efConstruction = ef_construction;
    });
}

/// Trains on all rows, where the index wants training, then adds them.
int annbench_faiss_fill(faiss::Index* index, int64_t n, const float* rows) {
    return guarded([&] {
        if (!index->is_trained) {
            index->train(n, rows);
        }
        index->add(n, rows);
    });
}

int annbench_faiss_write(const faiss::Index* index, const char* path) {
    return guarded([&] { faiss::write_index(index, path); });
}

int annbench_faiss_read(const char* path, faiss::Index** out) {
    return guarded([&] { *out = faiss::read_index(path); });
}

void annbench_faiss_size(const faiss::Index* index, int64_t* n, int64_t* dim) {
    *n = index->ntotal;
    *dim = index->d;
}

/// Scales rows to length one as FAISS's own users do; zero rows stay.
void annbench_faiss_normalise(int64_t n, int64_t dim, float* rows) {
    faiss::fvec_renorm_L2(dim, n, rows);
}

} // extern "C"
