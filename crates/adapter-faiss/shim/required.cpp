// Which CPU features the compiler was allowed to use for FAISS: this file is compiled with the
// same -m flags. A constant, so that reading it before any C++ initialiser runs is safe.

#include <cstdint>

extern "C" {
extern const uint32_t annbench_faiss_required;
}

const uint32_t annbench_faiss_required = 0u
#ifdef __AVX2__
        | 1u << 0
#endif
#ifdef __FMA__
        | 1u << 1
#endif
#ifdef __F16C__
        | 1u << 2
#endif
#ifdef __POPCNT__
        | 1u << 3
#endif
#ifdef __AVX512F__
        | 1u << 4
#endif
#ifdef __AVX512CD__
        | 1u << 5
#endif
#ifdef __AVX512VL__
        | 1u << 6
#endif
#ifdef __AVX512DQ__
        | 1u << 7
#endif
#ifdef __AVX512BW__
        | 1u << 8
#endif
#ifdef __BMI2__
        | 1u << 9
#endif
#ifdef __AVX512VNNI__
        | 1u << 10
#endif
        ;
