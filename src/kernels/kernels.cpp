#include "kernels/kernels.h"

#include <string>

#include "base/error.h"

namespace dragoman {

extern const Kernels kernels_baseline;
#if DRAGOMAN_X86
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

KernelTables available_kernels() {
  static const Kernels* tables[3];
  static const int count = [] {
    int n = 0;
    tables[n++] = &kernels_baseline;
#if DRAGOMAN_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      tables[n++] = &kernels_avx2;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        tables[n++] = &kernels_avx512;
      }
    }
#endif
    return n;
  }();
  return {tables, count};
}

const Kernels& kernels_for(const char* name) {
  const KernelTables available = available_kernels();
  if (name == nullptr || *name == '\0') return *available.tables[available.count - 1];
  std::string names;
  for (int i = 0; i < available.count; ++i) {
    if (std::string(name) == available.tables[i]->name) return *available.tables[i];
    names += std::string(i > 0 ? ", " : "") + available.tables[i]->name;
  }
  throw Error("DRAGOMAN_ISA is \"" + std::string(name) +
              "\", which this machine or this build does not have: set it to one of " + names);
}

}  // namespace dragoman
