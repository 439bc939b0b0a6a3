/* Ends the process with a sentence, before any initialiser compiled with SIMD flags runs, on a CPU
 * that would answer them with an illegal instruction. */

#include <stdint.h>
#include <string.h>
#include <unistd.h>

extern const uint32_t annbench_faiss_required;

#if defined(__x86_64__)
struct feature {
    const char* name;
    int present;
};

static void say(const char* text) {
    ssize_t written = write(2, text, strlen(text));
    (void)written;
}

/* Priority 101 is the earliest that programs may use; C++ initialisers come after it. */
__attribute__((constructor(101))) static void refuse_lesser_cpu(void) {
    __builtin_cpu_init();
    /* In the order of the bits of annbench_faiss_required. */
    const struct feature features[] = {
            {"avx2", __builtin_cpu_supports("avx2")},
            {"fma", __builtin_cpu_supports("fma")},
            {"f16c", __builtin_cpu_supports("f16c")},
            {"popcnt", __builtin_cpu_supports("popcnt")},
            {"avx512f", __builtin_cpu_supports("avx512f")},
            {"avx512cd", __builtin_cpu_supports("avx512cd")},
            {"avx512vl", __builtin_cpu_supports("avx512vl")},
            {"avx512dq", __builtin_cpu_supports("avx512dq")},
            {"avx512bw", __builtin_cpu_supports("avx512bw")},
            {"bmi2", __builtin_cpu_supports("bmi2")},
            {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
    };
    int lacking = 0;
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        if ((annbench_faiss_required >> i & 1) && !features[i].present) {
            say(lacking ? " " : "annbench-adapter-faiss was compiled for a CPU with ");
            say(features[i].name);
            lacking = 1;
        }
    }
    if (lacking) {
        say(", which this CPU lacks; build it on this machine: scripts/build-adapters faiss\n");
        _exit(1);
    }
}
#endif

/* Keeps this file in the link. */
uint32_t annbench_faiss_cpu_checked(void) {
    return annbench_faiss_required;
}
