#include "kernels/kernels.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

#if DRAGOMAN_X86
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif DRAGOMAN_ARM
#include <sys/auxv.h>
#endif

namespace dragoman::internal {

extern const Kernels kernels_baseline;
#if DRAGOMAN_X86
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
extern const LowPrecisionKernels kernels_avx512vnni;
extern const LowPrecisionKernels kernels_avx512bf16;
extern const LowPrecisionKernels kernels_amx;
#elif DRAGOMAN_ARM
extern const LowPrecisionKernels kernels_dotprod;
#endif

namespace {

constexpr int max_tables = 6;

#if DRAGOMAN_X86 || DRAGOMAN_ARM

Kernels with_low_precision(Kernels table, const char* name, const LowPrecisionKernels& low_precision) {
  table.name = name;
  table.low_precision = low_precision;
  return table;
}

#endif

#if DRAGOMAN_X86

// Whether the processor has tiles for int8 and bf16, and the system lets this process use them, which has to be asked
// for: their contents are 8 KB that are kept for each thread.
bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24, int8 = 1u << 25, all = bf16 | tiles | int8;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & all) != all) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

// Each adds to the one before it.
int available_tables(const Kernels** tables) {
  static const Kernels avx512vnni = with_low_precision(kernels_avx512, "avx512vnni", kernels_avx512vnni);
  static const Kernels avx512bf16 = with_low_precision(kernels_avx512, "avx512bf16", kernels_avx512bf16);
  static const Kernels amx = with_low_precision(kernels_avx512, "amx", kernels_amx);
  __builtin_cpu_init();
  int n = 0;
  tables[n++] = &kernels_baseline;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return n;
  tables[n++] = &kernels_avx2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return n;
  tables[n++] = &kernels_avx512;
  if (!__builtin_cpu_supports("avx512vnni")) return n;
  tables[n++] = &avx512vnni;
  if (!__builtin_cpu_supports("avx512bf16")) return n;
  tables[n++] = &avx512bf16;
  if (may_use_tiles()) tables[n++] = &amx;
  return n;
}

#else

int available_tables(const Kernels** tables) {
  int n = 0;
  tables[n++] = &kernels_baseline;
#if DRAGOMAN_ARM
  static const Kernels dotprod = with_low_precision(kernels_baseline, "dotprod", kernels_dotprod);
  constexpr unsigned long has_dotprod = 1ul << 20;  // HWCAP_ASIMDDP
  if ((getauxval(AT_HWCAP) & has_dotprod) != 0) tables[n++] = &dotprod;
#endif
  return n;
}

#endif

}  // namespace

KernelTables available_kernels() {
  static const Kernels* tables[max_tables];
  static const int count = available_tables(tables);
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

const Kernels& chosen_kernels() { return kernels_for(std::getenv("DRAGOMAN_ISA")); }

}  // namespace dragoman::internal
