// The one function that the plug-in exports, and the table of kernels of each GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "kernels/cuda/gpu/context.h"
#include "kernels/cuda/gpu/fail.h"
#include "kernels/cuda/gpu/gpu.h"
#include "kernels/cuda/gpu/memory.h"
#include "kernels/cuda/gpu/sums.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda_plugin.h"

namespace dragoman::internal {
namespace {

// GPUs are numbered as nvidia-smi numbers them, unless the user wants another order.
void start(void (*fail)(const char* message)) {
  report_failures_to(fail);
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

CudaDriver find_driver() {
  CudaDriver found = {};
  cudaDriverGetVersion(&found.version);
  cudaRuntimeGetVersion(&found.runtime_version);
  found.products_version = static_cast<int>(cublasLtGetVersion());
  const cudaError_t status = cudaGetDeviceCount(&found.gpus);
  if (status != cudaSuccess) {
    cudaGetLastError();
    found.gpus = 0;
    if (status != cudaErrorNoDevice) found.problem = cudaGetErrorString(status);
  }
  if (found.gpus > most_gpus) found.gpus = most_gpus;
  return found;
}

void describe(int gpu, CudaGpu* description) {
  cudaDeviceProp properties = {};
  const cudaError_t status = cudaGetDeviceProperties(&properties, gpu);
  if (status != cudaSuccess)
    fail("cuda:" + std::to_string(gpu) + " does not say what it is: " + cudaGetErrorString(status));
  std::snprintf(description->name, sizeof(description->name), "%s", properties.name);
  description->major = properties.major;
  description->minor = properties.minor;
  description->memory = static_cast<int64_t>(properties.totalGlobalMem);
  static_assert(sizeof(description->id) == sizeof(properties.uuid));
  std::memcpy(description->id, &properties.uuid, sizeof(description->id));
}

int64_t free_memory(int number) {
  const Gpu& gpu = Gpu::of(number);
  size_t free = 0, total = 0;
  gpu.use();
  gpu.check(cudaMemGetInfo(&free, &total), "asking for its free memory");
  return static_cast<int64_t>(free);
}

// The table's functions know their GPU by their type alone.
template <int number>
Context* new_context(int threads) {
  return new CudaContext(Gpu::of(number), threads);
}

template <int number>
DeviceMemory& memory() {
  static auto* const memory = new CudaMemory(Gpu::of(number));  // never destroyed, as its GPU
  return *memory;
}

template <int number>
void fill_tables(Kernels (&tables)[2]) {
  tables[0] = cuda_kernels_on("cuda", new_context<number>, memory<number>);
  tables[1] = tables[0];
  use_tf32(tables[1]);
}

struct Tables {
  Kernels of[most_gpus][2];

  Tables() { fill(std::make_integer_sequence<int, most_gpus>()); }

  template <int... numbers>
  void fill(std::integer_sequence<int, numbers...>) {
    (fill_tables<numbers>(of[numbers]), ...);
  }
};

const Kernels* table(int gpu, bool tf32) {
  static const Tables tables;
  return &tables.of[gpu][tf32 ? 1 : 0];
}

NcclLibrary nccl() {
  const NcclFound& found = find_nccl();
  return {found.version, found.version == 0 ? found.problem.c_str() : nullptr};
}

void new_sums_id(DeviceSumsId* id) { *id = new_nccl_id(); }

DeviceSums* open_sums(int gpu, const DeviceSumsGroup& group) { return new CudaSums(Gpu::of(gpu), group); }

}  // namespace
}  // namespace dragoman::internal

extern "C" __attribute__((visibility("default"))) const dragoman::internal::CudaPlugin*
dragoman_cuda_plugin() {
  using namespace dragoman::internal;
  static const CudaPlugin plugin = {.version = DRAGOMAN_PLUGIN_VERSION,
                                    .tables_size = cuda_plugin_tables_size,
                                    .start = start,
                                    .driver = find_driver,
                                    .describe = describe,
                                    .free_memory = free_memory,
                                    .table = table,
                                    .nccl = nccl,
                                    .new_sums_id = new_sums_id,
                                    .open_sums = open_sums};
  return &plugin;
}
