// Tables that multiply by the model of AMX's tiles in C++ (kernels/cpu/tiles.inl.h), beside those of this machine.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/kernels.h"

namespace dragoman::internal {

extern const LowPrecisionKernels kernels_tile_model;
#if DRAGOMAN_X86
extern const LowPrecisionKernels kernels_tile_model_avx512;
#endif

inline bool multiplies_in_tiles(const Kernels& kernels) {
  const std::string_view name = kernels.name;
  return name == "amx" || name.starts_with("tile_model");
}

inline const std::vector<const Kernels*>& with_tile_models() {
  static const std::vector<const Kernels*> all = [] {
    const auto with = [](const char* name, Kernels kernels, const LowPrecisionKernels& model) {
      kernels.name = name;
      kernels.low_precision = model;
      return kernels;
    };
    const KernelTables available = available_kernels();
    std::vector<const Kernels*> tables(available.tables, available.tables + available.count);
    const Kernels* widest = tables.front();
    for (const Kernels* table : tables)
      if (std::string_view(table->name) == "avx512") widest = table;
    static const Kernels model = with("tile_model", *tables.front(), kernels_tile_model);
    tables.push_back(&model);
#if DRAGOMAN_X86
    static const Kernels wide = with("tile_model_avx512", *widest, kernels_tile_model_avx512);
    if (widest != tables.front()) tables.push_back(&wide);
#endif
    return tables;
  }();
  return all;
}

}  // namespace dragoman::internal
