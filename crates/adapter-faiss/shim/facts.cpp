// What was linked and how it was compiled, and the thread counts of OpenMP and OpenBLAS.

#include <dlfcn.h>
#include <omp.h>

#include <mutex>
#include <string>

#include <faiss/utils/utils.h>

#include "error.hpp"

namespace annbench {

std::string& last_error() {
    thread_local std::string text;
    return text;
}

} // namespace annbench

extern "C" {

const char* annbench_faiss_error() {
    return annbench::last_error().c_str();
}

const char* annbench_faiss_version() {
    static const std::string text = faiss::get_version();
    return text.c_str();
}

const char* annbench_faiss_compile_options() {
    static const std::string text = faiss::get_compile_options();
    return text.c_str();
}

const char* annbench_faiss_compiler() {
#if defined(__clang__)
    return "clang " __VERSION__;
#else
    return "gcc " __VERSION__;
#endif
}

/// OpenBLAS's own description, or null where the BLAS that was loaded is another.
const char* annbench_faiss_blas() {
    using Config = char* (*)();
    auto config = reinterpret_cast<Config>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
    return config ? config() : nullptr;
}

/// OpenMP's count belongs to the calling thread, OpenBLAS's to the process. The BLAS is whichever
/// the system's libblas resolves to, hence looked up by name; another than OpenBLAS keeps its own
/// count.
void annbench_faiss_set_threads(int threads) {
    omp_set_num_threads(threads);
    using SetThreads = void (*)(int);
    static const auto set_blas =
            reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
    static std::mutex lock;
    static int current = 0;
    std::lock_guard<std::mutex> guard(lock);
    if (set_blas && current != threads) {
        set_blas(threads);
        current = threads;
    }
}

} // extern "C"
