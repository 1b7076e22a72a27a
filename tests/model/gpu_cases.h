// The GPU's tables in each of its precisions, and a model to run there: for tests of what holds in all of them. On a
// GPU itself (DRAGOMAN_TEST_DEVICE) the model is as wide as those that people use, since cuBLASLt chooses its
// algorithms by widths; on the host, whose fibers are slow, it is tiny.
#pragma once

#include <string>
#include <vector>

#include "model/small_models.h"
#if defined(DRAGOMAN_CUDA_ON_HOST)
#include "kernels/cuda/table.h"
#endif

namespace dragoman::internal {

inline std::vector<const Kernels*> gpu_tables() {
  std::vector<const Kernels*> tables = every_table();
  std::erase_if(tables, [](const Kernels* kernels) { return !is_gpu_table(kernels); });
  return tables;
}

struct GpuCase {
  const Kernels* kernels;
  std::string name;
  Precision precision = Precision::fp32;
  bool tf32 = false;

  bool on_gpu_itself() const { return is_gpu(*kernels); }
};
inline void PrintTo(const GpuCase& c, std::ostream* out) { *out << c.name; }

inline const Kernels& in_tf32(const Kernels& kernels) {
#if defined(DRAGOMAN_CUDA_ON_HOST)
  static const Kernels on_host = [] {
    Kernels table = cuda_on_host();
    use_tf32(table);
    return table;
  }();
  if (!is_gpu(kernels)) return on_host;
#endif
  return with_tf32(kernels);
}

inline std::vector<GpuCase> gpu_cases(const std::vector<Precision>& fewer_bits) {
  std::vector<GpuCase> cases;
  for (const Kernels* kernels : gpu_tables()) {
    const std::string name = name_in_tests(*kernels);
    cases.push_back({kernels, name + "_fp32"});
    cases.push_back({&in_tf32(*kernels), name + "_tf32", Precision::fp32, true});
    for (const Precision precision : fewer_bits)
      cases.push_back({kernels, name + "_" + name_of(precision), precision});
  }
  return cases;
}
inline std::string gpu_case_name(const testing::TestParamInfo<GpuCase>& test) { return test.param.name; }

inline ModelConfig config_for(const GpuCase& c) {
  ModelConfig config = small_configs()[0].config;
  if (!c.on_gpu_itself()) return config;
  config.encoder_layers = config.decoder_layers = 2;
  config.d_model = 512;
  config.heads = 8;
  config.d_ff = 2048;
  config.source_vocabulary = config.target_vocabulary = 32'000;
  return config;
}

}  // namespace dragoman::internal
